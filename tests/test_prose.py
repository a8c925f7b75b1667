"""Prose is plain technical English: words of a former dialect of this project do not return.

Each rule is a regular expression and the wording to use instead. It is applied to Markdown, to the
comments, docstrings and test names of Python, and to the comments of P4 and Rust. Text in backticks
and fenced blocks is not prose. When you replace a phrase, add a rule with two examples.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

FOLDERS = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "controller",
    "crates/bmv2-json",
    "crates/bindings",
    "crates/v1model",
    "crates/switch",
    "crates/psa",
    "crates/p4-vm",
    "crates/p4-ir",
    "crates/p4-frontend",
    "crates/netsim",
    "crates/engine",
    "crates/kernel-hosts",
    "crates/congestion",
    "crates/dataplane-io",
    "crates/p4-info",
    "crates/p4runtime",
    "crates/stf",
    "crates/transport",
    "crates/tcp-settings",
    "crates/tna",
    "crates/tofino-rules",
    "crates/units",
    "crates/wasm",
    "docs",
    "examples",
    "exercises",
    "experiments",
    "fuzz",
    "hosts",
    "p4src",
    "packaging",
    "ptf_tests",
    "tests",
    "topologies",
    "waymark",
)
"""The files and folders that are checked; others can be added."""


@dataclass(frozen=True)
class Rule:
    """A phrase and its replacement.

    Attributes:
        pattern: a regular expression, for any case and for any white space.
        instead: the wording to use.
        bad, good: a sentence with the phrase, and a similar one that is allowed.
    """

    pattern: str
    instead: str
    bad: str
    good: str

    def search(self, text: str) -> Iterator[re.Match[str]]:
        """Its matches in ``text``."""
        spaces = self.pattern.replace(" ", r"\s+")
        return re.finditer(rf"(?<![\w-])(?:{spaces})(?![\w-])", text, re.IGNORECASE)


UNITS = "core|figure|host|hop|line|network|packet|port|row|run|second|seed|switch|table"

RULES = (
    Rule(
        r"(?:is|are|was|were|be|been|being|not) told(?! apart| from)",
        "is reported, is notified, is configured",
        "A mistake is told with its line.",
        "Two cases can be told apart.",
    ),
    Rule(r"untold", "not reported, withheld", "The rest is untold.", "The rest is untouched."),
    Rule(
        r"tells? (?:of|its|his|all|what|which|how|no)",
        "reports, shows",
        "The message tells which are up.",
        "The sender tells losses from congestion.",
    ),
    Rule(r"by lot", "at random", "Paths are chosen by lot.", "It grows by a lot."),
    Rule(
        r"reckon(?:s|ed|ing)?",
        "computes, estimates",
        "The control reckons the diff.",
        "The control computes the diff.",
    ),
    Rule(r"borne out", "passes, holds", "The claim is borne out.", "The claim passes."),
    Rule(
        r"(?:all|none|nothing|any|everything|same|untouched|each|every \w+),? but for",
        "except for",
        "The packets are the same, but for the TTL.",
        "TCP retransmits, but for UDP there is no timer.",
    ),
    Rule(r"what of", "say which part", "What of P4 is supported.", "What is part of P4."),
    Rule(r"whoever", "any client that", "Keep it, whoever restarts.", "See who restarts."),
    Rule(r"put in there", "inlined", "The body is put in there.", "The file is put there."),
    Rule(
        r"of (?:ours|yours|one's own)",
        "our, your own, the user's own",
        "A controller of yours writes it.",
        "Your controller writes it.",
    ),
    Rule(
        r"(?:goes|go) on(?= to| until|\.|,|;| with)",
        "continues",
        "The packet goes on to ingress.",
        "The option goes on the command line.",
    ),
    Rule(
        rf"one (?:(?!for|in|of|on|to)\w+ )?an? (?:{UNITS})|(?:packets|octets) a second",
        "one … per …",
        "It prints one line a run.",
        "It prints one line per run.",
    ),
    Rule(
        r"(?:after|and|at most|behind|by|of|sends?|to|writes?) so many(?! \\w+ that)|for so long"
        r"|so many (?:packets|octets)/s",
        "the given number of, for the given time",
        "It sends so many octets.",
        "So many packets arrive that the queue overflows.",
    ),
    Rule(r"anew", "again", "The file is read anew.", "The file is read again."),
    Rule(
        r"wherever it stands|where it stands",
        "at any position, its line",
        "AQT is found wherever it stands.",
        "AQT is found at any position.",
    ),
    Rule(
        r"lest",
        "so that … not, because",
        "It is limited, lest it overflow.",
        "It is limited, so that it does not overflow.",
    ),
    Rule(
        r"what came of",
        "the result of",
        "The page shows what came of a run.",
        "The page shows the result of a run.",
    ),
    Rule(
        r"transports? of today",
        "current transport",
        "It beats the transports of today.",
        "It beats current transports.",
    ),
    Rule(
        r"yardsticks?",
        "baseline",
        "Two yardsticks forward the same frames.",
        "Two baselines forward the same frames.",
    ),
    Rule(
        r"an? (?:process|thread|program|test|verdict) of its own",
        "a separate …",
        "Each check runs in a process of its own.",
        "Each check runs in a separate process.",
    ),
    Rule(
        r"what (?:is|was) said",
        "the message, the diagnostics",
        "See what is said of invalid files.",
        "See the errors of invalid files.",
    ),
    Rule(
        r"(?!there)\w+ is no"
        r" (?!longer|more|less|other|need|such|way|point|reason|better|worse|different)\w+",
        "is not a",
        "A varbit is no number.",
        "There is no number, and it is no longer than that.",
    ),
    Rule(
        r"handed in",
        "passed",
        "A control is handed in.",
        "A control is handed to the simulator.",
    ),
    Rule(
        r"(?:what|whatever) (?:became|becomes) of",
        "the fate of, the result of",
        "It counts what became of each packet.",
        "It counts the fate of each packet.",
    ),
    Rule(
        r"next to (?:no|nothing)",
        "almost no, almost nothing",
        "It keeps next to no queue.",
        "It is next to the file.",
    ),
    Rule(
        r"way back|there and back",
        "reverse path, round trip",
        "ACKs wait on the way back.",
        "ACKs wait on the reverse path.",
    ),
    Rule(
        r"without a word",
        "without a message",
        "The sender ended without a word.",
        "The sender ended without a message.",
    ),
    Rule(
        r"stands? beside",
        "is next to",
        "The golden stands beside its input.",
        "The golden is next to its input.",
    ),
)


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a file: the number of the first line, and the text of each passage."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = re.sub(r"^```.*?^```", _blank, text, flags=re.DOTALL | re.MULTILINE)
        yield 1, text
    elif path.suffix == ".p4":
        for number, line in enumerate(text.splitlines(), 1):
            yield number, line.partition("//")[2]
    elif path.suffix == ".rs":
        yield 1, _comments(text)
    else:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            is_docstring = token.type == tokenize.STRING and token.string.endswith('"""')
            if is_docstring or token.type == tokenize.COMMENT:
                yield token.start[0], token.string
            elif token.type == tokenize.NAME and token.string.startswith("test_"):
                yield token.start[0], token.string.replace("_", " ")


def _comments(rust: str) -> str:
    """The comments of Rust, each in its line. Code in doc comments is not prose."""
    lines = (re.search(r"(?:^|\s)//[/!]?(.*)", line) for line in rust.splitlines())
    text = "\n".join(found[1] if found else "" for found in lines)
    return re.sub(r"^ *```.*?^ *```", _blank, text, flags=re.DOTALL | re.MULTILINE)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def complaints(path: Path) -> Iterator[str]:
    """What to write instead, with file and line."""
    for first, text in passages(path):
        prose = re.sub(r"`[^`\n]*`", lambda found: "`" * len(found[0]), text)
        for rule in RULES:
            for found in rule.search(prose):
                line = first + prose.count("\n", 0, found.start())
                phrase = " ".join(found[0].split())
                yield f"{path.relative_to(ROOT)}:{line}: {phrase!r}: write {rule.instead!r}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.bad)
def test_a_rule_finds_the_phrase_and_nothing_else(rule: Rule) -> None:
    assert list(rule.search(rule.bad))
    assert not [other.pattern for other in RULES if list(other.search(rule.good))]


def test_a_complaint_names_file_line_and_wording(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    page.write_text("Good.\n\n```\nis told\n```\n`is told`, and the rest is\ntold.\n")
    module.write_text(
        '"""Good."""\n\nx = "is told"  # chosen by lot\n\n\ndef test_it_is_told(): ...\n'
    )
    assert list(complaints(page)) == [
        "page.md:6: 'is told': write 'is reported, is notified, is configured'"
    ]
    assert list(complaints(module)) == [
        "module.py:3: 'by lot': write 'at random'",
        "module.py:6: 'is told': write 'is reported, is notified, is configured'",
    ]
    crate = tmp_path / "lib.rs"
    crate.write_text(
        '//! ```\n//! by lot\n//! ```\nlet x = "by lot"; // Good.\n/// Drawn by\n/// lot.\n'
    )
    assert list(complaints(crate)) == ["lib.rs:5: 'by lot': write 'at random'"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_prose_is_plain(folder: str) -> None:
    paths = [ROOT / folder] if "." in folder else sorted((ROOT / folder).rglob("*"))
    found = [
        complaint
        for path in paths
        if path != Path(__file__)
        if path.suffix in (".md", ".p4", ".py", ".rs")
        for complaint in complaints(path)
    ]
    assert not found, "\n" + "\n".join(found)
