/** A run's scenario as text: how it is laid out, and where in it an error is. */
import { jsonLanguage } from "@codemirror/lang-json";
import type { Diagnostic, Json } from "./protocol";

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>["topNode"];

/** Columns that a value on one line may take. */
const WIDTH = 60;

export function scenarioFile(preset: string, run: string): string {
  return `${preset}/${run}.json`;
}

export function isScenario(file: string): boolean {
  return file.endsWith(".json");
}

/** JSON in which everything that fits on a line is on one. */
export function laidOut(data: Json, indent = ""): string {
  const whole = JSON.stringify(data).replace(/("(?:[^"\\]|\\.)*")|([:,])/g, (_, text, sign) =>
    sign ? `${sign} ` : text,
  );
  if (indent.length + whole.length <= WIDTH || data === null || typeof data !== "object") {
    return whole;
  }
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(data) ? "[]" : "{}";
  const parts = Array.isArray(data)
    ? data.map((one) => laidOut(one, inner))
    : Object.entries(data).map(([key, one]) => `${JSON.stringify(key)}: ${laidOut(one, inner)}`);
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

/** An error of a scenario at its place in the text. */
export function placed(
  file: string,
  text: string,
  { path, message }: { path: string; message: string },
): Diagnostic {
  const numbers = / at line (\d+) column (\d+)$/.exec(message);
  const start = numbers
    ? offset(text, Number(numbers[1]), Number(numbers[2]))
    : rangeOf(text, path)[0];
  const end = numbers ? start + 1 : rangeOf(text, path)[1];
  const [from, to] = [lineColumn(text, start), lineColumn(text, end)];
  return {
    severity: "error",
    code: "scenario",
    message: numbers ? message.slice(0, numbers.index) : `${path}: ${message}`,
    labels: [
      {
        file,
        line: from[0],
        column: from[1],
        end_line: to[0],
        end_column: to[1],
        text: "",
      },
    ],
    notes: [],
    help: null,
  };
}

/** From where to where the value at a path is; of the last part of the path that there is. */
function rangeOf(text: string, path: string): [number, number] {
  let node: SyntaxNode | null = jsonLanguage.parser.parse(text).topNode.firstChild;
  let rest = path === "." ? "" : path;
  let name: SyntaxNode | null = null;
  while (node && rest) {
    const index = /^\[(\d+)\]\.?/.exec(rest);
    if (index && node.name === "Array") {
      const item: SyntaxNode | undefined = valuesOf(node)[Number(index[1])];
      if (!item) break;
      [node, name, rest] = [item, null, rest.slice(index[0].length)];
      continue;
    }
    // Names may contain the signs that divide a path: the longest that fits is meant.
    const found: Property | undefined = propertiesOf(node, text)
      .filter(({ key }) => rest === key || /^[.[]/.test(rest.slice(key.length)))
      .filter(({ key }) => rest.startsWith(key))
      .sort((a, b) => b.key.length - a.key.length)[0];
    if (!found) break;
    [node, name] = [found.value, found.name];
    rest = rest.slice(found.key.length).replace(/^\./, "");
  }
  const at = node && (node.name === "Object" || node.name === "Array") ? (name ?? node) : node;
  if (!at) return [0, Math.min(1, text.length)];
  const isOpen = at === node && (node.name === "Object" || node.name === "Array");
  return [at.from, isOpen ? at.from + 1 : at.to];
}

interface Property {
  key: string;
  name: SyntaxNode;
  value: SyntaxNode;
}

function propertiesOf(node: SyntaxNode, text: string): Property[] {
  return node.getChildren("Property").flatMap((property) => {
    const [name, value] = [property.firstChild, property.lastChild];
    if (!name || !value || name === value) return [];
    const key = text.slice(name.from + 1, name.to - 1);
    return [{ key, name, value }];
  });
}

function valuesOf(node: SyntaxNode): SyntaxNode[] {
  const values: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (!["[", "]", ",", "⚠"].includes(child.name)) values.push(child);
  }
  return values;
}

function offset(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, column - 1);
}

function lineColumn(text: string, at: number): [number, number] {
  const lines = text.slice(0, at).split("\n");
  return [lines.length, lines[lines.length - 1]!.length + 1];
}
