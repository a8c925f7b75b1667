//! Statements.

use super::{Compiler, expr};
use crate::Architecture;
use crate::code::*;
use crate::wide::words_of_value;
use p4_ir::{Expr, Location, Place, Stmt, StmtKind, TableId};

impl<A: Architecture> Compiler<'_, A> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let (loc, temps) = (self.loc, self.next_temp);
            if stmt.loc.line != 0 {
                self.loc = stmt.loc;
            }
            self.stmt(&stmt.kind);
            self.next_temp = temps;
            self.loc = loc;
        }
    }

    fn stmt(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Assign { to, value } => self.assign(to, value),
            StmtKind::AssignSlice { to, hi, lo, value } => self.assign_slice(to, *hi, *lo, value),
            StmtKind::Copy { to, from } => self.copy_whole(to, from),
            StmtKind::Clear(at) => self.clear(at),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let temps = self.next_temp;
                let (no, end) = (self.label(), self.label());
                self.branch(condition, no, false);
                self.next_temp = temps;
                self.stmts(then);
                if !otherwise.is_empty() {
                    self.emit(Op::Jmp { to: end });
                }
                self.place(no);
                self.stmts(otherwise);
                self.place(end);
            }
            StmtKind::Switch { on, cases, default } => self.switch(on, cases, default),
            StmtKind::Loop {
                prepare,
                condition,
                body,
                update,
            } => {
                let temps = self.next_temp;
                let (next, end) = (self.label(), self.label());
                let number = self.code.loops;
                self.code.loops += 1;
                self.emit(Op::Enter { number });
                let top = self.here();
                self.stmts(prepare);
                self.branch(condition, end, false);
                self.next_temp = temps;
                self.emit(Op::Round { number, to: end });
                self.loops.push((end, next));
                self.stmts(body);
                self.loops.pop();
                self.place(next);
                self.stmts(update);
                self.emit(Op::Jmp { to: top });
                self.place(end);
            }
            StmtKind::Break => self.leave_loop(|(end, _)| end, "break"),
            StmtKind::Continue => self.leave_loop(|(_, next)| next, "continue"),
            StmtKind::Call(function) | StmtKind::CallAction(_, function) => self.call(*function),
            StmtKind::Return => match self.return_to {
                Some(to) => self.emit(Op::Jmp { to }),
                None => self.emit(Op::Ret),
            },
            StmtKind::Exit => self.emit(Op::Halt),
            StmtKind::Apply {
                table,
                hit,
                action_run,
            } => {
                self.apply(*table, hit.as_ref(), action_run.as_ref());
            }
            StmtKind::SetValidity { header, valid } => {
                let a = self.number(*valid as u64);
                let (base, off) = self.locate(header);
                self.emit(match off {
                    NONE => Op::Mov { d: base, a },
                    _ => Op::StoreX { base, off, a, n: 1 },
                });
            }
            StmtKind::PushFront(stack, count) => self.shift(stack, *count, true),
            StmtKind::PopFront(stack, count) => self.shift(stack, *count, false),
            StmtKind::Extern(call) => self.extern_call(call),
            StmtKind::Emit { header, ty } => {
                let (base, off) = self.locate(header);
                let header = self.header(*ty);
                self.emit(Op::Emit { base, off, header });
            }
            StmtKind::Extract { .. }
            | StmtKind::Lookahead(_)
            | StmtKind::Advance(_)
            | StmtKind::Verify(..) => self.parser_stmt(stmt),
        }
    }

    /// Stores a value of the type of the place.
    pub fn assign(&mut self, to: &Place, value: &Expr) {
        if words_of_value(to.ty) == 0 {
            return;
        }
        let (base, off) = self.locate(&to.at);
        if off == NONE {
            return self.value_into(value, base);
        }
        let a = self.value(value);
        self.emit(Op::StoreX {
            base,
            off,
            a,
            n: words_of_value(to.ty) as u16,
        });
    }

    fn assign_slice(&mut self, to: &Place, hi: u32, lo: u32, value: &Expr) {
        let width = hi - lo + 1;
        let a = self.value(value);
        let (base, off) = self.locate(&to.at);
        let n = words_of_value(to.ty);
        let d = match off {
            NONE => base,
            _ => {
                let d = self.temp(n);
                self.emit(Op::LoadX {
                    d,
                    base,
                    off,
                    n: n as u16,
                });
                d
            }
        };
        self.emit(if lo % 64 + width <= 64 {
            Op::Insert {
                d: d + lo / 64,
                a,
                lo: (lo % 64) as u8,
                sh: expr::sh(width),
            }
        } else {
            Op::InsertW {
                d,
                a,
                lo,
                w: width as u16,
            }
        });
        if off != NONE {
            self.emit(Op::StoreX {
                base,
                off,
                a: d,
                n: n as u16,
            });
        }
    }

    fn copy_whole(&mut self, to: &Location, from: &Location) {
        let words = self.storage.words(self.storage.ty(to));
        let (to, from) = (self.locate(to), self.locate(from));
        if to.1 == NONE && from.1 == NONE {
            return self.copy(to.0, from.0, words);
        }
        self.code.copies.push(CopyStep { to, from, words });
        let copy = self.code.copies.len() as u32 - 1;
        self.emit(Op::CopyX { copy });
    }

    fn clear(&mut self, at: &Location) {
        let words = self.storage.words(self.storage.ty(at));
        let (base, off) = self.locate(at);
        if off == NONE {
            return self.emit(Op::ZeroW { d: base, n: words });
        }
        match u16::try_from(words) {
            Ok(n) => self.emit(Op::ZeroX { base, off, n }),
            Err(_) => self.error(format!("an element of {words} words is too large to clear")),
        }
    }

    fn leave_loop(&mut self, which: impl Fn((u32, u32)) -> u32, word: &str) {
        match self.loops.last() {
            Some(&targets) => self.emit(Op::Jmp { to: which(targets) }),
            None => self.error(format!("`{word}` outside a loop")),
        }
    }

    fn switch(&mut self, on: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)], default: &[Stmt]) {
        let temps = self.next_temp;
        let a = self.value(on);
        let labels: Vec<_> = cases.iter().map(|_| self.label()).collect();
        let (otherwise, end) = (self.label(), self.label());
        let constants: Option<Vec<_>> = cases
            .iter()
            .zip(&labels)
            .flat_map(|((values, _), &label)| values.iter().map(move |v| (v, label)))
            .map(|(v, label)| Some((expr::small_constant(v)?, label)))
            .collect();
        match constants {
            Some(cases) if cases.len() >= 4 => self.jump(a, &cases, otherwise),
            _ => {
                for ((values, _), &to) in cases.iter().zip(&labels) {
                    for value in values {
                        self.jump_if_equal(a, value, to);
                    }
                }
                self.emit(Op::Jmp { to: otherwise });
            }
        }
        self.next_temp = temps;
        for ((_, body), label) in cases.iter().zip(labels) {
            self.place(label);
            self.stmts(body);
            self.emit(Op::Jmp { to: end });
        }
        self.place(otherwise);
        self.stmts(default);
        self.place(end);
    }

    /// Jumps to `to` if the value at `a` equals another of the same type.
    pub(super) fn jump_if_equal(&mut self, a: Slot, value: &Expr, to: Target) {
        let b = self.value(value);
        if expr::words(value.ty) == 1 {
            return self.emit(Op::JmpEq { a, b, to });
        }
        let d = self.temp(1);
        self.emit(Op::EqW {
            d,
            a,
            b,
            w: value.ty.width() as u16,
        });
        self.emit(Op::JmpNz { a: d, to });
    }

    /// Jumps to the target of a one-word value. Of equal cases, the first counts.
    pub(super) fn jump(&mut self, a: Slot, cases: &[(u64, Target)], default: Target) {
        let mut sorted = cases.to_vec();
        sorted.sort_by_key(|&(value, _)| value);
        sorted.dedup_by_key(|&mut (value, _)| value);
        let (first, last) = (sorted[0].0, sorted[sorted.len() - 1].0);
        let table = if last - first < 8 * sorted.len() as u64 {
            let mut targets = vec![default; (last - first) as usize + 1];
            for (value, to) in sorted {
                targets[(value - first) as usize] = to;
            }
            JumpTable::Dense {
                first,
                targets,
                default,
            }
        } else {
            JumpTable::Sparse {
                cases: sorted,
                default,
            }
        };
        self.code.jumps.push(table);
        let table = self.code.jumps.len() as u32 - 1;
        self.emit(Op::Jump { a, table });
    }

    fn apply(&mut self, table: TableId, hit: Option<&Place>, action_run: Option<&Place>) {
        let keys = &self.program[table].keys;
        let keys = keys.iter().map(|key| self.value(&key.value)).collect();
        let hit = hit.map(|place| self.target(place));
        let action_run = action_run.map(|place| self.target(place));
        self.code.sites.push(ApplySite {
            table: table.0,
            keys,
            hit: hit.map_or(NONE, |target| target.slot),
            action_run: action_run.map_or(NONE, |target| target.slot),
        });
        let site = self.code.sites.len() as u32 - 1;
        self.emit(Op::Apply { site });
        for target in [hit, action_run].into_iter().flatten() {
            self.store(target);
        }
    }

    fn shift(&mut self, stack: &Location, count: u32, push: bool) {
        let Some((element, len)) = self.storage.ty(stack).elements() else {
            return self.error("only the elements of a stack can be pushed and popped");
        };
        let stride = self.storage.words(element);
        let at = self.locate(stack);
        let count = count.min(len);
        self.code.shifts.push(ShiftStep {
            at,
            stride,
            len,
            count,
            push,
        });
        let shift = self.code.shifts.len() as u32 - 1;
        self.emit(Op::Shift { shift });
    }
}
