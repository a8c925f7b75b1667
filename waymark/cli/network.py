"""``waymark up``, ``down``, ``exec``, ``status``: a topology on this machine's interfaces."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waymark import files
from waymark.cli.base import EXIT_FAILED, EXIT_INTERRUPTED, app
from waymark.errors import WaymarkError
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json
from waymark.topology import Topology


class Runner(StrEnum):
    """``--runner``."""

    NETNS = "netns"
    MININET = "mininet"


class TargetName(StrEnum):
    """``--target``."""

    EMBEDDED = "embedded"
    BMV2 = "bmv2"


Network = Annotated[
    str | None, typer.Option("--network", metavar="NAME", help="The network, if several are up.")
]


@app.command(
    "up",
    epilog=examples(
        "waymark up topologies/bottleneck.yaml --bare",
        "waymark up topologies/bottleneck.yaml --kernel rovegas",
        "waymark up topology.json --target bmv2 --p4 s1=basic.p4",
    ),
)
def bring_up(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A topology file, such as topologies/*.yaml or topology.json."
        ),
    ],
    runner: Annotated[Runner, typer.Option(help="How hosts are created.")] = Runner.NETNS,
    target: Annotated[TargetName, typer.Option(help="The switch software.")] = TargetName.EMBEDDED,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the network. Default: that of the file."),
    ] = None,
    p4: Annotated[
        list[str] | None,
        typer.Option("--p4", metavar="[SWITCH=]F.p4", help="Program of all switches, or of one."),
    ] = None,
    bare: Annotated[
        bool, typer.Option("--bare", help="Hosts without kernel addresses, for `waymark host`.")
    ] = False,
    kernel: Annotated[
        str,
        typer.Option(
            metavar="CONTROL",
            help="Hosts use Linux TCP with this control and carry marks; see waymark kernel.",
        ),
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, help="Seed of random losses on links.")
    ] = 1,
) -> None:
    """Create a network on interfaces, with configured switches.

    Needs root.
    """
    from topologies import runners, tutorial

    topology = Topology.load(file)
    topology = tutorial.with_programs(topology, _programs(topology, p4 or []))
    name = name or file.stem
    try:
        state = runners.up(
            topology,
            file,
            name,
            runner.value,
            target.value,
            bare=bare,
            seed=seed,
            kernel=kernel,
        )
    except KeyboardInterrupt:
        print(f"interrupted: {name} is not up; everything was removed", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    for complaint in state.complaints:
        print(f"warning: {complaint}", file=sys.stderr)
    print(runners.summary(state))


def _programs(topology: Topology, named: list[str]) -> dict[str, str]:
    """``--p4``: the program of each named switch; an option for one switch takes precedence."""
    known = [switch.name for switch in topology.switches]
    of_all: dict[str, str] = {}
    of_one: dict[str, str] = {}
    for text in named:
        name, found, program = text.partition("=")
        if not found:
            name, program = "", text
        elif name not in known:
            raise WaymarkError(
                f"--p4 {text}: no switch {name!r}; switches: {', '.join(known) or 'none'}"
            )
        path = str(Path(program).resolve()) if files.is_file(Path(program)) else program
        if name:
            of_one[name] = path
        else:
            of_all = dict.fromkeys(known, path)
    return of_all | of_one


@app.command(
    "down",
    epilog=examples(
        "waymark down bottleneck",
        "waymark down --all",
    ),
)
def take_down(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE", help="Default: the only network that is up."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Take all networks down.")] = False,
) -> None:
    """Take a network down: processes, interfaces, namespaces, files."""
    from topologies import networks, runners

    if everything:
        found = [networks.load(one) for one in networks.names()]
    elif name is None:
        found = [networks.only("waymark down NAME, or --all")]
    else:
        known = networks.names()
        found = [networks.load(name if name in known else Path(name).stem)]
    for one in found:
        runners.down(one)
        print(f"{one.name} is down")


# Arguments after the node belong to the command, including --help.
@app.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples("waymark exec s1 ping 10.0.0.2", "waymark exec r1 ip -s link"),
)
def run_at_node(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A host or a switch.")],
    command: Annotated[
        list[str], typer.Argument(metavar="CMD…", help="The command and its arguments.")
    ],
    network: Network = None,
) -> None:
    """Run a command at a host or a switch of a network that is up.

    The command resolves the hosts' names: waymark exec h1 ping h2.
    """
    from topologies import names, networks, runners

    one = networks.only() if network is None else networks.load(network)
    words = [*runners.prefix(one, node), *names.prefix(one), *command]
    try:
        os.execvp(words[0], words)
    except OSError as error:
        raise WaymarkError(f"{words[0]}: {error.strerror}") from error


@app.command(
    "status",
    epilog=examples(
        "waymark status --json",
    ),
)
def show_status(as_json: AsJson = False) -> None:
    """Show the networks that are up. The exit code is 1 if a process of one has stopped."""
    from topologies import networks, runners

    up = [networks.load(name) for name in networks.names()]
    if as_json:
        print_json([runners.as_data(one) for one in up])
    else:
        for one in up:
            print(runners.summary(one))
        if not up:
            print("no network is up")
    if any(runners.amiss(one) for one in up):
        raise typer.Exit(EXIT_FAILED)
