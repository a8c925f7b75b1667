//! A program translated for this engine, and what it works on when a switch starts.

use crate::code::Code;
use crate::compile::{compile, limbs_of};
use crate::crc::CustomCrc;
use crate::state::Object;
use crate::table::{Origin, Outcome, Prepared, TableState, source_entries};
use crate::value_set::ValueSetState;
use crate::vm::Machine;
use crate::{ActionSpec, CompileError, EntryAction, SwitchConfig};
use p4_ir::{Program, TableId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use units::Instant;

/// A program translated for this engine. Switches that run the same program share one.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) program: Program,
    pub(crate) code: Code,
}

impl Pipeline {
    /// Translates a program; the errors say what this architecture supports.
    pub fn compile(program: &Program) -> Result<Arc<Pipeline>, Vec<CompileError>> {
        let code = compile(program)?;
        let pipeline = Pipeline {
            program: program.clone(),
            code,
        };
        // What could be wrong with tables and objects shows when they are set up.
        pipeline.machine(SwitchConfig::default())?;
        Ok(Arc::new(pipeline))
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Tables with the source's entries, objects in their first state.
    pub(crate) fn machine(&self, config: SwitchConfig) -> Result<Machine, Vec<CompileError>> {
        let mut errors = Vec::new();
        let mut objects = Vec::new();
        for object in &self.program.externs {
            match Object::new(&self.program, object) {
                Ok(object) => objects.push(object),
                Err(message) => errors.push(CompileError {
                    loc: object.loc,
                    message,
                }),
            }
        }
        let mut tables = Vec::new();
        for id in 0..self.program.tables.len() {
            match self.table(TableId(id as u32)) {
                Ok(table) => tables.push(table),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let sets = self.program.value_sets.iter();
        Ok(Machine {
            tables,
            objects,
            value_sets: sets
                .map(|set| ValueSetState::new(&self.program, set))
                .collect(),
            crcs: self
                .code
                .crcs()
                .map(|width| CustomCrc::new(width, width.defaults()))
                .collect(),
            random: ChaCha8Rng::seed_from_u64(config.seed),
            output: Default::default(),
            scratch: Default::default(),
            stack: Vec::with_capacity(self.program.functions.len() + 1),
            events: Default::default(),
            lost_events: 0,
            rounds: vec![0; self.code.loops as usize],
            cut_loops: 0,
            tracer: None,
            config,
        })
    }

    fn table(&self, id: TableId) -> Result<TableState, CompileError> {
        let table = &self.program[id];
        for key in &table.keys {
            if let p4_ir::MatchKind::Other(kind) = &key.kind {
                let message = format!(
                    "match kind `{kind}` is not supported; there are exact, lpm, ternary, range, \
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
        let mut state = TableState::new(&self.program, id, ternary, default.clone());
        state.default = Outcome::Run(self.prepare(id, &default));
        for (mut entry, constant) in entries {
            if !state.by_priority() {
                entry.priority = 0;
            }
            let EntryAction::Run(spec) = &entry.action else {
                continue;
            };
            let outcome = Outcome::Run(self.prepare(id, spec));
            let origin = if constant {
                Origin::Constant
            } else {
                Origin::Source
            };
            match state.insert(entry, outcome, origin, Instant::ZERO) {
                // Of entries with the same key the first counts.
                Ok(_) | Err(crate::ControlError::Exists { .. }) => {}
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

    /// An action with its data as words. What does not fit is cut off: callers have checked it.
    pub(crate) fn prepare(&self, table: TableId, spec: &ActionSpec) -> Prepared {
        let listed = self.program[table]
            .actions
            .iter()
            .position(|a| a.action == spec.action);
        let params = &self.program[spec.action].params;
        let args = params
            .iter()
            .zip(&spec.args)
            .flat_map(|(param, arg)| limbs_of(arg, param.ty.words(&self.program)))
            .collect();
        Prepared {
            id: spec.action,
            index: listed.unwrap_or(0) as u32,
            args,
        }
    }
}
