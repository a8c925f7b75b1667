/** P4_16 for CodeMirror: colours, and completion of the names in the files. */
import { StreamLanguage, type StringStream } from "@codemirror/language";
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Files } from "./protocol";

const words = (text: string) => new Set(text.split(" "));

const KEYWORDS = words(
  "action actions apply const control default default_action else entries enum error exit extern " +
    "for header header_union if in inout key list match_kind out package parser return select size " +
    "state struct switch table this transition tuple typedef type value_set break continue",
);
const TYPES = words("bit int bool varbit string void packet_in packet_out");
const ATOMS = words(
  "true false accept reject NoAction isValid setValid setInvalid extract emit hit miss",
);

interface State {
  comment: boolean;
}

function token(stream: StringStream, state: State): string | null {
  if (state.comment) {
    if (stream.match(/^.*?\*\//)) state.comment = false;
    else stream.skipToEnd();
    return "comment";
  }
  if (stream.eatSpace()) return null;
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.comment = true;
    return "comment";
  }
  if (stream.sol() && stream.match(/^#\s*\w+/)) return "meta";
  if (stream.match(/^"(?:[^"\\]|\\.)*"/)) return "string";
  if (stream.match(/^@\w+/)) return "meta";
  if (stream.match(/^(?:\d+[ws])?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[\d_]*)/)) return "number";
  const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (word) {
    const name = word[0];
    if (KEYWORDS.has(name)) return "keyword";
    if (TYPES.has(name) || /_[ht]$/.test(name)) return "typeName";
    if (ATOMS.has(name)) return "atom";
    return "variableName";
  }
  stream.next();
  return null;
}

export const p4 = StreamLanguage.define<State>({
  name: "p4",
  startState: () => ({ comment: false }),
  token,
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
});

/** Completes keywords and the names that occur in the files. */
export function completion(files: () => Files) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    if (line.text.slice(0, context.pos - line.from).includes("//")) return null;
    const before = context.matchBefore(/[A-Za-z_]\w*/);
    if (!before || (before.from === before.to && !context.explicit)) return null;
    const names = new Set<string>([...KEYWORDS, ...TYPES, ...ATOMS]);
    for (const text of Object.values(files())) {
      for (const name of text.match(/[A-Za-z_]\w{2,}/g) ?? []) names.add(name);
    }
    names.delete(before.text);
    return {
      from: before.from,
      options: [...names].map((label) => ({ label })),
      validFor: /^\w*$/,
    };
  };
}
