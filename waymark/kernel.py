"""Linux's own TCP reads the marks: the loader of the BPF programs, and what it has attached.

The loader is a separate program (``crates/kernel-hosts``), which ``make kernel`` builds. All
functions act in the network namespace of this process.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waymark.controls import BY_NAME, Mark
from waymark.errors import WaymarkError

LOADER = "waymark-kernel"

MARKS: Mapping[Mark, str] = {"AQT": "aqt", "AVBW-S": "drai", "CI": "ci"}
"""The marks that a host's own packets may carry: IPv4 options for AQT and DRAI, the ECN field."""

PREFIX = "wm_"
"""Prefix of a control's name in the kernel, which may have a control with the same name."""

READY = "ready"
"""Printed by a holder when the programs are attached."""

SYSCTL = "net.ipv4.tcp_congestion_control"
"""The control of new connections in this network namespace."""

ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
"""Controls that network namespaces may use."""

BTF = Path("/sys/kernel/btf/vmlinux")
"""The kernel's types (BTF), which it needs to load these programs."""


@dataclass(frozen=True)
class Attached:
    """The programs of an interface.

    Attributes:
        control: the registered congestion control, as in ``TCP_CONGESTION``; None: none.
        marks: of this host's own packets.
        strip: where the options are removed from arriving packets: ``"tc"``, or ``"xdp"`` in the
            driver.
        pid: the process that holds the programs.
    """

    interface: str
    control: str | None
    marks: tuple[str, ...]
    strip: str
    pid: int


def loader() -> str:
    """The path of the loader: from ``$WAYMARK_KERNEL``, in this Python's folder, or on ``PATH``.

    Raises:
        WaymarkError: it was not built.
    """
    beside = Path(sys.executable).parent / LOADER
    named = os.environ.get("WAYMARK_KERNEL") or (str(beside) if beside.exists() else LOADER)
    path = shutil.which(named)
    if path is None:
        raise WaymarkError(f"no program {named}: build it with make kernel, which installs clang")
    return path


def marks_of(control: str | None) -> tuple[str, ...]:
    """The marks that a control reads; AQT if it reads none, or without a control."""
    described = BY_NAME.get(control or "")
    read = described.marks if described else ()
    return tuple(MARKS[mark] for mark in read if mark in MARKS) or ("aqt",)


def attach(
    interface: str,
    control: str | None,
    marks: Sequence[str] | None = None,
    *,
    xdp: bool = False,
) -> Attached:
    """Attach the programs to an interface, and register a control.

    Args:
        interface: an Ethernet interface.
        control: its name in the registry of controls; None: register none.
        marks: the marks that this host's packets carry; None: :func:`marks_of` the control.
        xdp: remove the options in the driver, before packets are merged.

    Raises:
        WaymarkError: the loader was not built, or it refuses.
    """
    carried = ",".join(marks or marks_of(control))
    return _attached(_run("attach", interface, control or "-", carried, "xdp" if xdp else "tc"))


def detach(interface: str) -> None:
    """Detach the programs from an interface.

    Raises:
        WaymarkError: the loader was not built, or the interface does not have them.
    """
    _run("detach", interface)


def status() -> list[Attached]:
    """The programs attached to the interfaces of this network namespace.

    Raises:
        WaymarkError: the loader was not built.
    """
    return [_attached(one) for one in _run("status")]


def controls() -> list[str]:
    """The controls that the loader can register.

    Raises:
        WaymarkError: the loader was not built.
    """
    return _run("controls")


def kernel_name(control: str) -> str:
    """The name by which connections choose a control: ``wm_rovegas`` for ``rovegas``.

    Args:
        control: one of the loader's, or one of the kernel's, such as ``reno``.

    Raises:
        WaymarkError: the loader was not built, or there is no such control.
    """
    known = controls()
    own = [name for name in ALLOWED.read_text().split() if not name.startswith(PREFIX)]
    if control in known:
        return PREFIX + control
    if control not in own:
        raise WaymarkError(
            f"no control {control!r} for Linux's TCP; valid: {', '.join(sorted({*known, *own}))}"
        )
    return control


def holder(interface: str, control: str) -> list[str]:
    """A command that holds the programs of an interface, and a control, until it ends.

    It prints ``READY`` once they are attached. Otherwise as :func:`attach`.

    Args:
        interface: an Ethernet interface of the namespace where the command is run.
        control: as for :func:`kernel_name`.
    """
    registered = control if control in controls() else "-"
    return [loader(), "hold", interface, registered, ",".join(marks_of(control))]


def _attached(data: Any) -> Attached:
    return Attached(**data | {"marks": tuple(data["marks"])})


def _run(*arguments: str) -> Any:
    ran = subprocess.run([loader(), *arguments], capture_output=True, text=True)
    if ran.returncode != 0:
        raise WaymarkError(ran.stderr.strip().removeprefix("error: "))
    return json.loads(ran.stdout) if ran.stdout else None
