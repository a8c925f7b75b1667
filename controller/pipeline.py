"""What a switch is to run: P4Info, device config, and the cookie that names both."""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from finsy.p4schema import P4Schema
from finsy.proto import p4i
from google.protobuf import text_format

from controller.config import SwitchConfig
from waymark import project
from waymark.errors import WaymarkError
from waymark.program import compile_file

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)


@dataclass(frozen=True)
class Pipeline:
    """A forwarding pipeline config.

    Attributes:
        name: the program, as the configuration names it.
        device_config: P4 source for the embedded switch, p4c's JSON for BMv2.
        cookie: of the contents of both, never 0: equal cookies need no push.
    """

    name: str
    p4info: p4i.P4Info
    device_config: bytes
    cookie: int
    schema: P4Schema

    @property
    def tables(self) -> list[str]:
        """The tables' names, without what stands before the last dot."""
        return [table.alias for table in self.schema.tables]


def load(switch: SwitchConfig, folder: Path) -> Pipeline:
    """Read what ``switch`` is to run.

    Args:
        switch: its configuration.
        folder: what its files' paths are relative to.

    Raises:
        WaymarkError: a file is missing, or is not what it should be.
        waymark._core.CompileError: the program has errors.
    """
    if switch.p4info is None:
        p4info = p4info_of(source_of(switch.program, folder))
    else:
        p4info = read_p4info(folder / switch.p4info)
    if switch.device_config is None:
        device_config = one_text(source_of(switch.program, folder)).encode()
    else:
        device_config = _read(folder / switch.device_config)
    if switch.target == "bmv2" and not device_config.lstrip().startswith(b"{"):
        raise WaymarkError(f"{switch.device_config}: not JSON; valid: what p4c-bm2-ss writes")
    return make(switch.program, p4info, device_config)


def make(name: str, p4info: p4i.P4Info, device_config: bytes) -> Pipeline:
    """A pipeline of its parts."""
    octets = p4info.SerializeToString(deterministic=True)
    digest = sha256(len(octets).to_bytes(8, "big") + octets + device_config).digest()
    cookie = int.from_bytes(digest[:8], "big") or 1
    schema = P4Schema()
    schema.set_p4info(p4info)
    return Pipeline(name, p4info, device_config, cookie, schema)


def source_of(program: str, folder: Path) -> Path:
    """The P4 file of a program: relative to ``folder``, or else to ``p4src/``."""
    for path in (folder / program, project.program_path(program)):
        if path.is_file():
            return path
    p4src = project.program_path(".")
    mains = sorted(p.relative_to(p4src).as_posix() for p in p4src.glob("v1model/*.p4"))
    raise WaymarkError(f"no P4 program {program}; in p4src/: {', '.join(mains)}")


def p4info_of(source: Path) -> p4i.P4Info:
    """P4Info as the embedded compiler makes it of a program, and p4c does.

    Raises:
        waymark._core.CompileError: the program has errors.
    """
    return text_format.Parse(compile_file(source).p4info(), p4i.P4Info())


def read_p4info(path: Path) -> p4i.P4Info:
    """P4Info in protobuf's text format."""
    try:
        return text_format.Parse(_read(path).decode(), p4i.P4Info())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise WaymarkError(f"{path}: not P4Info in text format: {error}") from error


def one_text(path: Path) -> str:
    """A P4 program in one text, each file that it includes in quotes put in once.

    ``#include <core.p4>`` and the like stay: the target has its own.
    """
    seen: set[Path] = set()

    def text_of(file: Path) -> str:
        seen.add(file)

        def included(match: re.Match[str]) -> str:
            inner = (file.parent / match[1]).resolve()
            return "" if inner in seen else text_of(inner)

        return _INCLUDE.sub(included, _read(file).decode())

    return text_of(path.resolve())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WaymarkError(f"{path}: {error.strerror}") from error
