"""Renew ``p4runtime-compliance.md``.

``python docs/p4runtime_compliance.py`` runs the tests that name a requirement of
``p4runtime_requirements.yaml`` and writes their results. With ``--check`` it runs no tests, and
checks that the page is current if all of them pass.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PAGE = DOCS / "p4runtime-compliance.md"
REQUIREMENTS = DOCS / "p4runtime_requirements.yaml"
CRATES = ("p4-info", "p4runtime")
"""The crates with tests that name requirements, in addition to `tests/test_p4runtime*.py`."""
STATES = ("met", "partly", "not", "not applicable")
INTRODUCTION = """# P4Runtime compliance

This page lists what the P4Runtime specification requires of a server, whether `waymark switch`
complies, and the tests that show it. Sections are those of version 1.5 (version 1.4 has the same
numbers); the requirements are paraphrased. `python docs/p4runtime_compliance.py` runs the tests and
writes this page from [p4runtime_requirements.yaml](p4runtime_requirements.yaml).

"""


@dataclass
class Requirement:
    """A requirement of the specification."""

    says: str
    state: str = "met"
    reason: str = ""
    tests: list[str] = field(default_factory=list[str])


@dataclass
class Section:
    """A section of the specification."""

    number: str
    title: str
    requirements: dict[str, Requirement]


class Marked:
    """A pytest plugin that selects the tests that name requirements."""

    def __init__(self) -> None:
        self.requirements: dict[str, list[str]] = {}
        """The requirements of each test."""
        self.failed: set[str] = set()
        self.skipped: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect tests that name no requirement."""
        for item in items:
            names = [name for mark in item.iter_markers("p4runtime") for name in mark.args]
            if names:
                self.requirements[_test(item.nodeid)] = names
        items[:] = [item for item in items if _test(item.nodeid) in self.requirements]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record tests that do not pass."""
        if report.failed:
            self.failed.add(_test(report.nodeid))
        if report.skipped:
            self.skipped.add(_test(report.nodeid))


def main(arguments: Sequence[str]) -> None:
    """Write the page, or check it."""
    if list(arguments) not in ([], ["--check"]):
        sys.exit(f"usage: python {sys.argv[0]} [--check]")
    check = bool(arguments)
    marked = Marked()
    options = ["-q", "-p", "no:cacheprovider", *(["--collect-only", "-qq"] if check else [])]
    modules = sorted((ROOT / "tests").glob("test_p4runtime*.py"))
    pytest.main([*options, *map(str, modules)], plugins=[marked])
    tests = marked.requirements | dict(_rust_tests())
    bad = marked.failed | marked.skipped
    if not check:
        bad |= tests.keys() - marked.requirements.keys() - _passed_in_rust()
    sections = [_section(given) for given in YAML(typ="safe").load(REQUIREMENTS)]
    wrong = [*_join(sections, tests, bad)]
    page = _page(sections)
    if check and not (PAGE.exists() and PAGE.read_text(encoding="utf-8") == page):
        wrong.append(f"{PAGE.name} is not current; run docs/p4runtime_compliance.py")
    if not check:
        PAGE.write_text(page, encoding="utf-8")
    if wrong:
        sys.exit("\n".join(wrong))


def _test(node: str) -> str:
    return node.partition("[")[0]


def _rust_tests() -> Iterator[tuple[str, list[str]]]:
    """Tests with a comment ``// p4runtime: NAME, NAME`` above them."""
    folders = (ROOT / "crates" / crate for crate in CRATES)
    for path in sorted(path for folder in folders for path in folder.rglob("*.rs")):
        source = path.read_text(encoding="utf-8")
        found = re.findall(
            r"// p4runtime: ([^\n]+)\n\s*#\[(?:tokio::)?test\]\n\s*(?:async )?fn (\w+)", source
        )
        for names, test in found:
            yield f"{path.relative_to(ROOT)}::{test}", names.split(", ")


def _passed_in_rust() -> set[str]:
    command = ["cargo", "test", *(f"--package={crate}" for crate in CRATES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    passed = set(re.findall(r"^test (?:\w+::)*(\w+) \.\.\. ok$", done.stdout, re.MULTILINE))
    return {name for name, _ in _rust_tests() if name.rpartition("::")[2] in passed}


def _section(given: Mapping[str, Any]) -> Section:
    requirements = {name: _requirement(one) for name, one in given["requirements"].items()}
    return Section(given["section"], given["title"], requirements)


def _requirement(given: str | Mapping[str, str]) -> Requirement:
    if isinstance(given, str):
        return Requirement(given)
    for state in given.keys() - {"says"}:
        if state in STATES:
            return Requirement(given["says"], state, given[state])
    sys.exit(f"{REQUIREMENTS.name}: {given['says']}: expected one of {', '.join(STATES)}")


def _join(
    sections: Sequence[Section], tests: Mapping[str, list[str]], bad: set[str]
) -> Iterator[str]:
    """Assign the tests to their requirements; yields error messages."""
    known: dict[str, Requirement] = {}
    for section in sections:
        for name, requirement in section.requirements.items():
            if name in known:
                yield f"{REQUIREMENTS.name}: {name} occurs twice"
            known[name] = requirement
    for test, names in tests.items():
        for name in names:
            if name in known:
                known[name].tests.append(test)
            else:
                yield f"{test}: {REQUIREMENTS.name} has no requirement {name}"
    for name, requirement in known.items():
        if not requirement.reason and not set(requirement.tests) - bad:
            requirement.state = "not shown"
            yield f"{name}: has no passing test and no reason"
        if failed := sorted(set(requirement.tests) & bad):
            requirement.state = "not shown"
            yield f"{name}: tests do not pass: {', '.join(failed)}"


def _page(sections: Sequence[Section]) -> str:
    everything = [one for section in sections for one in section.requirements.values()]
    counts = Counter(requirement.state for requirement in everything)
    lines = [INTRODUCTION, f"| state | of {len(everything)} |\n| --- | --- |\n"]
    lines += [f"| {state} | {count} |\n" for state, count in counts.most_common()]
    left = [one for one in everything if one.state in ("partly", "not")]
    lines.append("\nNot met, or partly:\n\n")
    lines += [f"- {_sentence(one)} **{one.state}**: {one.reason}.\n" for one in left]
    for section in sections:
        lines.append(f"\n## {section.number} {section.title}\n")
        lines.append("| requirement | state | tests |\n| --- | --- | --- |\n")
        for one in section.requirements.values():
            state = f"{one.state}: {one.reason}" if one.reason else one.state
            tests = "<br>".join(_link(test) for test in sorted(one.tests))
            lines.append(f"| {_sentence(one)} | {state} | {tests} |\n")
    return "".join(lines)


def _sentence(requirement: Requirement) -> str:
    return requirement.says.replace("|", "\\|")


def _link(test: str) -> str:
    path, _, name = test.rpartition("::")
    return f"[{name.removeprefix('test_')}](../{path})"


if __name__ == "__main__":
    main(sys.argv[1:])
