"""The numbers of ports and queues in the project's programs for v1model.

A port has 9 bits. The same numbers are constants in ``p4src/include`` and in
``crates/engine/src/ports.rs``; ``tests/test_ports.py`` compares them.
"""

DROP_PORT = 511
"""The ``egress_spec`` that drops."""

CPU_PORT = 510
"""The controller's port."""

MAX_PORT = 509
"""The largest port that a link may have."""

PRIORITIES = 8
"""Queues of a port."""
