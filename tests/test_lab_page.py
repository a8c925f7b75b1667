"""``waymark lab``: the server of the page, and its export; the page itself: ``make test-web``."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Cli

from waymark import lab_page
from waymark.errors import WaymarkError


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a page in it, as a wheel has one."""
    page = tmp_path / "package" / "web"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<title>page</title>")
    (page / "lab.wasm").write_bytes(b"\0asm")
    (page / "assets" / "a.js").write_text("1")
    monkeypatch.setattr("waymark.project.PACKAGE", page.parent)
    return page


@contextmanager
def served() -> Iterator[str]:
    with lab_page.server(0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.usefixtures("built")
def test_the_page_is_served_with_its_types_and_may_load_nothing_else() -> None:
    with served() as url:
        types = {
            "/": "text/html",
            "/lab.wasm": "application/wasm",
            "/assets/a.js": "text/javascript",
        }
        for path, kind in types.items():
            with urllib.request.urlopen(url + path) as answer:
                assert answer.headers["Content-Type"] == kind
                assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/../../etc/passwd")


@pytest.mark.usefixtures("built")
def test_a_port_that_is_taken_is_named() -> None:
    with lab_page.server(0) as server:
        port = int(server.server_address[1])
        with pytest.raises(WaymarkError, match=f"port {port}: Address already in use; .*--port"):
            lab_page.server(port).__enter__()


def test_export_writes_a_new_folder(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "site" / "lab"
    lab_page.export(target)
    names = {path.relative_to(target) for path in target.rglob("*")}
    assert names == {path.relative_to(built) for path in built.rglob("*")}
    with pytest.raises(WaymarkError, match="is not an empty folder"):
        lab_page.export(target)


def test_without_a_page_the_command_says_how_to_build_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    for folder in ("p4src", "experiments"):
        (home / folder).mkdir(parents=True)
    monkeypatch.setenv("WAYMARK_HOME", str(home))
    monkeypatch.setattr("waymark.project.PACKAGE", tmp_path)
    finished = cli("lab", "--export", str(tmp_path / "out"))
    assert finished.code == 2
    assert "make web" in finished.err
