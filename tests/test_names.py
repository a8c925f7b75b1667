"""Hosts' names in commands that run in a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from topologies import names, state


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> state.State:
    monkeypatch.setattr(state, "FOLDER", tmp_path)
    places = {"h1": {"address": "10.0.1.1/24"}, "h2": {"address": "10.0.2.2/24"}}
    one = state.State("n", "n.yaml", "netns", "embedded", places=places)
    one.folder.mkdir()
    return one


def test_the_file_has_the_hosts_and_the_machines_own_entries(up: state.State) -> None:
    names.write(up)
    lines = (up.folder / "hosts").read_text().splitlines()
    assert lines[:2] == ["10.0.1.1\th1", "10.0.2.2\th2"]
    assert "\n".join(lines[2:]) == Path("/etc/hosts").read_text().rstrip("\n")


def test_without_the_file_a_command_runs_as_it_is(up: state.State) -> None:
    assert names.prefix(up) == []
    names.write(up)
    assert names.prefix(up)[-1] == str(up.folder / "hosts")
