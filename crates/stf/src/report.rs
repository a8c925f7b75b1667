//! The results of running a script.

use crate::{Comparison, Expected, Quantity};
use engine::CompileError;
use std::fmt;

/// The results of running a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// All differences from the script.
    pub failures: Vec<Failure>,
    /// Packets that the script sent in.
    pub packets_in: usize,
    /// Packets that were sent through the ports that are compared.
    pub packets_out: usize,
    /// Packets and counters that were as expected.
    pub passed: usize,
}

/// A difference from the script.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The program cannot be run.
    Program(CompileError),
    /// A command was rejected.
    Command {
        /// Its line.
        line: u32,
        /// Why.
        message: String,
    },
    /// A packet differs from what was expected.
    Differs {
        /// The line that expects it.
        line: u32,
        /// The egress port.
        port: u16,
        /// The expected packet.
        expected: Expected,
        /// The packet that was sent.
        found: Vec<u8>,
    },
    /// An expected packet was not sent.
    Missing {
        /// The line that expects it.
        line: u32,
        /// The egress port.
        port: u16,
        /// The expected packet. `None` means any packet.
        expected: Option<Expected>,
    },
    /// A packet was sent that the script does not expect.
    Unexpected {
        /// The line of the packet after which it was sent.
        after: u32,
        /// The egress port.
        port: u16,
        /// The packet that was sent.
        found: Vec<u8>,
    },
    /// The engine panicked, which is a bug of the engine, not of the script.
    Panic {
        /// The line of the packet.
        line: u32,
        /// The block.
        block: &'static str,
        /// The panic message.
        message: String,
    },
    /// A counter does not have its expected value.
    Counter {
        /// The line that checks it.
        line: u32,
        /// Its name.
        counter: String,
        /// The expected relation.
        check: (Quantity, Comparison, u64),
        /// The value of the counter.
        found: u64,
    },
}

impl Report {
    /// Whether there were no differences from the script.
    pub fn is_ok(&self) -> bool {
        self.failures.is_empty()
    }

    /// The packets and counters that the script expects.
    pub fn expected(&self) -> usize {
        let unmet = |failure: &&Failure| {
            matches!(
                failure,
                Failure::Differs { .. } | Failure::Missing { .. } | Failure::Counter { .. }
            )
        };
        self.passed + self.failures.iter().filter(unmet).count()
    }
}

impl Failure {
    /// The line of the script. `None` means the whole script.
    pub fn line(&self) -> Option<u32> {
        match self {
            Failure::Program(_) => None,
            Failure::Command { line, .. }
            | Failure::Differs { line, .. }
            | Failure::Missing { line, .. }
            | Failure::Unexpected { after: line, .. }
            | Failure::Panic { line, .. }
            | Failure::Counter { line, .. } => Some(*line),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        let Report {
            packets_in,
            packets_out,
            passed,
            failures,
        } = self;
        let failed = failures.len();
        write!(
            f,
            "{packets_in} packets in, {packets_out} out: {passed} passed, {failed} failed"
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program(error) => write!(f, "the program cannot be run: {error}"),
            Failure::Command { line, message } => write!(f, "line {line}: {message}"),
            Failure::Differs {
                line,
                port,
                expected,
                found,
            } => {
                writeln!(f, "line {line}: the packet at port {port} differs")?;
                diff(f, expected, found)
            }
            Failure::Missing {
                line,
                port,
                expected,
            } => {
                write!(
                    f,
                    "line {line}: expected a packet at port {port}, found none"
                )?;
                match expected {
                    None => Ok(()),
                    Some(expected) => write!(f, "\n  expected {}", spaced(&digits(expected))),
                }
            }
            Failure::Unexpected { after, port, found } => {
                let found = spaced(&hex(found));
                write!(f, "line {after}: unexpected packet at port {port}")?;
                write!(f, "\n  found    {found}")
            }
            Failure::Panic {
                line,
                block,
                message,
            } => write!(
                f,
                "line {line}: the engine panicked in {block} and dropped the packet: {message}"
            ),
            Failure::Counter {
                line,
                counter,
                check: (quantity, comparison, number),
                found,
            } => {
                let quantity = match quantity {
                    Quantity::Packets => "packets",
                    Quantity::Octets => "bytes",
                };
                let symbol = comparison.symbol();
                write!(
                    f,
                    "line {line}: {counter} has {found} {quantity}, not {symbol} {number}"
                )
            }
        }
    }
}

/// Formats both packets with carets below the digits that differ.
fn diff(f: &mut fmt::Formatter<'_>, expected: &Expected, found: &[u8]) -> fmt::Result {
    let (want, got) = (digits(expected), hex(found));
    let length = want.len().max(if expected.exact { got.len() } else { 0 });
    let marks: String = (0..length)
        .map(|i| match (want.as_bytes().get(i), got.as_bytes().get(i)) {
            (Some(b'*'), Some(_)) => ' ',
            (want, got) if want == got => ' ',
            _ => '^',
        })
        .collect();
    writeln!(f, "  expected {}", spaced(&want))?;
    writeln!(f, "  found    {}", spaced(&got))?;
    write!(f, "           {}", spaced(&marks).trim_end())
}

fn digits(expected: &Expected) -> String {
    let digit = |nibble: &Option<u8>| match nibble {
        None => '*',
        Some(nibble) => char::from_digit(*nibble as u32, 16).unwrap_or('?'),
    };
    expected.nibbles.iter().map(digit).collect()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// A space after every fourth octet.
fn spaced(digits: &str) -> String {
    let digits: Vec<char> = digits.chars().collect();
    digits
        .chunks(8)
        .map(String::from_iter)
        .collect::<Vec<_>>()
        .join(" ")
}
