//! The control flow of a function: a block, a subroutine, or an action that is not inlined.

use super::context;
use super::emitter::{Callbacks, Emitter, Program};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, Switch};
use p4_vm::native::{Found, JumpTable, Op};
use p4_vm::{NONE, Sequence, Target};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::offset_of;

/// The most instructions of an action that is inlined where its table is applied.
const IN_PLACE: usize = 256;

/// The most actions of a table that are compared one after another, which is faster than a jump table.
const FEW: usize = 4;

/// Code from one address on, as a part of a function. An action is a part of the function that applies its table.
struct Part {
    /// The blocks, by their first instruction.
    blocks: BTreeMap<Target, Block>,
    ways: Ways,
}

/// The exits of a part.
#[derive(Clone, Copy)]
struct Ways {
    /// Where it returns to.
    back: Block,
    /// Where it halts.
    halt: Block,
    /// Where it goes if the interpreter returned that the packet leaves the block.
    end: Block,
}

impl Ways {
    /// The same exits, with another return.
    fn to(self, back: Block) -> Self {
        Ways { back, ..self }
    }
}

/// Compiles a function of a module.
pub struct Procedure<'a, 'f, 'm> {
    emitter: Emitter<'a, 'f>,
    /// Imports a function into this one.
    function: &'m mut dyn FnMut(Target, &mut FunctionBuilder<'_>) -> FuncRef,
    /// The functions that this one calls.
    called: HashMap<Target, FuncRef>,
    parts: Vec<Part>,
}

/// The content of a function.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// The code that begins with this instruction.
    Code(Target),
    /// A sequence of blocks.
    Sequence(&'a Sequence),
}

/// Compiles a function. Returns `false` if it accesses a place outside of storage. `function` imports a function that
/// it calls.
pub fn write<'f>(
    program: &Program<'_>,
    mut build: FunctionBuilder<'f>,
    callbacks: Callbacks,
    start: Start<'_>,
    function: &mut dyn FnMut(Target, &mut FunctionBuilder<'_>) -> FuncRef,
) -> bool {
    let first = build.create_block();
    build.append_block_params_for_function_params(first);
    build.switch_to_block(first);
    let &[context, words] = build.block_params(first) else {
        return false;
    };
    let (back, end) = (build.create_block(), build.create_block());
    let emitter = Emitter {
        program,
        build,
        callbacks,
        context,
        words,
        end,
        key: None,
        outside: false,
    };
    let mut procedure = Procedure {
        emitter,
        function,
        called: HashMap::new(),
        parts: Vec::new(),
    };
    let ways = Ways {
        back,
        halt: end,
        end,
    };
    match start {
        Start::Code(start) => {
            let body = procedure.part(start, ways);
            procedure.emitter.jump(body);
        }
        Start::Sequence(sequence) => procedure.sequence(sequence, ways),
    }
    while let Some(part) = procedure.parts.pop() {
        procedure.write(&part);
    }
    let Emitter {
        mut build, outside, ..
    } = procedure.emitter;
    for (block, status) in [(back, 0), (end, context::END)] {
        build.switch_to_block(block);
        let status = build.ins().iconst(types::I32, status);
        build.ins().return_(&[status]);
    }
    build.seal_all_blocks();
    build.finalize();
    !outside
}

impl Procedure<'_, '_, '_> {
    /// Compiles a sequence of blocks, which then returns, or takes the `end` exit if the sequence ends early.
    fn sequence(&mut self, sequence: &Sequence, ways: Ways) {
        self.emitter
            .clear(sequence.clears.as_deref().unwrap_or(&[]));
        for stage in &sequence.stages {
            let e = &mut self.emitter;
            if counts_steps(e.program, stage.block) {
                let steps = e.field(types::I32, context::MOST_STEPS);
                e.set_field(context::STEPS, steps);
            }
            let [halt, end] = [e.build.create_block(), e.cold_block()];
            let body = self.part(
                stage.block,
                Ways {
                    back: halt,
                    halt,
                    end,
                },
            );
            let e = &mut self.emitter;
            e.jump(body);
            e.build.switch_to_block(end);
            e.leave_if_aborted(ways.end);
            e.jump(halt);
            e.build.switch_to_block(halt);
            if let Some((reported, to)) = stage.reported {
                e.report(reported, to);
            }
            if let Some((a, b)) = stage.last_if_equal {
                self.compare(IntCC::Equal, a, b, ways.end);
            }
        }
        self.emitter.jump(ways.back);
    }

    /// The first block of code that is compiled later.
    fn part(&mut self, start: Target, ways: Ways) -> Block {
        let starts = starts(self.emitter.program, start);
        let blocks: BTreeMap<_, _> = starts
            .into_iter()
            .map(|at| (at, self.emitter.build.create_block()))
            .collect();
        let first = blocks[&start];
        self.parts.push(Part { blocks, ways });
        first
    }

    fn write(&mut self, part: &Part) {
        let ops = &self.emitter.program.source.code.ops;
        self.emitter.end = part.ways.end;
        for (&start, &block) in &part.blocks {
            self.emitter.build.switch_to_block(block);
            let mut at = start;
            while let Some(&op) = ops.get(at as usize) {
                if !self.op(op, at, part) {
                    break;
                }
                at += 1;
                if let Some(&next) = part.blocks.get(&at) {
                    self.emitter.jump(next);
                    break;
                }
            }
            // Code without further instructions is at its end.
            if at as usize >= ops.len() && !part.blocks.contains_key(&at) {
                self.emitter.jump(part.ways.halt);
            }
        }
    }

    /// Compiles an instruction. Returns whether control flow continues behind it.
    fn op(&mut self, op: Op, at: Target, part: &Part) -> bool {
        let e = &mut self.emitter;
        if e.word_op(op) || e.wide_op(op) || e.place_op(op, at) || e.packet_op(op, at) {
            return true;
        }
        let to = |target: Target| part.blocks[&target];
        match op {
            Op::Jmp { to: target } => {
                e.jump(to(target));
                return false;
            }
            Op::JmpZ { a, to: target } => {
                let a = e.load(a);
                let zero = e.build.ins().icmp_imm(IntCC::Equal, a, 0);
                e.leave_if(zero, to(target));
            }
            Op::JmpNz { a, to: target } => {
                let a = e.load(a);
                e.leave_if(a, to(target));
            }
            Op::JmpEq { a, b, to: target } => self.compare(IntCC::Equal, a, b, to(target)),
            Op::JmpNe { a, b, to: target } => self.compare(IntCC::NotEqual, a, b, to(target)),
            Op::JmpLt { a, b, to: target } => {
                self.compare(IntCC::UnsignedLessThan, a, b, to(target));
            }
            Op::JmpLe { a, b, to: target } => {
                self.compare(IntCC::UnsignedLessThanOrEqual, a, b, to(target));
            }
            Op::Jump { a, table } => {
                let value = e.load(a);
                let mut switch = Switch::new();
                let default = match &e.program.source.code.jumps[table as usize] {
                    JumpTable::Dense {
                        first,
                        targets,
                        default,
                    } => {
                        for (i, &target) in (0..).zip(targets) {
                            let case: u64 = first.wrapping_add(i);
                            switch.set_entry(case.into(), to(target));
                        }
                        default
                    }
                    JumpTable::Sparse { cases, default } => {
                        for &(case, target) in cases {
                            switch.set_entry(case.into(), to(target));
                        }
                        default
                    }
                };
                switch.emit(&mut e.build, value, to(*default));
                return false;
            }
            Op::Call { to: target } => {
                self.call(target);
            }
            Op::Ret => {
                e.jump(part.ways.back);
                return false;
            }
            Op::Halt => {
                e.jump(part.ways.halt);
                return false;
            }
            Op::Refuse | Op::Reject { .. } => {
                e.step(at);
                e.jump(e.end);
                return false;
            }
            Op::Step { to: target } => {
                let steps = e.field(types::I32, context::STEPS);
                let none = e.build.ins().icmp_imm(IntCC::Equal, steps, 0);
                e.leave_if(none, to(target));
                let steps = e.build.ins().iadd_imm(steps, -1);
                e.set_field(context::STEPS, steps);
            }
            Op::Round { to: target, .. } | Op::InSet { to: target, .. } => {
                let next = e.step(at);
                let on = e.build.create_block();
                let not_on = e.build.create_block();
                e.branch(next, not_on, on);
                e.build.switch_to_block(not_on);
                let jump = p4_vm::native::Next::Jump as i64;
                let jumps = e.build.ins().icmp_imm(IntCC::Equal, next, jump);
                e.branch(jumps, to(target), e.end);
                e.build.switch_to_block(on);
            }
            Op::Apply { site } => self.apply(site, part.ways),
            Op::Extern { call } => {
                if !e.checksum(call) && !e.hash(call) {
                    e.call(call);
                }
            }
            _ => e.step_or_end(at),
        }
        true
    }

    fn compare(&mut self, how: IntCC, a: u32, b: u32, to: Block) {
        let (a, b) = (self.emitter.load(a), self.emitter.load(b));
        let holds = self.emitter.build.ins().icmp(how, a, b);
        self.emitter.leave_if(holds, to);
    }

    /// Calls the function that begins with an instruction. Leaves if it ends the block.
    fn call(&mut self, target: Target) {
        let function = match self.called.get(&target) {
            Some(&function) => function,
            None => {
                let function = (self.function)(target, &mut self.emitter.build);
                self.called.insert(target, function);
                function
            }
        };
        let e = &mut self.emitter;
        let call = e.build.ins().call(function, &[e.context, e.words]);
        let status = e.build.inst_results(call)[0];
        let end = e.end;
        e.leave_if(status, end);
    }

    /// Applies a table: looks up its key, then runs the action found.
    fn apply(&mut self, site: u32, ways: Ways) {
        let program = self.emitter.program;
        let code = program.source.code;
        let found = self.emitter.find(site);
        let site = &code.sites[site as usize];
        if site.hit != NONE {
            let hit = offset_of!(Found, hit) as i32;
            let hit = self.emitter.load_number(found, hit);
            let hit = self.emitter.build.ins().uextend(types::I64, hit);
            self.emitter.store(site.hit, hit);
        }
        let after = self.emitter.build.create_block();
        let table = &code.tables[site.table as usize];
        let actions = &table.actions;
        let begins: Vec<_> = actions
            .iter()
            .map(|_| self.emitter.build.create_block())
            .collect();
        let e = &mut self.emitter;
        if let Some(empty_group) = table.empty_group
            && site.action_run != NONE
        {
            let none = e.number(empty_group);
            e.store(site.action_run, none);
        }
        let action = e.load_number(found, offset_of!(Found, action) as i32);
        // The only remaining value is `NONE`, of a group without members.
        if begins.len() <= FEW {
            for (index, &begin) in (0..).zip(&begins) {
                let is = e.build.ins().icmp_imm(IntCC::Equal, action, index);
                e.leave_if(is, begin);
            }
            e.jump(after);
        } else {
            let mut switch = Switch::new();
            for (index, &begin) in (0u128..).zip(&begins) {
                switch.set_entry(index, begin);
            }
            switch.emit(&mut e.build, action, after);
        }
        let mut bodies = HashMap::new();
        for action in actions.iter().filter(|action| !action.done) {
            bodies
                .entry(action.entry)
                .or_insert_with(|| self.body(action.entry, ways.to(after)));
        }
        for (index, (action, begin)) in (0..).zip(actions.iter().zip(begins)) {
            self.emitter.build.switch_to_block(begin);
            self.emitter.begin_action(found, site, index, action);
            let body = bodies.get(&action.entry).filter(|_| !action.done);
            self.emitter.jump(*body.unwrap_or(&after));
        }
        self.emitter.build.switch_to_block(after);
    }

    /// The block in which the rest of an action begins: inlined if it is short, otherwise a call.
    fn body(&mut self, target: Target, ways: Ways) -> Block {
        let program = self.emitter.program;
        let length = reached(program, target, IN_PLACE + 1).len();
        if length <= IN_PLACE && program.take_in_place(length) {
            return self.part(target, ways);
        }
        let block = self.emitter.build.create_block();
        self.emitter.build.switch_to_block(block);
        self.call(target);
        self.emitter.jump(ways.back);
        block
    }
}

/// The instructions that are reachable without calls, at most `most` of them.
fn reached(program: &Program<'_>, start: Target, most: usize) -> BTreeSet<Target> {
    let ops = &program.source.code.ops;
    let mut reached = BTreeSet::new();
    let mut left = vec![start];
    while let Some(at) = left.pop().filter(|_| reached.len() < most) {
        let Some(&op) = ops.get(at as usize) else {
            continue;
        };
        if reached.insert(at) {
            let (targets, goes_on) = program.source.code.successors(op);
            left.extend(targets);
            left.extend(goes_on.then_some(at + 1));
        }
    }
    reached
}

/// Whether a block may count parser states.
fn counts_steps(program: &Program<'_>, start: Target) -> bool {
    let counts = |at: Target| {
        matches!(
            program.source.code.ops[at as usize],
            Op::Step { .. } | Op::Call { .. }
        )
    };
    reached(program, start, usize::MAX).into_iter().any(counts)
}

/// The instructions at which basic blocks begin.
fn starts(program: &Program<'_>, start: Target) -> BTreeSet<Target> {
    let ops = &program.source.code.ops;
    let mut starts = BTreeSet::from([start]);
    for at in reached(program, start, usize::MAX) {
        starts.extend(program.source.code.successors(ops[at as usize]).0);
    }
    starts
}
