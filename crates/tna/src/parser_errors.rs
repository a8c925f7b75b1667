//! The bits of `parser_err`, and which programs read them.

use crate::Switch;
use p4_ir::{Arg, Expr, ExprKind, FunctionId, Location, Place, Program, Step, Stmt, StmtKind};
use std::collections::BTreeSet;

/// No transition matched. Ingress always drops the packet.
pub const NO_MATCH: u64 = 0x0001;
const PARTIAL_HEADER: u64 = 0x0002;
const COUNTER_RANGE: u64 = 0x0004;
const TIMEOUT_USER: u64 = 0x0008;
const TIMEOUT_HARDWARE: u64 = 0x0010;
const DESTINATION_CONTAINER: u64 = 0x0040;
const PHV_OWNER: u64 = 0x0080;
const MULTIPLE_WRITE: u64 = 0x0100;

/// The bit of each error of the program.
pub fn bits(program: &Program) -> Vec<u16> {
    let bit = |error: &String| match error.as_str() {
        "NoError" => 0,
        "NoMatch" => NO_MATCH,
        "PacketTooShort" | "HeaderTooShort" => PARTIAL_HEADER,
        "CounterRange" => COUNTER_RANGE,
        "Timeout" => TIMEOUT_USER,
        "ParserTimeout" => TIMEOUT_HARDWARE,
        "PhvOwner" => PHV_OWNER,
        "MultiWrite" => MULTIPLE_WRITE,
        _ => DESTINATION_CONTAINER,
    };
    program
        .errors
        .iter()
        .map(|error| bit(error) as u16)
        .collect()
}

/// The bits of the packet that a parser has just left.
pub fn of(switch: &Switch) -> u64 {
    let bits = &switch.layout().error_bits;
    bits.get(switch.job.error as usize)
        .copied()
        .unwrap_or_default()
        .into()
}

/// Whether a block reads a place.
pub fn reads(program: &Program, block: FunctionId, place: &Location) -> bool {
    let mut reader = Reader {
        program,
        read: place,
        seen: BTreeSet::new(),
    };
    reader.function(block)
}

struct Reader<'p> {
    program: &'p Program,
    read: &'p Location,
    seen: BTreeSet<FunctionId>,
}

impl Reader<'_> {
    fn function(&mut self, id: FunctionId) -> bool {
        let program = self.program;
        self.seen.insert(id) && self.stmts(&program[id].body)
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| self.stmt(&stmt.kind))
    }

    fn stmt(&mut self, stmt: &StmtKind) -> bool {
        match stmt {
            StmtKind::Assign { value, .. } | StmtKind::AssignSlice { value, .. } => {
                self.expr(value)
            }
            StmtKind::Copy { from, .. } => self.location(from),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => self.expr(condition) || self.stmts(then) || self.stmts(otherwise),
            StmtKind::Switch { on, cases, default } => {
                self.expr(on)
                    || self.stmts(default)
                    || cases.iter().any(|(_, body)| self.stmts(body))
            }
            StmtKind::Loop {
                prepare,
                condition,
                body,
                update,
            } => self.expr(condition) || [prepare, body, update].into_iter().any(|b| self.stmts(b)),
            StmtKind::Call(function) | StmtKind::CallAction(_, function) => {
                self.function(*function)
            }
            StmtKind::Apply { table, .. } => {
                let program = self.program;
                let table = &program[*table];
                table.keys.iter().any(|key| self.expr(&key.value))
                    || table.actions.iter().any(|a| self.function(a.body))
            }
            StmtKind::Extern(call) => call.args.iter().any(|arg| self.arg(arg)),
            _ => false,
        }
    }

    fn arg(&mut self, arg: &Arg) -> bool {
        match arg {
            Arg::In(value) => self.expr(value),
            Arg::Out(place) => self.place(place),
            Arg::List(items) => items.iter().any(|item| self.expr(&item.value)),
            Arg::Variable(at, _) => self.location(at),
            _ => false,
        }
    }

    fn expr(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Load(place) => self.place(place),
            ExprKind::Unary(_, of) | ExprKind::Cast(of) | ExprKind::Slice { of, .. } => {
                self.expr(of)
            }
            ExprKind::Binary(_, left, right) => self.expr(left) || self.expr(right),
            ExprKind::Mux(condition, yes, no) => {
                self.expr(condition) || self.expr(yes) || self.expr(no)
            }
            _ => false,
        }
    }

    fn place(&self, place: &Place) -> bool {
        self.location(&place.at)
    }

    fn location(&self, at: &Location) -> bool {
        let mut steps = at.path.iter();
        at.overlaps(self.read)
            || steps.any(|step| matches!(step, Step::Element(index) if self.expr(index)))
    }
}
