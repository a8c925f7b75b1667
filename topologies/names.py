"""Names of a network's hosts, for commands that run in it: ``ping h2``."""

from pathlib import Path

from topologies.state import State

_FILE = "hosts"
_SYSTEM = Path("/etc/hosts")
# Without -n, mount leaves a note in /run/mount.
_BIND = f'mount -n --bind "$0" {_SYSTEM} && exec "$@"'


def write(state: State) -> None:
    """Write the network's hosts, and the machine's own entries, in the format of hosts(5)."""
    lines = [
        f"{place['address'].partition('/')[0]}\t{name}" for name, place in state.places.items()
    ]
    own = _SYSTEM.read_text(encoding="utf-8", errors="replace") if _SYSTEM.exists() else ""
    text = "\n".join([*lines, own])
    (state.folder / _FILE).write_text(text, encoding="utf-8")


def prefix(state: State) -> list[str]:
    """The prefix of a command that lets it resolve the hosts' names.

    The command runs in a separate mount namespace, where ``/etc/hosts`` is the network's.
    """
    file = state.folder / _FILE
    if not (file.is_file() and _SYSTEM.is_file()):
        return []
    return ["unshare", "--mount", "sh", "-c", _BIND, str(file)]
