//! Port numbers: the upper two of nine bits are the pipe, the others the port within the pipe.

use crate::generation::Generation;

/// Number of bits for the port within a pipe.
const PIPE_SHIFT: u32 = 7;

/// The largest port number.
const MAX: u64 = 0x1ff;

/// The value of `ucast_egress_port` unless the program sets it. Tofino has a valid bit instead. No pipe has 128 ports,
/// so this is not a port.
pub const NONE: u64 = MAX;

/// Number of pipes of the hardware.
pub const PIPES: usize = 4;

/// The pipe of a port.
pub fn pipe(port: u16) -> usize {
    usize::from(port >> PIPE_SHIFT) % PIPES
}

/// The port's number within its pipe.
pub fn in_pipe(port: u16) -> u64 {
    u64::from(port) & ((1 << PIPE_SHIFT) - 1)
}

/// The port of this number within a pipe.
pub fn of_pipe(pipe: usize, port: u64) -> u16 {
    (pipe << PIPE_SHIFT) as u16 | port as u16 & ((1 << PIPE_SHIFT) - 1)
}

/// Whether packets that leave through a port return to ingress through it.
pub fn recirculates(port: u16, generation: Generation) -> bool {
    let port = in_pipe(port);
    match generation {
        Generation::Tofino1 => (68..=71).contains(&port),
        Generation::Tofino2 => (6..=7).contains(&port),
    }
}

/// The port with this number, if it is valid.
pub fn of_program(port: u64) -> Option<u16> {
    match port {
        NONE => None,
        0..MAX => Some(port as u16),
        _ => None,
    }
}
