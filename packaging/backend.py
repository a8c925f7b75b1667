"""The build backend (PEP 517): maturin, with the project's folders under ``waymark/`` in wheels.

In the repository ``controller/``, ``exercises/``, ``experiments/``, ``hosts/``, ``p4src/`` and
``topologies/`` are next to ``waymark/``, and code imports them by these names. A wheel has them in
the package, so that it adds only ``waymark`` to site-packages: the files are copied, and
``from controller import …`` becomes ``from waymark.controller import …``. An editable install uses
the repository as it is.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("controller", "experiments", "hosts", "topologies")
"""Folders of Python modules that a wheel has under ``waymark/``."""

PAGE = ROOT / "web" / "dist"
"""The page of the live lab, if ``make web`` built it; a wheel has it in ``waymark/web``."""

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so", "*.pyc")
_IMPORT = re.compile(rf"^([ \t]*from )({'|'.join(PACKAGES)})(?=[. ])", re.MULTILINE)
_OTHER_IMPORT = re.compile(rf"^[ \t]*import ({'|'.join(PACKAGES)})\b.*", re.MULTILINE)


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel; the name of its file."""
    del metadata_directory  # of an editable install
    target = Path(wheel_directory).resolve()
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
        with _working_in(Path(folder)):
            return maturin.build_wheel(str(target), dict(config_settings or {}))


def stage(folder: Path) -> None:
    """Write what a wheel is built from: ``waymark/`` as it will be installed, and its metadata."""
    package = folder / "waymark"
    shutil.copytree(ROOT / "waymark", package, ignore=_LEFT_OUT)
    for name in (*PACKAGES, "exercises", "p4src", "packaging"):
        shutil.copytree(ROOT / name, package / name, ignore=_LEFT_OUT)
    (package / "packaging" / Path(__file__).name).unlink()
    if PAGE.is_dir():
        shutil.copytree(PAGE, package / "web")
    for module in package.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        module.write_text(_within_waymark(text, module), encoding="utf-8")
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    manifest = "crates/bindings/Cargo.toml"
    settings = _replaced(settings, f'"{manifest}"', f'"{(ROOT / manifest).as_posix()}"')
    settings = re.sub(
        r"^python-packages = .*$", 'python-packages = ["waymark"]', settings, flags=re.M
    )
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")


def _within_waymark(text: str, module: Path) -> str:
    """A module's text with the project's folders imported from ``waymark``."""
    other = _OTHER_IMPORT.search(text)
    if other is not None:
        raise ValueError(
            f"{module}: {other[0].strip()!r}: write from … import …, which can be moved"
        )
    return _IMPORT.sub(r"\1waymark.\2", text)


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"pyproject.toml: expected {old} once")
    return text.replace(old, new)


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
