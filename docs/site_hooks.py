"""Hooks of ``mkdocs build``.

They add pages from outside ``docs/`` and the references of the command line and of files, and point
links to sources.

A page may link to any file of the repository, as it does in a checkout. Files that are no page are
copied to ``source/`` in the site.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "controller/README.md": "guides/controller.md",
    "exercises/README.md": "guides/exercises.md",
    "experiments/README.md": "guides/experiments.md",
    "fuzz/README.md": "guides/fuzz.md",
    "hosts/README.md": "guides/hosts.md",
    "p4src/README.md": "reference/p4src.md",
    "ptf_tests/README.md": "guides/ptf.md",
    "topologies/README.md": "guides/topologies.md",
}
"""Where pages from outside ``docs/`` are in the site."""

FILES = "reference/files.md"
"""The generated reference of files. Its links are relative to the repository's root."""

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):(?=<code>)")
_EXAMPLES = re.compile(r"^Examples:\n((?:  .*\n)+)", re.MULTILINE)
_LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(\))")


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages from outside, and the reference of the command line."""
    for path, page in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    typer = Path(sys.executable).with_name("typer")
    command = [typer, "waymark.cli", "utils", "docs", "--name", "waymark"]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    text = made.stdout.replace("# `waymark`", "# Command line", 1)
    text = _EXAMPLES.sub(r"**Examples**:\n\n```console\n\1```\n", text)
    files.append(File.generated(config, "reference/cli.md", content=text))
    made = subprocess.run(
        [sys.executable, "-c", "import file_reference; print(file_reference.page())"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'docs'}:{ROOT}"},
        check=True,
        capture_output=True,
        text=True,
    )
    files.append(File.generated(config, FILES, content=made.stdout))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point relative links to where their files are in the site."""
    source = page.file.src_uri
    origins = {site: path for path, site in PAGES.items()}
    place = PurePosixPath(origins.get(source, f"docs/{source}" if source != FILES else "FILES"))

    def link(found: re.Match[str]) -> str:
        path = normpath(str(place.parent / found[2]))
        target = _target(path, config, files)
        if target is None:
            return found[0]  # mkdocs reports it
        relative = relpath(target, str(PurePosixPath(source).parent))
        return f"{found[1]}{relative}{found[3] or ''}{found[4]}"

    return _LINK.sub(link, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Drop the roles that docstrings have for Sphinx: ``:func:`duplex```."""
    return _ROLE.sub("", html)


def _target(path: str, config: MkDocsConfig, files: Files) -> str | None:
    """Where a file or folder of the repository is in the site."""
    for page in (path, f"{path}/README.md"):
        if page in PAGES:
            return PAGES[page]
        if page.startswith("docs/") and files.get_file_from_path(page.removeprefix("docs/")):
            return page.removeprefix("docs/")
    file = ROOT / path
    if file.is_dir():
        text = "\n".join(sorted(f"{one.name}{'/' * one.is_dir()}" for one in file.iterdir()))
        target = f"source/{path}/index.txt"
    elif file.is_file():
        text = file.read_text(encoding="utf-8")
        target = f"source/{path}.txt" if file.suffix != ".json" else f"source/{path}"
    else:
        return None
    if files.get_file_from_path(target) is None:
        files.append(File.generated(config, target, content=text))
    return target
