//! Traces of packets in a script, as data (serde) and as text for a terminal.

use engine::{Entry, EntryAction, Match, TraceEvent, Tracer};
use num_bigint::BigUint;
use p4_ir::{Program, SourceLoc};
use serde::Serialize;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use units::Instant;

/// The trace of a script's packets, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Trace {
    /// The steps, in the order of time.
    pub steps: Vec<Step>,
}

/// A step on the path of a packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Virtual time, in nanoseconds since the start of the script.
    pub time_ns: u64,
    /// The line of the script that sent the packet. Copies of the packet have the same.
    pub packet_line: u64,
    /// The event.
    #[serde(flatten)]
    pub what: What,
    /// The location in the program's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// A location in the program's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file's name as passed to the compiler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The events of a packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// It was sent into a port.
    Arrive {
        /// The port.
        port: u16,
    },
    /// A parser state was entered.
    State {
        /// Its name.
        state: String,
    },
    /// The parser rejected it.
    Reject {
        /// The error.
        error: String,
    },
    /// A table was applied.
    Table {
        /// Its control-plane name.
        table: String,
        /// The values of the key.
        key: Vec<KeyField>,
        /// Whether an entry matched.
        hit: bool,
        /// That entry.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry: Option<Hit>,
        /// The action that runs.
        action: String,
    },
    /// A loop reached its iteration limit and was left.
    LoopCut {
        /// The number of iterations.
        rounds: u32,
    },
    /// It joined a queue.
    Enqueue {
        /// The egress port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Packets that waited there already.
        depth: u32,
    },
    /// It left a queue.
    Dequeue {
        /// The egress port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Packets that still waited there.
        depth: u32,
        /// How long it waited, in nanoseconds.
        wait_ns: u64,
    },
    /// It was dropped.
    Drop {
        /// The port.
        port: u16,
        /// Why.
        cause: &'static str,
    },
    /// It left the switch.
    Send {
        /// The port.
        port: u16,
        /// The octets, in hexadecimal.
        octets: String,
    },
}

/// A value that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyField {
    /// The key's control-plane name.
    pub name: String,
    /// The value, in hexadecimal.
    pub value: String,
}

/// An entry that matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// A set for each key except selector keys: `0x0a000000/8`, `0x1 &&& 0xf`, `0x1..0x9`, `_`.
    pub matches: Vec<String>,
    /// Its priority; the largest wins. 0 if the table has no priorities.
    pub priority: u32,
    /// The action's data, or the member or group of its action profile.
    pub data: Vec<String>,
}

/// Records the trace events of a program, as the tracer of a switch. All clones write to the same trace.
#[derive(Clone, Debug)]
pub struct Recorder {
    program: Arc<Program>,
    trace: Arc<Mutex<Trace>>,
}

impl Recorder {
    /// Creates a recorder with an empty trace, for packets in this program.
    pub fn new(program: &Program) -> Self {
        Recorder {
            program: Arc::new(program.clone()),
            trace: Arc::default(),
        }
    }

    /// Removes and returns the trace so far. The `packet_line` of a step is the tag of its packet.
    pub fn take(&self) -> Trace {
        std::mem::take(&mut *self.trace.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn sent(&self, at: Instant, tag: u64, port: u16, octets: &[u8]) {
        let octets = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        self.push(at, tag, What::Send { port, octets }, None);
    }

    fn push(&self, at: Instant, tag: u64, what: What, loc: Option<SourceLoc>) {
        let place = loc.filter(|loc| loc.line != 0).and_then(|loc| {
            Some(Source {
                file: self.program.files.get(loc.file as usize)?.clone(),
                line: loc.line,
                column: loc.column,
            })
        });
        let step = Step {
            time_ns: at.as_nanos(),
            packet_line: tag,
            what,
            source: place,
        };
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.steps.push(step);
    }
}

impl Tracer for Recorder {
    fn event(&mut self, now: Instant, tag: u64, event: TraceEvent<'_>) {
        let (what, loc) = match event {
            TraceEvent::Arrive { port } => (What::Arrive { port }, None),
            TraceEvent::State { name, loc } => {
                let state = name.to_owned();
                (What::State { state }, Some(loc))
            }
            TraceEvent::Reject { error, loc } => {
                let error = error.to_owned();
                (What::Reject { error }, Some(loc))
            }
            TraceEvent::Table {
                table,
                key,
                entry,
                action,
                loc,
            } => {
                let definition = &self.program[table];
                let names = definition.keys.iter().map(|key| key.name.clone());
                let key = names.zip(key).map(|(name, words)| KeyField {
                    name,
                    value: hexadecimal(words),
                });
                let what = What::Table {
                    table: definition.name.clone(),
                    key: key.collect(),
                    hit: entry.is_some(),
                    entry: entry.map(hit),
                    action: self.program[action].name.clone(),
                };
                let declared = definition.loc;
                (what, Some(if loc.line == 0 { declared } else { loc }))
            }
            TraceEvent::LoopCut { rounds, loc } => (What::LoopCut { rounds }, Some(loc)),
            TraceEvent::Enqueue {
                port,
                priority,
                depth,
            } => {
                let queue = priority;
                (What::Enqueue { port, queue, depth }, None)
            }
            TraceEvent::Dequeue {
                port,
                priority,
                depth,
                enqueued,
            } => {
                let what = What::Dequeue {
                    port,
                    queue: priority,
                    depth,
                    wait_ns: now.as_nanos().saturating_sub(enqueued.as_nanos()),
                };
                (what, None)
            }
            TraceEvent::Drop { cause, port } => {
                let cause = cause.name();
                (What::Drop { port, cause }, None)
            }
        };
        self.push(now, tag, what, loc);
    }
}

fn hexadecimal(words: &[u64]) -> String {
    let halves = words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]);
    format!("{:#x}", BigUint::new(halves.collect()))
}

fn hit(entry: &Entry) -> Hit {
    let data = match &entry.action {
        EntryAction::Run(spec) => spec.args.iter().map(|arg| format!("{arg:#x}")).collect(),
        EntryAction::Member(member) => vec![format!("member {member}")],
        EntryAction::Group(group) => vec![format!("group {group}")],
        EntryAction::OneShot(actions) => vec![format!("one of {} actions", actions.len())],
    };
    Hit {
        matches: entry.matches.iter().map(set).collect(),
        priority: entry.priority,
        data,
    }
}

fn set(set: &Match) -> String {
    match set {
        Match::Any => "_".into(),
        Match::Exact(value) => format!("{value:#x}"),
        Match::Lpm { value, prefix } => format!("{value:#x}/{prefix}"),
        Match::Ternary { value, mask } => format!("{value:#x} &&& {mask:#x}"),
        Match::Range { low, high } => format!("{low:#x}..{high:#x}"),
    }
}

impl fmt::Display for Trace {
    /// Formats a paragraph per packet that was sent in, and a line per step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            if let What::Arrive { port } = step.what {
                let ms = step.time_ns as f64 / 1e6;
                let line = step.packet_line;
                writeln!(f, "line {line}: packet into port {port} at {ms} ms")?;
                continue;
            }
            let text = format!("  {}", step.what);
            match &step.source {
                None => writeln!(f, "{text}")?,
                Some(Source { file, line, .. }) => {
                    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
                    writeln!(f, "{text:<70} {name}:{line}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Arrive { port } => write!(f, "arrive   port {port}"),
            What::State { state } => write!(f, "state    {state}"),
            What::Reject { error } => write!(f, "reject   {error}"),
            What::Table {
                table,
                key,
                entry,
                action,
                ..
            } => {
                write!(f, "table    {table}")?;
                for KeyField { name, value } in key {
                    write!(f, " {name}={value}")?;
                }
                match entry {
                    None => write!(f, ": miss, {action}"),
                    Some(Hit { matches, data, .. }) => {
                        let (matches, data) = (matches.join(", "), data.join(", "));
                        write!(f, ": hit {matches} -> {action}({data})")
                    }
                }
            }
            What::LoopCut { rounds } => write!(f, "cut      loop after {rounds} rounds"),
            What::Enqueue { port, queue, depth } => {
                write!(f, "enqueue  port {port} queue {queue}: {depth} waiting")
            }
            What::Dequeue {
                port,
                queue,
                depth,
                wait_ns,
            } => write!(
                f,
                "dequeue  port {port} queue {queue}: waited {wait_ns} ns, {depth} waiting"
            ),
            What::Drop { port, cause } => write!(f, "drop     port {port}: {cause}"),
            What::Send { port, octets } => {
                write!(f, "send     port {port}: {} octets", octets.len() / 2)
            }
        }
    }
}
