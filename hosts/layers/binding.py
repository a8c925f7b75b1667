"""How Scapy learns of options whose number alone does not tell them apart."""

from collections.abc import Callable
from typing import Any, cast

from scapy.layers.inet import IPOption
from scapy.packet import Packet


def bind_options(*options: type[IPOption]) -> None:
    """Dissects ``options`` by their whole type octet, and only at their own length.

    Any other length is malformed, and Scapy's own choice as it was before.
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
