"""The exercises: each skeleton fails with a helpful message, and each solution passes."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from waymark import exercise, grader, run, scenario_file
from waymark.exercise import Exercise
from waymark.result import Result

EXERCISES = exercise.all_exercises()

HELP = {
    "1_forward": "ipv4.ttl: expected 63 (0x3f), found 64 (0x40)",
    "2_aqt": "AQT says 0 us, the queues",
    "3_rovegas": "throughput of RoVegas: 391.4 kb/s, expected at least 1000 kb/s",
    "4_ci": "drop_mark is never written",
    "5_red": "RED still reacts to each packet at once",
    "6_drai": "avbw.drai: expected 2 (0x2), found 6 (0x6)",
    "7_fairness": "largest_fair_buffer: no answer yet",
    "8_diagnose": "damaged_by: no answer yet",
}
"""A part of what the grader says about each skeleton."""

MISTAKES = [
    ("1_forward", "forwarding.p4", "ttl <= 1", "ttl == 0", "TTL 1 ends here"),
    ("1_forward", "forwarding.p4", "= next_hop;", "= hdr.ipv4.dst_addr;", "behind another router"),
    ("1_forward", "forwarding.p4", "return;", "return", "expected an expression, found `}`"),
    ("2_aqt", "aqt.p4", "(bit<32>) aqt.aqt_us |+| waited_us", "waited_us", "aqt.aqt_us: expected"),
    ("2_aqt", "aqt.p4", "|+| waited_us", "|+| (waited_us >> 1)", "marks are missing or too small"),
    ("3_rovegas", "rovegas.py", "rtt = event.rtt - event.aqt_backward", "rtt = event.rtt",
     "one of the two uses of the marks is missing"),
    ("3_rovegas", "rovegas.py", "- event.aqt_backward\n        queued",
     "- event.aqt_backward - event.aqt_echo\n        queued", "no longer counts as congestion"),
    ("3_rovegas", "rovegas.py", "self.round_end = event.next", "self.rounds_end += 1",
     "AttributeError"),
    ("3_rovegas", "rovegas.py", "    def on_start", "    while True: pass\n\n    def on_start",
     "Is there an endless loop in your code?"),
    ("4_ci", "admission.p4", ">= max_waiting", "> max_waiting", "longest queue: 10 packets, expec"),
    ("4_ci", "admission.p4", "drop_mark.write(place.queue, last_admitted);", "",
     "packets that r1 marked: 0 packets"),
    ("5_red", "red.p4", "(occupancy << RED_FRACTION_BITS) >> w",
     "(occupancy >> w) << RED_FRACTION_BITS", "average is too small"),
    ("5_red", "thresholds.yaml", "thmin: 5, thmax: 15", "thmin: 10, thmax: 30", "lower thmax"),
    ("5_red", "thresholds.yaml", "load: 0.1", "load: 0.01", "skeleton's: sources."),
    ("5_red", "thresholds.yaml", "rate: 4 Mb/s", "rate: 5 Mb/s", "skeleton's: links."),
    ("5_red", "thresholds.yaml", "from: 20 s", "from: 90 s", "skeleton's: measures."),
    ("5_red", "thresholds.yaml", "seconds: 100", "seconds: 90", "change only links[5].red"),
    ("6_drai", "entries.stf", "131->196", "131->190", "of 262 octets left"),
    ("6_drai", "entries.stf", "->130 set_index", "->130 set_idex", "no action is named"),
    ("6_drai", "drai.p4", "index < avbw", "index > avbw", "avbw.drai: expected 6 (0x6), found 255"),
    ("7_fairness", "answers.yaml", "it: reno", "it: vegas", "who_fills_it: vegas is not right"),
    ("7_fairness", "answers.yaml", "4.4", "soon", "share_at_50: soon is not right"),
    ("7_fairness", "vegas_plus.py", "self.suspicion = max(self.suspicion - 1, 0)", "pass",
     "suspicion rises without a reason"),
    ("8_diagnose", "answers.yaml", "damaged_by: r1", "damaged_by: r2", "counted where a packet"),
    ("8_diagnose", "answers.yaml", "refused: 442", "refsed: 442", "refsed: no such question"),
]  # fmt: skip
"""In an exercise's solution: the file, what is replaced by what, and a part of the message."""


def of(name: str) -> Exercise:
    return exercise.find(name)


def copy(its: Exercise, folder: Path, part: str = "solution") -> Path:
    """A student's folder, with the solution instead of the skeleton."""
    its.start(folder)
    shutil.copytree(its.folder / part, folder, dirs_exist_ok=True)
    return folder


def said(its: Exercise, folder: Path) -> str:
    """What the grader says about a folder in which something is wrong."""
    outcomes = grader.grade(its, folder)
    assert not all(outcome.passed for outcome in outcomes)
    lines = [line for outcome in outcomes if not outcome.passed for line in outcome.lines]
    assert lines
    assert max(map(len, lines)) < 76, max(lines, key=len)  # and an indent of 6 is within 80 columns
    return " ".join(" ".join(lines).split())


def test_there_are_eight_in_order() -> None:
    assert [its.number for its in EXERCISES] == list(range(1, 9))
    assert set(HELP) == {its.about.id for its in EXERCISES}


@pytest.mark.parametrize("its", EXERCISES, ids=lambda its: its.about.id)
def test_each_is_whole(its: Exercise) -> None:
    assert its.about.id == its.folder.name
    for part in ("skeleton", "solution"):
        names = sorted(path.name for path in (its.folder / part).iterdir())
        assert [name for name in names if name != "__pycache__"] == sorted(its.about.files)
    skeletons = "".join((its.folder / "skeleton" / name).read_text() for name in its.about.files)
    assert re.search("TODO|Write each", skeletons)
    readme = (its.folder / "README.md").read_text()
    for heading in ("**Goal:**", "## Background", "## Steps", "## Questions"):
        assert heading in readme, heading
    background = readme.partition("## Background")[2].partition("## Steps")[0]
    assert 200 <= len(background.split()) <= 400
    assert len(re.findall(r"^\d\. ", (its.folder / "hints.md").read_text(), re.M)) >= 3
    notes = (its.folder / "teacher.md").read_text()
    minutes = re.findall(r"^\| (\d+) \| \w", notes, re.M)
    assert sum(map(int, minutes)) == its.about.minutes
    assert "Typical mistakes" in notes


@pytest.mark.parametrize("its", EXERCISES, ids=lambda its: its.about.id)
def test_the_skeleton_fails_with_a_helpful_message(its: Exercise, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    its.start(folder)
    assert not (folder / "teacher.md").exists()
    assert HELP[its.about.id] in said(its, folder)


@pytest.mark.parametrize("its", EXERCISES, ids=lambda its: its.about.id)
def test_the_solution_passes_in_time(its: Exercise, tmp_path: Path) -> None:
    folder = copy(its, tmp_path / "mine")
    started = time.process_time()
    outcomes = grader.grade(its, folder)
    assert all(outcome.passed for outcome in outcomes), outcomes
    assert time.process_time() - started < 10


@pytest.mark.parametrize(("name", "file", "right", "wrong", "message"), MISTAKES)
def test_a_typical_mistake_is_explained(
    name: str, file: str, right: str, wrong: str, message: str, tmp_path: Path
) -> None:
    its = of(name)
    folder = copy(its, tmp_path / "mine")
    text = (folder / file).read_text()
    assert right in text
    (folder / file).write_text(text.replace(right, wrong, 1))
    assert " ".join(message.split()) in said(its, folder)


def test_given_files_that_a_student_changes_are_graded_as_they_were(tmp_path: Path) -> None:
    its = of("1")
    folder = tmp_path / "mine"
    its.start(folder)
    (folder / "ttl.stf").write_text("# nothing\n")
    assert HELP["1_forward"] in said(its, folder)


def test_a_student_starts_and_checks(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = cli("exercise", "list")
    assert listed.out.count(" minutes)") == 8
    started = cli("exercise", "start", "forward")
    assert started.out.splitlines()[1:] == [
        "read:   1_forward/README.md",
        "edit:   1_forward/forwarding.p4",
        "grade:  waymark exercise check 1_forward",
    ]
    failed = cli("exercise", "check", "1_forward")
    assert failed.code == 1
    assert "FAIL  ttl.stf\n" in failed.out
    shutil.copytree(of("1").folder / "solution", "1_forward", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "1_forward")
    passed = cli("exercise", "check")
    assert passed.code == 0, passed.out
    assert "Forward IPv4: 3 of 3 checks passed\n" in passed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("start", "9"), "error: no exercise '9'; "),
        (("start", "1", "full"), "error: full: exists already and is not empty"),
        (("check", "full"), "error: full has no exercise.yaml: not the folder of an exercise"),
        (("check", "nowhere"), "error: nowhere has no exercise.yaml"),
        (
            ("check", "1"),
            "error: 1 has no exercise.yaml: not the folder of an exercise; valid: less",
        ),
        (("check", "less"), "error: less/forwarding.p4: no such file; "),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: tuple[str, ...],
    message: str,
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    of("1").start(tmp_path / "less")
    (tmp_path / "less" / "forwarding.p4").unlink()
    refused = cli("exercise", *words)
    assert refused.code == 2
    assert refused.err.startswith(message)


def test_the_page_on_teaching_names_commands_that_exist(cli: Cli) -> None:
    page = (ROOT / "docs" / "teaching.md").read_text()
    for command in set(re.findall(r"waymark exercise (\w+)", page)):
        assert cli("exercise", command, "--help").code == 0


def measured(
    folder: Path, file: str, old: str = "", new: str = ""
) -> tuple[dict[str, float], Result]:
    """The table of a scenario, with a change of its text, and its result."""
    path = folder / file
    path.write_text(path.read_text().replace(old, new))
    experiment = scenario_file.load(path)
    [(name, scenario)] = experiment.scenarios("full", 1).items()
    result = run(scenario)
    return {row.quantity: row.waymark for row in experiment.rows({name: [result]})}, result


def questions(its: Exercise) -> dict[str, exercise.Question]:
    return {key: one for check in its.about.checks for key, one in check.questions.items()}


def test_the_answers_to_fairness_are_what_students_measure(tmp_path: Path) -> None:
    its = of("7")
    shares: dict[int, float] = {}
    for buffer in (4, 6, 8, 10, 15, 20, 30, 50):
        its.start(tmp_path / str(buffer))
        change = ("queue: 50", f"queue: {buffer}")
        rows, _ = measured(tmp_path / str(buffer), "compete.yaml", *change)
        vegas, reno = rows["throughput of Vegas"], rows["throughput of Reno"]
        shares[buffer] = vegas / (vegas + reno)
    asked = questions(its)
    largest = max(buffer for buffer, share in shares.items() if share >= 1 / 3)
    assert largest == asked["largest_fair_buffer"].value
    least, most = asked["share_at_50"].at_least, asked["share_at_50"].at_most
    assert least is not None
    assert most is not None
    assert least < 100 * shares[50] < most


def test_the_answers_to_the_diagnosis_are_what_students_measure(tmp_path: Path) -> None:
    its = of("8")
    its.start(tmp_path / "mine")
    rows, result = measured(tmp_path / "mine", "network.yaml")
    asked = questions(its)
    drops = {name: switch.counters["drops"] for name, switch in result.switches.items()}
    checksum, queue_full = 2, 5
    arrived = result.switches["r2"].port_to("r1")
    assert drops["r2"][8 * arrived + checksum].packets == asked["dropped_for_checksum"].value
    leaving = result.switches["r2"].port_to("r3")
    assert drops["r2"][8 * leaving + queue_full].packets == asked["refused"].value
    assert rows["longest queue r2->r3"] == asked["longest_queue"].value
    assert sum(each.total.packets for each in drops.values()) == 44 + 442
    fair = rows["throughput from c to d"]
    assert rows["throughput from a to b"] < fair / 5  # the damage costs more than the queue
