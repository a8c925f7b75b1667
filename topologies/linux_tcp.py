"""Linux's own TCP carries the marks at the hosts of a network (``waymark kernel``)."""

from collections.abc import Callable, Iterable

from topologies import system
from topologies.state import State
from waymark import kernel
from waymark.errors import WaymarkError


def check(control: str, *, bare: bool) -> None:
    """Whether hosts can use ``control``.

    Raises:
        WaymarkError: they have no kernel addresses, the loader was not built, or there is no such
            control.
    """
    if bare:
        raise WaymarkError("--bare leaves hosts without kernel addresses; --kernel needs them")
    kernel.kernel_name(control)


def use(
    state: State, control: str, hosts: Iterable[str], prefix: Callable[[str], list[str]]
) -> None:
    """Attach the programs at hosts, and choose a congestion control for new connections.

    Args:
        state: a network whose hosts have addresses.
        control: one of the loader or of the kernel.
        hosts: where.
        prefix: the prefix of a command that runs at a host.

    Raises:
        WaymarkError: the kernel refuses.
    """
    chosen = kernel.kernel_name(control)
    for host in hosts:
        holder = kernel.holder(state.places[host]["interface"], control)
        system.start(state, f"kernel-{host}", [*prefix(host), *holder], kernel.READY)
        # Writing the default again is not permitted in a namespace.
        if system.run(*prefix(host), "sysctl", "-n", kernel.SYSCTL).strip() != chosen:
            system.run(*prefix(host), "sysctl", "-qw", f"{kernel.SYSCTL}={chosen}")
    state.kernel = chosen
    state.save()
