"""p4c as front end: programs that it compiles for BMv2 run on the embedded switch."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from waymark import _core, files, program, project
from waymark.errors import WaymarkError

COMPILER = "p4c-bm2-ss"


def require() -> str:
    """The path of p4c's compiler for BMv2.

    Raises:
        WaymarkError: it is not installed.
    """
    path = shutil.which(COMPILER)
    if path is None:
        raise WaymarkError(f"--via p4c needs p4c: no {COMPILER} on PATH")
    return path


def compile_file(
    path: Path, include_dirs: Sequence[Path] = (), defines: Sequence[str] = ()
) -> _core.Program:
    """Compile a P4_16 program with p4c, and read its device configuration.

    Raises:
        WaymarkError: no such file, no p4c, or p4c refuses the program.
        _core.CompileError: the configuration has something that this target does not support.
    """
    files.require_file(path)
    compiler = require()
    folders = (*include_dirs, project.program_path("."))
    options = [f"-I{folder}" for folder in folders] + [f"-D{macro}" for macro in defines]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"{path.stem}.json"
        command = [compiler, "--std", "p4-16", *options, "-o", str(out), str(path)]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode != 0 or not out.is_file():
            raise WaymarkError(f"p4c rejects it: {done.stderr.strip() or 'no reason given'}")
        return program.compile_file(out)
