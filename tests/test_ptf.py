"""How the dataplane tests are started; they themselves run by ``make ptf``."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from ptf_tests import __main__ as runner
from ptf_tests.targets import P4SRC, main_of, p4info_of
from waymark.architecture import ARCHITECTURES

MAINS = sorted(path.stem for path in (P4SRC / "v1model").glob("*.p4"))


def start(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ptf_tests", *arguments])
    return runner.main()


def test_without_root_it_says_so_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert start(monkeypatch) == runner.EXIT_CANNOT_RUN
    assert "needs root" in capsys.readouterr().err
    assert start(monkeypatch, "--if-possible") == 0
    assert "skipped" in capsys.readouterr().err


def test_a_target_that_is_not_here_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    which = shutil.which
    monkeypatch.setattr(runner.network, "missing", lambda: "")
    monkeypatch.setattr(shutil, "which", lambda name: None if "switch" in name else which(name))
    assert start(monkeypatch, "--target", "bmv2") == runner.EXIT_CANNOT_RUN
    assert "not on PATH: simple_switch_grpc" in capsys.readouterr().err
    monkeypatch.setattr(shutil, "which", lambda name: None if "p4c" in name else which(name))
    assert start(monkeypatch, "--target", "embedded-p4c") == runner.EXIT_CANNOT_RUN
    assert "not on PATH: p4c-bm2-ss" in capsys.readouterr().err


def test_every_main_has_its_tests_and_every_test_a_main() -> None:
    assert sorted(runner.MODULES) == MAINS
    files = {path.stem for path in (runner.HERE / "tests").glob("*.py")}
    assert {name for names in runner.MODULES.values() for name in names} == files


def test_every_main_has_its_p4info() -> None:
    for architecture in ARCHITECTURES.values():
        mains = [main_of(architecture, name) for name in MAINS]
        there = [main for main in mains if main.is_file()]
        assert (
            len(there) >= len(MAINS) - 7
        )  # ecn.p4, l4s.p4, trim.p4, csig.p4, tcp_int.p4, int.p4 and fabric.p4
        for main in there:
            assert p4info_of(main).is_file(), main
