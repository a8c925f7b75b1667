"""Renew the counts of ``p4-support.md``.

Usage: ``python docs/p4_support.py DIR``, with the same DIR as for ``waymark stf --corpus``.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from waymark import corpus
from waymark.corpus import End, Verdict

PAGE = Path(__file__).with_name("p4-support.md")
START = "<!-- counts: from docs/p4_support.py -->\n"
STOP = "<!-- end of the counts -->\n"


WHY = {
    name: reason
    for reason, names in {
        "p4c limits the size of the code that non-constant indices expand to": "array4",
        "BMv2 does not support `switch` in actions; this target does": "issue3299",
        "p4c accepts no nested struct as an `out` argument of an extern": "issue2545",
        "p4c checks the argument of `@length`, which the language does not define": "spec-ex32_e",
        "the error is at the division; p4c's is where its result is used": "compound-assignment",
        "the error is at the line that lacks its `;`; p4c's is at the next": """
            explicit-cast-to-incompatible-type-from-tuple-expr-3
            expr-call-on-type-with-arguments""",
        "the error is at the member of the wrong type; p4c's is at the constant's name": """
            implicit-cast-to-incompatible-type-from-int
            implicit-cast-to-tuple-from-tuple-expr-with-field-of-incompatible-type""",
        "the error is at the argument of the wrong type; p4c's is at the package's declaration": """
            equate-type-control-and-control-with-incompatible-type
            equate-type-control-and-non-object equate-type-control-and-other-object
            equate-type-header-and-incompatible-type equate-type-package-and-other-object
            equate-type-package-and-package-with-incompatible-type
            equate-type-parser-and-non-object equate-type-parser-and-other-object
            equate-type-parser-and-parser-with-incompatible-type
            equate-type-struct-and-struct-with-different-name issue803-1 module_e""",
        "it calls methods that only p4c's `dpdk/psa.p4` declares": """
            psa-example-dpdk-byte-alignment_1 psa-example-dpdk-byte-alignment_2
            psa-example-dpdk-byte-alignment_3 psa-example-dpdk-byte-alignment_5
            psa-example-dpdk-byte-alignment_6 psa-example-dpdk-byte-alignment_7
            psa-example-dpdk-byte-alignment_8 psa-example-dpdk-byte-alignment_9
            psa-example-dpdk-counter psa-example-dpdk-directmeter psa-example-dpdk-externs
            psa-example-dpdk-meter psa-example-dpdk-meter1 psa-example-dpdk-meter-execute-err""",
        "p4c makes a table of `switch`, which needs `core.p4`; this target does not": "issue3613",
        "p4c accepts only constant indices into a stack of header unions": """
            issue5703_header_union_stack""",
        "the error is at the call with a string; p4c's is at the declaration": "string-e2",
        "the error is at the instance whose type argument is unknown; p4c's is at its use": """
            methodArgDontcare""",
    }.items()
    for name in names.split()
}
"""By name: why a program does not compile; why one that p4c refuses is accepted, or refused at
another line."""


def main(arguments: Sequence[str]) -> None:
    """Run the corpus and write its counts into the page."""
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
    v1model = list(corpus.compile_samples(folder, architectures=("v1model.p4",)))
    psa = list(corpus.compile_samples(folder, architectures=("psa.p4",)))
    errors = list(corpus.compile_errors(folder))
    rows = (
        ("programs with a packet script, every packet as expected", scripts),
        ("v1model programs, compiled", v1model),
        ("PSA programs, compiled", psa),
        ("programs that p4c refuses, refused at the line of a p4c error", errors),
    )
    table = "| test | programs | passed |\n| --- | --- | --- |\n"
    table += "".join(f"| {what} | {len(all_)} | {_passed(all_)} |\n" for what, all_ in rows)
    table += "\n"
    for title, verdicts in (
        ("Scripts that do not pass", scripts),
        ("Programs that do not compile", v1model + psa),
        ("Programs that p4c refuses, accepted or refused at another line", errors),
    ):
        failed = [v for v in verdicts if v.end is not End.PASSED]
        table += f"{title}:\n\n{_lines(failed, folder)}\n"
    return table


def _passed(verdicts: Sequence[Verdict]) -> int:
    return sum(v.end is End.PASSED for v in verdicts)


def _lines(verdicts: Sequence[Verdict], folder: Path) -> str:
    """One line per reason, with the programs that it explains."""
    named: dict[str, list[str]] = {}
    for verdict in verdicts:
        found = verdict.reason.replace(f"{folder}/", "").split("; it has ")[0]
        named.setdefault(WHY.get(verdict.name, found), []).append(verdict.name)
    return "".join(f"- {', '.join(names)}: {reason}\n" for reason, names in named.items())


if __name__ == "__main__":
    main(sys.argv[1:])
