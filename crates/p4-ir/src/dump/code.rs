//! Statements and expressions.

use super::names;
use crate::{
    Arg, BinaryOp, Expr, ExprKind, ExternCall, Location, Place, Program, Scalar, Stmt, StmtKind,
    Type, UnaryOp,
};
use std::fmt::{self, Write};

pub(super) struct Code<'p> {
    pub program: &'p Program,
}

pub(super) fn scalar(ty: Scalar) -> String {
    match ty {
        Scalar::Bool => "bool".into(),
        Scalar::Bit(w) => format!("bit<{w}>"),
        Scalar::Int(w) => format!("int<{w}>"),
        Scalar::Varbit(w) => format!("varbit<{w}>"),
        Scalar::Symbol => "symbol".into(),
    }
}

pub(super) fn ty(of: &Type, program: &Program) -> String {
    match of {
        Type::Scalar(s) => scalar(*s),
        Type::Named(id) => program[*id].name.clone(),
        Type::Stack(element, len) | Type::Array(element, len) => {
            format!("{}[{len}]", ty(element, program))
        }
        Type::Tuple(members) => {
            let members: Vec<String> = members.iter().map(|m| ty(m, program)).collect();
            format!("tuple<{}>", members.join(", "))
        }
    }
}

impl Code<'_> {
    fn place(&self, place: &Place) -> String {
        self.location(&place.at)
    }

    fn location(&self, at: &Location) -> String {
        names::location(self.program, at, &|index| self.expr(index))
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Const(value) => match expr.ty {
                Scalar::Bool => (if value.bit(0) { "true" } else { "false" }).into(),
                Scalar::Bit(w) | Scalar::Varbit(w) => format!("{w}w{value}"),
                Scalar::Int(w) => format!("{w}s{value}"),
                Scalar::Symbol => format!("#{value}"),
            },
            ExprKind::Load(place) => self.place(place),
            ExprKind::Unary(op, of) => {
                let sign = match op {
                    UnaryOp::Neg => '-',
                    UnaryOp::BitNot => '~',
                    UnaryOp::Not => '!',
                };
                format!("{sign}{}", self.expr(of))
            }
            ExprKind::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(a), binary(*op), self.expr(b))
            }
            ExprKind::Slice { of, hi, lo } => format!("{}[{hi}:{lo}]", self.expr(of)),
            ExprKind::Cast(of) => format!("({}){}", scalar(expr.ty), self.expr(of)),
            ExprKind::Mux(condition, yes, no) => {
                let (condition, yes, no) = (self.expr(condition), self.expr(yes), self.expr(no));
                format!("({condition} ? {yes} : {no})")
            }
            ExprKind::PacketLength => "packet.length".into(),
        }
    }

    pub(super) fn statements(&self, out: &mut String, body: &[Stmt], depth: usize) -> fmt::Result {
        for statement in body {
            self.statement(out, &statement.kind, depth)?;
        }
        Ok(())
    }

    fn statement(&self, out: &mut String, kind: &StmtKind, depth: usize) -> fmt::Result {
        let pad = "  ".repeat(depth);
        let line = match kind {
            StmtKind::Assign { to, value } => {
                format!("{} = {}", self.place(to), self.expr(value))
            }
            StmtKind::AssignSlice { to, hi, lo, value } => {
                format!("{}[{hi}:{lo}] = {}", self.place(to), self.expr(value))
            }
            StmtKind::Copy { to, from } => {
                format!("copy {} = {}", self.location(to), self.location(from))
            }
            StmtKind::Clear(at) => format!("clear {}", self.location(at)),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                writeln!(out, "{pad}if {}", self.expr(condition))?;
                self.statements(out, then, depth + 1)?;
                if !otherwise.is_empty() {
                    writeln!(out, "{pad}else")?;
                    self.statements(out, otherwise, depth + 1)?;
                }
                return Ok(());
            }
            StmtKind::Switch { on, cases, default } => {
                writeln!(out, "{pad}switch {}", self.expr(on))?;
                for (labels, body) in cases {
                    let labels: Vec<String> = labels.iter().map(|l| self.expr(l)).collect();
                    writeln!(out, "{pad}case {}", labels.join(", "))?;
                    self.statements(out, body, depth + 1)?;
                }
                writeln!(out, "{pad}default")?;
                return self.statements(out, default, depth + 1);
            }
            StmtKind::Loop {
                prepare,
                condition,
                body,
                update,
            } => {
                if !prepare.is_empty() {
                    writeln!(out, "{pad}prepare")?;
                    self.statements(out, prepare, depth + 1)?;
                }
                writeln!(out, "{pad}while {}", self.expr(condition))?;
                self.statements(out, body, depth + 1)?;
                writeln!(out, "{pad}update")?;
                return self.statements(out, update, depth + 1);
            }
            StmtKind::Break => "break".into(),
            StmtKind::Continue => "continue".into(),
            StmtKind::Call(id) => format!("call {}#{}", self.program[*id].name, id.0),
            StmtKind::CallAction(action, function) => {
                format!(
                    "call action {} runs #{}",
                    self.program[*action].name, function.0
                )
            }
            StmtKind::Return => "return".into(),
            StmtKind::Exit => "exit".into(),
            StmtKind::Apply {
                table,
                hit,
                action_run,
            } => {
                let mut line = format!("apply {}", self.program[*table].name);
                for (word, place) in [("hit", hit), ("action_run", action_run)] {
                    if let Some(place) = place {
                        write!(line, ", {word} to {}", self.place(place))?;
                    }
                }
                line
            }
            StmtKind::SetValidity { header, valid } => {
                let word = if *valid { "valid" } else { "invalid" };
                format!("{word} {}", self.location(header))
            }
            StmtKind::PushFront(stack, count) => {
                format!("push {} by {count}", self.location(stack))
            }
            StmtKind::PopFront(stack, count) => format!("pop {} by {count}", self.location(stack)),
            StmtKind::Extract {
                header,
                varbit_bits,
                ..
            } => match varbit_bits {
                Some(bits) => format!(
                    "extract {} varbit {}",
                    self.location(header),
                    self.expr(bits)
                ),
                None => format!("extract {}", self.location(header)),
            },
            StmtKind::Lookahead(places) => {
                let places: Vec<String> = places.iter().map(|p| self.place(p)).collect();
                format!("lookahead {}", places.join(", "))
            }
            StmtKind::Advance(bits) => format!("advance {}", self.expr(bits)),
            StmtKind::Verify(condition, error) => {
                format!("verify {} else {}", self.expr(condition), self.error(error))
            }
            StmtKind::Emit { header, .. } => format!("emit {}", self.location(header)),
            StmtKind::Extern(call) => self.extern_call(call),
        };
        writeln!(out, "{pad}{line}")
    }

    fn error(&self, error: &Expr) -> String {
        if let ExprKind::Const(index) = &error.kind {
            let index = usize::try_from(index).ok();
            if let Some(name) = index.and_then(|i| self.program.errors.get(i)) {
                return name.clone();
            }
        }
        self.expr(error)
    }

    fn extern_call(&self, call: &ExternCall) -> String {
        let result = match &call.result {
            Some(place) => format!("{} = ", self.place(place)),
            None => String::new(),
        };
        let types: Vec<String> = call.type_args.iter().map(|t| ty(t, self.program)).collect();
        let generic = match types.is_empty() {
            true => String::new(),
            false => format!("<{}>", types.join(", ")),
        };
        let object = match call.object {
            Some(id) => format!(" on {}", self.program[id].name),
            None => String::new(),
        };
        let args: Vec<String> = call.args.iter().map(|a| self.arg(a)).collect();
        format!(
            "{result}extern {}{generic}({}){object}",
            call.name,
            args.join(", ")
        )
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::In(value) => self.expr(value),
            Arg::Out(place) => format!("out {}", self.place(place)),
            Arg::List(items) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| match &item.valid {
                        Some(valid) => {
                            format!("{} if {}", self.expr(&item.value), self.place(valid))
                        }
                        None => self.expr(&item.value),
                    })
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
            Arg::Variable(at, _) => self.location(at),
            Arg::String(text) => format!("{text:?}"),
            Arg::Object(id) => self.program[*id].name.clone(),
            Arg::None => "_".into(),
        }
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::SatAdd => "|+|",
        BinaryOp::SatSub => "|-|",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Concat => "++",
    }
}
