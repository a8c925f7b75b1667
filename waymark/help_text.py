"""Examples of commands, as ``--help`` shows them."""


def examples(*commands: str) -> str:
    """An epilog with these commands, one per line."""
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))
