"""Write the counts of ``p4-support.md`` anew.

``python docs/p4_support.py DIR``, with DIR as ``waymark stf --corpus`` takes it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from waymark import corpus
from waymark.corpus import End, Verdict

PAGE = Path(__file__).with_name("p4-support.md")
START = "<!-- counts: from docs/p4_support.py -->\n"
STOP = "<!-- end of the counts -->\n"


def main(arguments: Sequence[str]) -> None:
    """Judge by the corpus and write what came of it into the page."""
    if len(arguments) != 1:
        sys.exit(f"usage: python {sys.argv[0]} DIR")
    folder = Path(arguments[0])
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), folder), encoding="utf-8")


def renewed(page: str, folder: Path) -> str:
    """The page with the counts of a corpus."""
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    return before + START + _counts(folder) + STOP + after


def _counts(folder: Path) -> str:
    scripts = list(corpus.run_scripts(folder))
    samples = list(corpus.compile_samples(folder))
    errors = list(corpus.compile_errors(folder))
    rows = (
        ("programs with a packet script, every packet as expected", scripts),
        ("v1model programs, compiled", samples),
        ("programs that p4c refuses, refused at a line that p4c names", errors),
    )
    table = "| what | of | so many |\n| --- | --- | --- |\n"
    table += "".join(f"| {what} | {len(all_)} | {_passed(all_)} |\n" for what, all_ in rows)
    table += "\n"
    for title, verdicts in (
        ("Scripts that do not pass", scripts),
        ("Programs that do not compile", samples),
    ):
        left = [v for v in verdicts if v.end is not End.PASSED]
        table += f"{title}:\n\n" + "".join(_line(v, folder) for v in left) + "\n"
    return table


def _passed(verdicts: Sequence[Verdict]) -> int:
    return sum(v.end is End.PASSED for v in verdicts)


def _line(verdict: Verdict, folder: Path) -> str:
    reason = verdict.reason.replace(f"{folder}/", "").split("; it has ")[0]
    return f"- {verdict.name}: {reason}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
