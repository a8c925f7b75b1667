//! The numbers of ports in the project's programs for v1model; `p4src/include` and `waymark/ports.py` have the
//! same, which `tests/test_ports.py` compares.

/// The controller's port.
pub const CPU_PORT: u16 = 510;

/// The largest port that a link may have.
pub const MAX_PORT: u16 = 509;
