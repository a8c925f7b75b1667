"""The invariants of ARCHITECTURE.md: dependencies that do not exist."""

from __future__ import annotations

import tomllib

import pytest
from conftest import ROOT

CRATES = {path.name: path for path in (ROOT / "crates").iterdir()}

ALLOWED = {
    "units": set[str](),
    "p4-ir": {"units"},
    "p4-frontend": {"p4-ir"},
    "bmv2-json": {"p4-ir"},
    "p4-info": {"p4-ir"},
    "congestion": {"units"},
    "transport": {"congestion", "units"},
    "v1model": {"p4-ir", "units"},
    "stf": {"p4-ir", "units", "v1model"},
    "netsim": {"congestion", "p4-ir", "transport", "units", "v1model"},
    "dataplane-io": {"congestion", "transport", "units", "v1model"},
    "p4runtime": {"bmv2-json", "p4-frontend", "p4-info", "p4-ir", "units", "v1model"},
}
"""What a crate may know of the others; only ``bindings`` may know all."""


@pytest.mark.parametrize("crate", sorted(ALLOWED))
def test_a_crate_knows_only_what_it_may(crate: str) -> None:
    manifest = tomllib.loads((CRATES[crate] / "Cargo.toml").read_text())
    assert set(manifest.get("dependencies", {})) & set(CRATES) <= ALLOWED[crate]


def test_only_the_bindings_know_python() -> None:
    for name, path in CRATES.items():
        dependencies = tomllib.loads((path / "Cargo.toml").read_text()).get("dependencies", {})
        assert name == "bindings" or "pyo3" not in dependencies, name


def test_every_crate_has_its_rule() -> None:
    assert set(CRATES) == {*ALLOWED, "bindings"}


def test_only_p4runtime_knows_grpc() -> None:
    for name, path in CRATES.items():
        dependencies = tomllib.loads((path / "Cargo.toml").read_text()).get("dependencies", {})
        for library in ("tokio", "tonic"):
            assert name == "p4runtime" or library not in dependencies, name


def test_unsafe_is_for_rings_alone() -> None:
    for path in CRATES.values():
        for source in (path / "src").rglob("*.rs"):
            ring = source.parent.name == "af_packet"
            assert ring or "unsafe {" not in source.read_text(), source.relative_to(ROOT)


@pytest.mark.parametrize("crate", sorted(set(ALLOWED) - {"dataplane-io", "p4runtime"}))
def test_only_the_outermost_crates_read_files_and_the_clock(crate: str) -> None:
    for source in (CRATES[crate] / "src").rglob("*.rs"):
        text = source.read_text()
        for word in ("std::fs", "TcpStream", "UdpSocket", "SystemTime", "time::Instant"):
            assert word not in text, f"{source.relative_to(ROOT)}: {word}"


def test_panics_unwind_in_release_builds() -> None:
    """A switch contains a panic of its engine, which a build that aborts cannot."""
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text()).get("profile", {})
    assert all(profile.get("panic") != "abort" for profile in profiles.values())
