"""The pipeline of a switch: P4Info, device config, and a cookie computed from both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from finsy.p4schema import P4Schema
from finsy.proto import p4i, p4r
from google.protobuf import text_format

from controller import codec
from controller.config import SwitchConfig
from controller.replication import DefaultAction
from waymark import architecture, files, project
from waymark.architecture import Architecture
from waymark.errors import WaymarkError
from waymark.program import compile_file

_LINE_MARKER = re.compile(rb'^# \d+ ".*"$', re.MULTILINE)
"""Paths in preprocessed text. They are ignored: a program is the same in any folder."""


@dataclass(frozen=True)
class Pipeline:
    """A forwarding pipeline config.

    Attributes:
        name: the program's name in the configuration.
        device_config: P4 source for the embedded switch, p4c's JSON for BMv2.
        cookie: as :func:`cookie_of`. A switch with an equal cookie needs no push.
        defaults: the program's own default actions, if P4Info has them.
    """

    name: str
    p4info: p4i.P4Info
    device_config: bytes
    cookie: int
    schema: P4Schema
    defaults: Sequence[DefaultAction] = ()

    @property
    def defaults_of(self) -> list[int]:
        """The tables whose default action can be set, without those of action profiles."""
        return [
            table.preamble.id
            for table in self.p4info.tables
            if table.const_default_action_id == 0 and table.implementation_id == 0
        ]

    @property
    def architecture(self) -> Architecture:
        """The architecture that its P4Info names."""
        return architecture.of(self.p4info.pkg_info.arch)

    @property
    def tables(self) -> list[str]:
        """The tables' names after the last dot."""
        return [table.alias for table in self.schema.tables]


def load(switch: SwitchConfig, folder: Path) -> Pipeline:
    """Read the pipeline of ``switch``.

    Args:
        switch: its configuration.
        folder: the folder that its files' paths are relative to.

    Raises:
        WaymarkError: a file is missing, or has the wrong format.
        waymark._core.CompileError: the program has errors.
    """
    p4info = read_p4info(folder / switch.p4info) if switch.p4info else None
    device_config = _read(folder / switch.device_config) if switch.device_config else None
    if p4info is None or device_config is None:
        own = compiled(source_of(switch.program, folder))
        p4info, device_config = p4info or own[0], device_config or own[1]
    if switch.target == "bmv2" and not device_config.lstrip().startswith(b"{"):
        raise WaymarkError(f"{switch.device_config}: not JSON; valid: the output of p4c-bm2-ss")
    return make(switch.program, p4info, device_config)


def compiled(source: Path) -> tuple[p4i.P4Info, bytes]:
    """The P4Info of a program (the same as p4c's), and its preprocessed text.

    Raises:
        waymark._core.CompileError: the program has errors.
    """
    program = compile_file(source)
    return text_format.Parse(program.p4info(), p4i.P4Info()), program.source.encode()


def make(name: str, p4info: p4i.P4Info, device_config: bytes) -> Pipeline:
    """A pipeline from its parts."""
    cookie = cookie_of(p4info, device_config)
    schema = P4Schema()
    schema.set_p4info(p4info)
    return Pipeline(name, p4info, device_config, cookie, schema, _defaults(p4info, schema))


def cookie_of(p4info: p4i.P4Info, device_config: bytes) -> int:
    """A hash of both, never 0. The folder of the program has no influence."""
    octets = p4info.SerializeToString(deterministic=True)
    program = _LINE_MARKER.sub(b"", device_config)
    digest = sha256(len(octets).to_bytes(8, "big") + octets + program).digest()
    return int.from_bytes(digest[:8], "big") or 1


def _defaults(p4info: p4i.P4Info, schema: P4Schema) -> list[DefaultAction]:
    found: list[DefaultAction] = []
    for table in p4info.tables:
        call = table.initial_default_action
        if table.implementation_id or not call.action_id:
            continue
        action = p4r.Action(action_id=call.action_id)
        for argument in call.arguments:
            action.params.add(param_id=argument.param_id, value=argument.value)
        default = p4r.TableEntry(
            table_id=table.preamble.id,
            action=p4r.TableAction(action=action),
            is_default_action=True,
        )
        entry = codec.decode(default, schema)
        found.append(DefaultAction(entry.table, entry.action, entry.params))
    return found


def source_of(program: str, folder: Path) -> Path:
    """The P4 file of a program: relative to ``folder``, or else to ``p4src/``."""
    for path in (folder / program, project.program_path(program)):
        if files.is_file(path):
            return path
    p4src = project.program_path(".")
    programs = sorted(p.relative_to(p4src).as_posix() for p in p4src.glob("v1model/*.p4"))
    raise WaymarkError(f"no P4 program {program}; in p4src/: {', '.join(programs)}")


def read_p4info(path: Path) -> p4i.P4Info:
    """Read P4Info in protobuf text format."""
    try:
        return text_format.Parse(_read(path).decode(), p4i.P4Info())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise WaymarkError(f"{path}: not P4Info in text format: {error}") from error


def _read(path: Path) -> bytes:
    return files.read(path)
