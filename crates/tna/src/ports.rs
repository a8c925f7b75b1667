//! Numbers of ports: the pipe in the two upper of nine bits, the port of the pipe in the others.

use crate::generation::Generation;

/// Bits of a number that count the ports of a pipe.
const PIPE_SHIFT: u32 = 7;

/// The greatest number of a port.
const MAX: u64 = 0x1ff;

/// What `ucast_egress_port` holds unless the program sets it. Tofino has a valid bit instead; no pipe has 128 ports, so
/// this is none.
pub const NONE: u64 = MAX;

/// Pipes of the hardware.
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

/// Whether what leaves through a port comes back to ingress through it.
pub fn recirculates(port: u16, generation: Generation) -> bool {
    let port = in_pipe(port);
    match generation {
        Generation::Tofino1 => (68..=71).contains(&port),
        Generation::Tofino2 => (6..=7).contains(&port),
    }
}

/// The port, if there can be one of this number.
pub fn of_program(port: u64) -> Option<u16> {
    match port {
        NONE => None,
        0..MAX => Some(port as u16),
        _ => None,
    }
}
