/** The Markdown of the exercises: headings, paragraphs, lists; bold, emphasis and code in a line. */

export interface Span {
  kind: "text" | "strong" | "em" | "code";
  text: string;
}

export interface Block {
  kind: "heading" | "paragraph" | "list";
  /** A list has one per item, others one. */
  parts: Span[][];
}

export function spans(text: string): Span[] {
  const kinds = { "`": "code", "**": "strong", "*": "em" } as const;
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/)
    .filter((part) => part !== "")
    .map((part) => {
      const mark = /^(`|\*\*|\*)(.+)\1$/s.exec(part);
      if (!mark) return { kind: "text", text: part };
      return { kind: kinds[mark[1] as keyof typeof kinds], text: mark[2]! };
    });
}

export function blocks(markdown: string): Block[] {
  const apart = markdown.replace(/^(#+ .*)$/gm, "\n$1\n").split(/\n{2,}/);
  return apart.flatMap((raw): Block[] => {
    const text = raw.trim();
    if (!text) return [];
    if (text.startsWith("#")) {
      return [{ kind: "heading", parts: [spans(text.replace(/^#+ /, ""))] }];
    }
    if (/^\d+\. /.test(text)) {
      const items = text.split(/\n(?=\d+\. )/).map((item) => spans(item.replace(/^\d+\. /, "")));
      return [{ kind: "list", parts: items }];
    }
    return [{ kind: "paragraph", parts: [spans(text)] }];
  });
}
