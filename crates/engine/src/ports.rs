//! The port numbers in the project's programs for v1model. `p4src/include` and `waymark/ports.py` define the same
//! numbers; `tests/test_ports.py` compares them.

/// The controller's port.
pub const CPU_PORT: u16 = 510;

/// The largest port number of a link.
pub const MAX_PORT: u16 = 509;
