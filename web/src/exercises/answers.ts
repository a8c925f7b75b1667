/** A student's answers to an exercise's questions. */
import { within } from "./format";
import type { Found, Line } from "./simulated";

export interface Question {
  text: string;
  value: string | number | null;
  at_least: number | null;
  at_most: number | null;
  wrong: string;
}

/** What is right among the answers of a text with a line `key: answer` for each. */
export function answered(questions: Record<string, Question>, text: string): Found {
  const given = new Map<string, string>();
  for (const line of text.split("\n")) {
    const found = /^([\w-]+):\s*(.*?)\s*(?:#.*)?$/.exec(line);
    const answer = found?.[2] ?? "";
    if (/^(~|null)?$/i.test(answer)) continue;
    given.set(found![1]!, answer.replace(/^(["'])(.*)\1$/, "$2"));
  }
  const lines: Line[] = [];
  let passed = true;
  for (const [key, question] of Object.entries(questions)) {
    const answer = given.get(key);
    if (answer === undefined) {
      lines.push({ text: `${key}: no answer yet. ${question.text}`, why: "" });
    } else if (right(question, answer)) {
      lines.push({ text: `${key}: ${answer} is right`, why: "" });
      continue;
    } else {
      lines.push({ text: `${key}: ${answer} is not right. ${question.wrong}`, why: "" });
    }
    passed = false;
  }
  for (const key of given.keys()) {
    if (key in questions) continue;
    const valid = Object.keys(questions).join(", ");
    lines.push({ text: `${key}: no such question; valid: ${valid}`, why: "" });
  }
  return { passed, lines, queues: [] };
}

function right(question: Question, answer: string): boolean {
  if (question.value !== null) {
    return answer.toLowerCase() === String(question.value).toLowerCase();
  }
  const number = Number(answer);
  return Number.isFinite(number) && within(number, question.at_least, question.at_most);
}
