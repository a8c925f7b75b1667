//! A translated program, and the state with which a switch starts.

use crate::code::Target;
use crate::compile::{Compiled, compile};
use crate::crc::CustomCrc;
use crate::object::Object;
use crate::table::{DirectObjects, Origin, Outcome, TableState, prepare, source_entries};
use crate::value_set::ValueSetState;
use crate::vm::{self, Job, Limits, Machine};
use crate::{ActionSpec, Architecture, CompileError, ControlError, EntryAction, Packet};
use p4_ir::{Program, TableId};
use std::sync::Arc;
use units::Instant;

/// A translated program. Switches that run the same program share it.
#[derive(Debug)]
pub struct Pipeline<A: Architecture> {
    program: Arc<Program>,
    compiled: Compiled<A>,
}

impl<A: Architecture> Pipeline<A> {
    /// Translates a program. Errors state what the architecture supports.
    pub fn compile(program: &Program) -> Result<Arc<Self>, Vec<CompileError>> {
        let compiled = compile(program)?;
        #[cfg_attr(not(feature = "native"), expect(unused_mut))]
        let mut pipeline = Pipeline {
            program: Arc::new(program.clone()),
            compiled,
        };
        // Errors in tables and objects are found when they are created.
        let _machine = pipeline.machine(Limits::default())?;
        #[cfg(feature = "native")]
        vm::native::compile(&mut pipeline.compiled, &_machine);
        Ok(Arc::new(pipeline))
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the architecture knows about the program.
    #[inline]
    pub fn layout(&self) -> &A::Layout {
        &self.compiled.layout
    }

    /// A call of an extern that only the architecture has, by number.
    pub fn call(&self, number: u32) -> &A::Call {
        &self.compiled.own[number as usize]
    }

    /// Whether the program calls externs that only the architecture has.
    #[inline]
    pub fn has_calls(&self) -> bool {
        !self.compiled.own.is_empty()
    }

    /// Words of a packet's variables. They are zero when the packet arrives.
    #[inline]
    pub fn variables(&self) -> usize {
        self.compiled.code.words
    }

    /// Whether the first sequence clears the variables itself, so that they need not be zero when a packet arrives.
    #[inline]
    pub fn clears_variables(&self, machine: &Machine) -> bool {
        vm::clears_variables(&self.compiled, machine)
    }

    /// The initial storage of a packet: variables, temporaries, then constants.
    pub fn storage(&self) -> Vec<u64> {
        let code = &self.compiled.code;
        let mut words = vec![0; code.constants_at];
        words.extend_from_slice(&code.constants);
        words
    }

    /// Runs a block. `job` records whether the parser rejected the packet, and why.
    #[inline]
    pub fn run(
        &self,
        architecture: &mut A,
        machine: &mut Machine,
        words: &mut [u64],
        job: &mut Job,
        block: Target,
    ) {
        vm::run(&self.compiled, architecture, machine, words, job, block);
    }

    /// Runs the blocks of the architecture's [sequence](Architecture::sequences) with this number. Returns whether it
    /// ran to its end.
    #[inline]
    pub fn run_all(
        &self,
        architecture: &mut A,
        machine: &mut Machine,
        words: &mut [u64],
        job: &mut Job,
        sequence: usize,
    ) -> bool {
        vm::run_all(&self.compiled, architecture, machine, words, job, sequence)
    }

    /// Clears the output of the deparser. [`finish`](Self::finish) builds a packet from it.
    #[inline]
    pub fn begin_deparser(&self, machine: &mut Machine) {
        machine.output.clear();
        machine.output.reserve(self.compiled.code.emitted);
    }

    /// Sets `packet` to the headers that a deparser emitted, followed by the unparsed payload, truncated to `truncate`
    /// octets.
    #[inline]
    pub fn finish(
        &self,
        machine: &mut Machine,
        job: &mut Job,
        packet: &mut Packet,
        truncate: Option<u32>,
    ) {
        vm::finish(&mut machine.output, job, packet, truncate);
    }

    /// Runs a deparser and sets `packet` to the headers that it emits, followed by the unparsed payload, truncated to
    /// `truncate` octets.
    #[inline]
    pub fn deparse(
        &self,
        architecture: &mut A,
        machine: &mut Machine,
        words: &mut [u64],
        job: &mut Job,
        block: Target,
        (packet, truncate): (&mut Packet, Option<u32>),
    ) {
        self.begin_deparser(machine);
        self.run(architecture, machine, words, job, block);
        self.finish(machine, job, packet, truncate);
    }

    /// Creates a machine: tables with the source's entries, and objects in their initial state.
    pub fn machine(&self, limits: Limits) -> Result<Machine, Vec<CompileError>> {
        let mut errors = Vec::new();
        let mut objects = Vec::new();
        for object in &self.program.externs {
            match A::object(&self.program, object) {
                Ok(object) => objects.push(object),
                Err(message) => errors.push(CompileError {
                    loc: object.loc,
                    message,
                }),
            }
        }
        let mut tables = Vec::new();
        for id in 0..self.program.tables.len() {
            match self.table(TableId(id as u32), &objects) {
                Ok(table) => tables.push(table),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let sets = self.program.value_sets.iter();
        let value_sets = sets.map(|set| ValueSetState::new(&self.program, set));
        let code = &self.compiled.code;
        let mut machine = Machine::new(self.program.clone(), limits);
        machine.tables = tables;
        machine.objects = objects;
        #[cfg(feature = "native")]
        {
            machine.cells = vm::native::cells(&mut machine.objects);
            machine.interpreted = self.compiled.native.is_none();
            if !machine.interpreted {
                machine.recent = vm::native::keep_recent(&mut machine);
            }
        }
        machine.value_sets = value_sets.collect();
        machine.calculations = code.calculations.clone();
        machine.crcs = code
            .crcs()
            .map(|width| CustomCrc::new(width, width.defaults()))
            .collect();
        machine.stack = Vec::with_capacity(self.program.functions.len() + 1);
        machine.rounds = vec![0; code.loops as usize];
        Ok(machine)
    }

    fn table(&self, id: TableId, objects: &[Object]) -> Result<TableState, CompileError> {
        let table = &self.program[id];
        for key in &table.keys {
            if let p4_ir::MatchKind::Other(kind) = &key.kind {
                let message = format!(
                    "match kind `{kind}` is not supported; valid: exact, lpm, ternary, range, \
                     optional, selector"
                );
                return Err(CompileError {
                    loc: key.loc,
                    message,
                });
            }
        }
        let (entries, ternary) = source_entries(&self.program, id)?;
        let default = ActionSpec {
            action: table.actions[table.default_action.action as usize].action,
            args: table.default_action.args.clone(),
        };
        let mut state = TableState::new(
            &self.program,
            id,
            ternary,
            default.clone(),
            self.direct(id, objects),
        );
        let outcome = Outcome::Run(prepare(&self.program, id, &default));
        state.set_default(outcome, EntryAction::Run(default));
        for (mut entry, constant) in entries {
            if !state.by_priority() {
                entry.priority = 0;
            }
            let EntryAction::Run(spec) = &entry.action else {
                continue;
            };
            let outcome = Outcome::Run(prepare(&self.program, id, spec));
            let origin = if constant {
                Origin::Constant
            } else {
                Origin::Source
            };
            match state.insert(entry, outcome, origin) {
                Ok(id) => state.renew(id, Instant::ZERO),
                // Of several entries with the same key, the first counts.
                Err(ControlError::Exists { .. }) => {}
                Err(error) => {
                    return Err(CompileError {
                        loc: table.loc,
                        message: error.to_string(),
                    });
                }
            }
        }
        Ok(state)
    }

    /// What a table's direct objects do.
    fn direct(&self, id: TableId, objects: &[Object]) -> DirectObjects {
        let mut found = DirectObjects {
            on_hit: A::DIRECT_ON_HIT,
            ..DirectObjects::default()
        };
        for direct in &self.program[id].direct {
            match objects.get(direct.0 as usize) {
                Some(Object::DirectCounter(counted)) => found.counter = Some(*counted),
                Some(Object::DirectMeter(unit)) => found.meter = Some(*unit),
                Some(Object::DirectRegister(register)) => found.register = register[..].into(),
                Some(Object::DirectFilter(kind)) => found.filter = Some(*kind),
                _ => {}
            }
        }
        found
    }
}
