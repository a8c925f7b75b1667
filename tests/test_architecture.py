"""The invariants of ARCHITECTURE.md: dependencies that do not exist."""

from __future__ import annotations

import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from conftest import ROOT

CRATES = {path.name: path for path in (ROOT / "crates").iterdir()}

ARCHITECTURES = {"psa", "tna", "v1model"}
"""The crates of architectures; only ``engine`` may know them."""

ALLOWED = {
    "internet-checksum": set[str](),
    "units": set[str](),
    "p4-ir": {"units"},
    "p4-frontend": {"p4-ir"},
    "bmv2-json": {"p4-ir"},
    "p4-info": {"p4-ir"},
    "tofino-rules": {"p4-ir"},
    "congestion": {"units"},
    "transport": {"congestion", "internet-checksum", "units"},
    "tcp-settings": {"congestion", "transport", "units"},
    "p4-vm": {"internet-checksum", "p4-ir", "units"},
    "p4-jit": {"p4-vm"},
    "switch": {"p4-ir", "p4-vm", "units"},
    "psa": {"internet-checksum", "p4-ir", "p4-vm", "switch", "units"},
    "tna": {"internet-checksum", "p4-ir", "p4-vm", "switch", "units"},
    "v1model": {"p4-ir", "p4-vm", "switch", "units"},
    "engine": {"p4-ir", "p4-vm", "switch", *ARCHITECTURES},
    "stf": {"engine", "p4-ir", "units"},
    "kernel-hosts": {"congestion", "units"},
    "netsim": {"congestion", "engine", "p4-ir", "tcp-settings", "transport", "units"},
    "dataplane-io": {"congestion", "engine", "internet-checksum", "transport", "units"},
    "wasm": {"congestion", "engine", "netsim", "p4-frontend", "p4-ir", "stf", "transport", "units"},
    "p4runtime": {
        *("bmv2-json", "engine", "p4-frontend", "p4-info", "p4-ir", "tofino-rules", "units"),
    },
}
"""The crates on which a crate may depend; only ``bindings`` may depend on all."""


@pytest.mark.parametrize("crate", sorted(ALLOWED))
def test_a_crate_knows_only_what_it_may(crate: str) -> None:
    manifest = tomllib.loads((CRATES[crate] / "Cargo.toml").read_text())
    assert set(manifest.get("dependencies", {})) & set(CRATES) <= ALLOWED[crate]


def modules(source: Path) -> set[str]:
    """The modules at the top of a crate, as named in its lib.rs."""
    return set(re.findall(r"^(?:pub )?mod (\w+);", (source / "lib.rs").read_text(), re.MULTILINE))


def uses(source: Path, module: str) -> str:
    """The text of a module at the top of a crate, with those within it, without its tests."""
    inner = source / module
    files = [source / f"{module}.rs", *(sorted(inner.rglob("*.rs")) if inner.is_dir() else [])]
    texts = [file.read_text() for file in files if file.exists()]
    return "\n".join(text.split("#[cfg(test)]")[0] for text in texts)


@pytest.mark.parametrize("crate", ["p4-vm", "psa", "tna", "v1model"])
def test_modules_of_the_engine_have_no_cycles(crate: str) -> None:
    source = CRATES[crate] / "src"
    # The trait names what its methods take, and what they take names the trait.
    names = modules(source) - {"architecture"}
    reexported = {
        name: module
        for module, listed in re.findall(
            r"^pub use (\w+)::\{?([^;]*)", (source / "lib.rs").read_text(), re.MULTILINE
        )
        if module in names
        for name in re.findall(r"\w+", listed)
    }
    graph: dict[str, set[str]] = {}
    for module in names:
        text = uses(source, module)
        words = set(re.findall(r"crate::(\w+)", text))
        for group in re.findall(r"crate::\{([^;]*)\}", text):
            words |= set(re.findall(r"\w+", group))
        graph[module] = {reexported.get(word, word) for word in words} & names - {module}
    TopologicalSorter(graph).prepare()


def test_only_the_bindings_know_python() -> None:
    for name, path in CRATES.items():
        dependencies = tomllib.loads((path / "Cargo.toml").read_text()).get("dependencies", {})
        assert name == "bindings" or "pyo3" not in dependencies, name


def test_every_crate_has_its_rule() -> None:
    assert set(CRATES) == {*ALLOWED, "bindings"}


def test_only_the_bindings_compile_to_machine_code() -> None:
    """The page's first load stays small, and the engine runs on any processor."""
    for name, path in CRATES.items():
        dependencies = tomllib.loads((path / "Cargo.toml").read_text()).get("dependencies", {})
        assert name == "bindings" or "p4-jit" not in dependencies, name


def test_only_p4runtime_knows_grpc() -> None:
    for name, path in CRATES.items():
        dependencies = tomllib.loads((path / "Cargo.toml").read_text()).get("dependencies", {})
        for library in ("tokio", "tonic"):
            assert name == "p4runtime" or library not in dependencies, name


def test_unsafe_is_for_rings_webassembly_libbpf_and_machine_code_alone() -> None:
    for path in CRATES.values():
        for source in (path / "src").rglob("*.rs"):
            ring = source.parent.name == "af_packet"
            boundary = path.name == "wasm" and source.name == "boundary.rs"
            loader = path.name == "kernel-hosts" and source.name == "sys.rs"
            code = path.name == "p4-jit" and source.name == "context.rs"
            allowed = ring or boundary or loader or code
            assert allowed or "unsafe {" not in source.read_text(), source.relative_to(ROOT)


@pytest.mark.parametrize(
    "crate", sorted(set(ALLOWED) - {"dataplane-io", "kernel-hosts", "p4runtime"})
)
def test_only_the_outermost_crates_read_files_and_the_clock(crate: str) -> None:
    for source in (CRATES[crate] / "src").rglob("*.rs"):
        text = source.read_text()
        for word in ("std::fs", "TcpStream", "UdpSocket", "SystemTime", "time::Instant"):
            assert word not in text, f"{source.relative_to(ROOT)}: {word}"


def test_panics_unwind_in_release_builds() -> None:
    """A switch contains a panic of its engine, which a build that aborts cannot."""
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text()).get("profile", {})
    assert all(profile.get("panic") != "abort" for profile in profiles.values())
