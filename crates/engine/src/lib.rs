//! Runs P4 programs on the architecture that their package selects.
//!
//! ```no_run
//! # use engine::{Match, Packet, PortConfig, Switch, SwitchConfig};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let program = p4_ir::Program::default();
//! let mut switch = Switch::new(&program, SwitchConfig::default()).map_err(|e| e[0].clone())?;
//! switch.set_port(2, PortConfig::default());
//! switch.add("route", &[("hdr.ipv4.dst", Match::lpm(0x0a000000_u32, 8))], 0,
//!            "forward", &[("port", 2_u32.into())])?;
//! # Ok(())
//! # }
//! ```
//!
//! # How to add an architecture
//!
//! Write a crate with a type that implements [`p4_vm::Architecture`] (blocks, externs, objects) and
//! [`switch::Forwarding`] (the path between ports and queues); `v1model` is an example. Then add it to
//! [`ARCHITECTURES`]. No other code names an architecture.

pub mod ports;

pub use p4_vm::{
    ActionSpec, CompileError, ControlError, CounterData, CrcParameters, CrcWidth, Digest, DirectOf,
    DraftScope, Drop, DropCause, DropCounts, Entry, EntryAction, Event, FilterConfig, Group, Log,
    Machine, Match, Member, MeterConfig, Octets, Packet, Panic, RegisterCells, Remains, TraceEvent,
    Tracer,
};
pub use switch::{
    AppId, CloneSession, GeneratorApp, MAX_QUEUES, PortConfig, PortStats, Registration, Replica,
    Scheduling, SwitchConfig, Target, Transmit, Trigger,
};

pub use tna::{CPU_PORT, DEFLECTION_PORT, DEFLECTION_QUEUE};
pub use v1model::DROP_PORT;

use p4_ir::{Program, SourceLoc};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use switch::Translated;

/// The supported architectures.
pub const ARCHITECTURES: &[Registration] = &[
    v1model::REGISTRATION,
    psa::REGISTRATION,
    tna::TNA,
    tna::T2NA,
];

/// The architecture of a program, if it is supported.
pub fn architecture(program: &Program) -> Option<&'static Registration> {
    ARCHITECTURES.iter().find(|known| (known.runs)(program))
}

/// The error message for a program whose architecture is not supported.
pub fn refusal(program: &Program) -> String {
    let known = ARCHITECTURES
        .iter()
        .map(|known| format!("`{}`, the package of {}", known.package, known.include));
    format!(
        "the switch cannot run a program for the package `{}`; it runs programs for {}",
        program.package,
        known.collect::<Vec<_>>().join(", and for ")
    )
}

/// A program translated for its architecture. Switches that run the same program share one.
#[derive(Debug)]
pub struct Pipeline(Arc<dyn Translated>);

impl Pipeline {
    /// Translates a program. Errors state what its architecture supports.
    pub fn compile(program: &Program) -> Result<Arc<Pipeline>, Vec<CompileError>> {
        let Some(known) = architecture(program) else {
            return Err(vec![CompileError {
                loc: SourceLoc::default(),
                message: refusal(program),
            }]);
        };
        Ok(Arc::new(Pipeline((known.compile)(program)?)))
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.0.program()
    }
}

/// A switch that runs a program on its architecture. See [`Target`] for its operation, and [`Machine`] for the
/// operations of a control plane.
#[derive(Debug)]
pub struct Switch(Box<dyn Target>);

impl Switch {
    /// Creates a switch that runs `program`, with its constant entries installed.
    pub fn new(program: &Program, config: SwitchConfig) -> Result<Switch, Vec<CompileError>> {
        Ok(Switch::with_pipeline(Pipeline::compile(program)?, config))
    }

    /// Creates a switch that runs a translated program.
    pub fn with_pipeline(pipeline: Arc<Pipeline>, config: SwitchConfig) -> Switch {
        Switch(pipeline.0.clone().switch(config))
    }
}

impl Deref for Switch {
    type Target = dyn Target;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Switch {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}
