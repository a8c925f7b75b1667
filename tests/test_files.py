"""Files that users name: no device is read, nothing without end, and ``-`` is standard output."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from waymark import Topology, _core, files
from waymark.errors import WaymarkError

MAIN = ROOT / "p4src/v1model/waymark.p4"


def test_a_pipe_is_read_and_a_device_is_not(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("text",)).start()
    assert files.read_text(pipe) == "text"
    for path, told in (
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "is a folder"),
        (tmp_path / "none", "no such file"),
    ):
        with pytest.raises(WaymarkError, match=told):
            files.read(path)


def test_a_name_that_no_file_can_have_is_not_there(tmp_path: Path) -> None:
    long = tmp_path / ("a" * 300)
    assert not files.is_file(long)
    with pytest.raises(WaymarkError, match="File name too long"):
        files.read(long)


def test_a_tutorials_topology_may_name_a_file_that_cannot_be(tmp_path: Path) -> None:
    file = tmp_path / "topology.json"
    switch = {"runtime_json": "a" * 300}
    links = [["h1", "s1-p1"]]
    host = {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"}
    document = {"hosts": {"h1": host}, "switches": {"s1": switch}, "links": links}
    file.write_text(json.dumps(document))
    runtime = Topology.load(file).switch("s1").runtime
    assert runtime is not None
    with pytest.raises(WaymarkError, match="File name too long"):
        files.require_file(runtime)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.p4"
    with large.open("wb") as file:
        file.truncate(files.MOST_OCTETS + 1)
    with pytest.raises(WaymarkError, match="longer than 64 MiB"):
        files.read(large)
    with pytest.raises(OSError, match="longer than 64 MiB"):
        _core.compile(str(large))
    main = tmp_path / "main.p4"
    main.write_text('#include "large.p4"\n')
    with pytest.raises(_core.CompileError, match=r"`large.p4` cannot be included: longer than"):
        _core.compile(str(main))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev", "/dev/null"])
def test_only_files_are_included(name: str) -> None:
    with pytest.raises(_core.CompileError) as told:
        _core.compile("a.p4", text=f'#include "{name}"\n')
    assert f"`{name}` cannot be included: " in str(told.value)
    assert ("is a folder" if name == "/dev" else "not a regular file") in str(told.value)


def test_a_program_comes_from_a_pipe(cli: Cli, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", 'echo "const bit<8> A = 1;" > "$0"', pipe]):
        result = cli("compile", pipe)
    assert (result.code, result.out) == (0, f"{pipe}: compiled, 0 tables\n")


@pytest.mark.parametrize("option", ["--p4info", "--source"])
def test_a_hyphen_is_standard_output(cli: Cli, tmp_path: Path, option: str) -> None:
    written = tmp_path / "written"
    assert cli("compile", MAIN, option, written).code == 0
    result = cli("compile", MAIN, option, "-")
    assert result.code == 0
    assert result.out == written.read_text(encoding="utf-8")
    assert not (Path.cwd() / "-").exists()


def test_two_texts_cannot_both_be_printed(cli: Cli) -> None:
    result = cli("compile", MAIN, "--p4info", "-", "--source", "-")
    assert result.code == 2
    assert "expected at most one of them" in result.err


def test_an_error_without_a_place_names_the_file(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "p.p4"
    program.write_text(
        "#include <core.p4>\ncontrol c(); package q(c x); control d() { apply {} }\nq(d()) main;\n"
    )
    script = tmp_path / "empty.stf"
    script.write_text("")
    result = cli("stf", program, script)
    assert result.code == 1
    assert f"{program}: the switch cannot run a program for the package `q`" in result.err
    assert ":0:" not in result.err


def test_errors_are_counted_beyond_the_first(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "p.p4"
    program.write_text("".join(f"const bit<8> c{i} = 1 + true; " for i in range(5_000)))
    result = cli("compile", program)
    assert result.code == 1
    assert result.err.rstrip().endswith("... and 4980 more errors")
    assert len(result.err) < 20_000
