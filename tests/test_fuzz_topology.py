"""The fuzzer of topology files: what it holds files to, and a short run of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

from waymark import Topology, WaymarkError
from waymark.errors import WaymarkError as Error


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_topology", ROOT / "fuzz" / "topology.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_mutated_files_are_read_or_refused_with_their_place(fuzzer: ModuleType) -> None:
    read, refused = fuzzer.run(seed=1, cases=100)
    assert read > 3
    assert refused > 30


def test_seeds_are_read_as_they_are(fuzzer: ModuleType) -> None:
    assert all(fuzzer.attempt(path, read) for path, read in fuzzer.seeds())


def test_a_traceback_and_an_error_without_a_place_are_failures(
    fuzzer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("{}")
    for error in (ZeroDivisionError("oops"), Error("somewhere")):

        def load(_path: Path, error: Exception = error) -> Topology:
            raise error

        monkeypatch.setattr(fuzzer.Topology, "load", staticmethod(load))
        with pytest.raises(fuzzer.FailureError):
            fuzzer.attempt(file, fuzzer.read_topology)


@pytest.mark.parametrize(
    "text",
    [
        "{[]: {}}",  # ruamel.yaml raises a TypeError
        "[" * 3000,  # and a RecursionError
        f"a: {'9' * 5000}",
        "hosts: {a: {address: 1}}",
        "links: [{ends: [a, b], rate: .nan, delay: 0}]\nhosts: {a: {}, b: {}}",
        "links: [{ends: [a, b], rate: 1 Mb/s, delay: .inf}]\nhosts: {a: {}, b: {}}",
        "links: [{ends: [a, b], rate: 1e300 Gb/s, delay: 0}]\nhosts: {a: {}, b: {}}",
        "links: [{ends: [a, b], rate: 1e6, delay: 0, queue: 99999999999}]\nhosts: {a: {}, b: {}}",
        "links: [{ends: ['a:" + "9" * 5000 + "', b], rate: 1e6, delay: 0}]\nhosts: {a: {}, b: {}}",
    ],
)
def test_odd_files_are_refused_with_their_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(text)
    with pytest.raises(WaymarkError) as error:
        Topology.load(file)
    assert str(error.value).startswith(str(file))
