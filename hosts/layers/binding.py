"""Binds options that share a number to Scapy by their type octet."""

from collections.abc import Callable
from typing import Any, cast

from scapy.layers.inet import IPOption
from scapy.packet import Packet


def bind_options(*options: type[IPOption]) -> None:
    """Dissects ``options`` by their whole type octet, and only if their length is correct.

    Scapy dissects options of another length, which are malformed, as before.
    """
    by_start = {bytes(option())[:2]: option for option in options}
    by_number = cast(Callable[..., type[Packet]], IPOption.dispatch_hook)

    def dispatch_hook(
        _cls: type[IPOption], octets: bytes = b"", *args: Any, **kwargs: Any
    ) -> type[Packet]:
        option = by_start.get(octets[:2])
        if option is not None and octets[1] <= len(octets):
            return option
        return by_number(octets, *args, **kwargs)

    IPOption.dispatch_hook = classmethod(dispatch_hook)  # pyright: ignore[reportAttributeAccessIssue]
