//! Inference of type arguments, and implicit conversions.

use super::{Facts, constants};
use crate::ast::{DeclId, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Named, NamedKind, Param, Ty, Value};
use crate::span::Span;
use std::collections::HashMap;

/// A run-time parameter of a parser or control.
pub(super) struct BlockParam {
    pub ty: Ty,
    pub direction: Direction,
    /// `@optional`
    pub optional: bool,
}

impl Facts<'_> {
    /// Creates a type variable.
    pub(super) fn fresh(&mut self) -> Ty {
        self.vars.push(None);
        Ty::Var(self.vars.len() as u32 - 1)
    }

    /// The type with type variables in place of all type parameters.
    pub(super) fn opened(&mut self, ty: &Ty) -> Ty {
        let mut opened: HashMap<DeclId, Ty> = HashMap::new();
        ty.map(&mut |part| match part {
            Ty::Param(id, _) => Some(opened.entry(*id).or_insert_with(|| self.fresh()).clone()),
            _ => None,
        })
    }

    /// The declared type of a parameter, with a new type variable for each `_`, because each call or instance infers it
    /// again.
    pub(super) fn renewed(&mut self, ty: &Ty) -> Ty {
        ty.map(&mut |part| matches!(part, Ty::Var(_)).then(|| self.fresh()))
    }

    /// The type with inferred types substituted.
    pub(super) fn known(&self, ty: &Ty) -> Ty {
        ty.map(&mut |part| match part {
            Ty::Var(i) => Some(match &self.vars[*i as usize] {
                Some(found) => self.known(found),
                None => part.clone(),
            }),
            _ => None,
        })
    }

    /// Infers type arguments from an argument of type `found` for `wanted`. Does not check agreement, which
    /// [`Facts::coerce`] does.
    pub(super) fn infer(&mut self, wanted: &Ty, found: &Ty) {
        match (wanted, found) {
            (Ty::Var(i), _) => match self.vars[*i as usize].clone() {
                Some(bound) => self.infer(&bound, found),
                None => self.bind(*i, found),
            },
            (Ty::Tuple(a), Ty::Tuple(b) | Ty::ListExpr(b)) | (Ty::ListExpr(a), Ty::ListExpr(b))
                if a.len() == b.len() =>
            {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.infer(a, b));
            }
            (Ty::List(a), Ty::ListExpr(b)) => b.iter().for_each(|b| self.infer(a, b)),
            (Ty::List(a), Ty::List(b))
            | (Ty::Stack(a, _), Ty::Stack(b, _))
            | (Ty::Set(a), Ty::Set(b)) => self.infer(a, b),
            (Ty::Named(a), Ty::Named(b)) if a.id == b.id => {
                for (a, b) in a.args.iter().zip(b.args.iter()) {
                    self.infer(a, b);
                }
            }
            (Ty::Named(a), Ty::Named(b)) if a.kind == b.kind => self.infer_signature(a, b),
            (Ty::Named(_), Ty::ListExpr(b)) => {
                let members = self.hir.members(wanted).unwrap_or_default();
                for (a, b) in members.iter().zip(b.iter()) {
                    self.infer(a, b);
                }
            }
            (Ty::Named(_), Ty::StructExpr(b)) => {
                for (name, ty) in self.hir.fields(wanted).unwrap_or_default() {
                    if let Some((_, b)) = b.iter().find(|(n, _)| *n == name) {
                        self.infer(&ty, b);
                    }
                }
            }
            _ => {}
        }
    }

    /// A parser or control for a parser or control type: parameter by parameter.
    fn infer_signature(&mut self, wanted: &Named, found: &Named) {
        let (Some(a), Some(b)) = (self.block_params(wanted), self.block_params(found)) else {
            return;
        };
        for (a, b) in a.iter().zip(b.iter()) {
            self.infer(&a.ty, &b.ty);
        }
    }

    fn bind(&mut self, var: u32, found: &Ty) {
        let found = self.known(found);
        let occurs = found.any(&mut |part| *part == Ty::Var(var));
        let undecided = matches!(found, Ty::Error | Ty::DontCare | Ty::Invalid | Ty::Defaults);
        if !occurs && !undecided {
            self.vars[var as usize] = Some(settled(&found));
        }
    }

    /// The run-time parameters of a parser or control.
    pub(super) fn block_params(&self, named: &Named) -> Option<Vec<BlockParam>> {
        let params = self.hir.block_params(named.id)?;
        let with = self.hir.substitution(named);
        let one = |p: &Param| BlockParam {
            ty: p.ty.substitute(&with),
            direction: p.direction,
            optional: p.optional,
        };
        Some(params.iter().map(one).collect())
    }

    /// Converts `expr` to `wanted` if P4 has an implicit conversion, otherwise reports a type error. `what` is the use
    /// of the value for the message: "the argument for `x`".
    pub(super) fn coerce(&mut self, expr: Expr, wanted: &Ty, what: &str) -> Expr {
        let wanted = self.known(wanted);
        let span = expr.span;
        let found = self.known(&expr.ty);
        if wanted.is_error() || found.is_error() {
            return Expr { ty: wanted, ..expr };
        }
        match self.converted(expr, &wanted) {
            Ok(expr) => expr,
            Err(reported) => {
                if !reported {
                    self.mismatch(span, &wanted, &found, what);
                }
                Expr::error(span)
            }
        }
    }

    pub(super) fn mismatch(&mut self, span: Span, wanted: &Ty, found: &Ty, what: &str) {
        let mut diagnostic = Diagnostic::error(
            "type-mismatch",
            format!("{what} must be of type `{wanted}`"),
        )
        .label(span, format!("found `{found}`"));
        if let (Some(_), Some(_)) = (wanted.width(), found.width()) {
            diagnostic = diagnostic.help(format!("convert it: `({wanted})`"));
        }
        self.report(diagnostic);
    }

    /// Returns `Err(true)` if an error was reported.
    fn converted(&mut self, expr: Expr, wanted: &Ty) -> Result<Expr, bool> {
        let found = self.known(&expr.ty);
        if found == *wanted {
            return Ok(Expr { ty: found, ..expr });
        }
        let span = expr.span;
        let retyped = |kind| {
            Ok(Expr {
                kind,
                ty: wanted.clone(),
                span,
            })
        };
        match (&found, wanted) {
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => Ok(self.sized(expr, wanted)),
            (Ty::Invalid, _) if wanted.is_header_like() => retyped(ExprKind::Invalid),
            (Ty::Defaults, _) if !wanted.is_object() => {
                let value = self.default_of(wanted, span);
                if value.ty.is_error() {
                    return Err(true);
                }
                Ok(value)
            }
            (Ty::DontCare, _) => retyped(ExprKind::Any),
            (Ty::ListExpr(_), _) => self.list_as(expr, wanted),
            (Ty::StructExpr(_), _) => self.struct_as(expr, wanted),
            (Ty::Named(from), _) if from.kind == NamedKind::SerialisableEnum => {
                match self.hir.underlying(&found) {
                    Some(under) if under == *wanted => Ok(self.cast_to(expr, wanted)),
                    _ => Err(false),
                }
            }
            (Ty::Named(from), Ty::Named(to))
                if from.kind == to.kind
                    && matches!(from.kind, NamedKind::Parser | NamedKind::Control) =>
            {
                self.block_as(expr, from, to)
            }
            (Ty::Tuple(from), Ty::Tuple(to)) if from.len() == to.len() => {
                let unsized_int = from
                    .iter()
                    .zip(to.iter())
                    .all(|(a, b)| a == b || *a == Ty::Int);
                if unsized_int && matches!(expr.kind, ExprKind::List(_)) {
                    return self.list_as(expr, wanted);
                }
                Err(false)
            }
            _ if wanted.any(&mut |t| matches!(t, Ty::Var(_))) => {
                self.infer(wanted, &found);
                let now = self.known(wanted);
                if now == *wanted {
                    return Err(false);
                }
                self.converted(expr, &now)
            }
            _ => Err(false),
        }
    }

    /// An `int` as `bit<W>` or `int<W>`.
    pub(super) fn sized(&mut self, expr: Expr, wanted: &Ty) -> Expr {
        if let Some(value) = expr.int_value()
            && !constants::fits(value, wanted)
        {
            self.report(
                Diagnostic::warning(
                    "constant-truncated",
                    format!("{value} does not fit in `{wanted}`"),
                )
                .label(
                    expr.span,
                    format!("becomes {}", constants::wrap(value, wanted)),
                ),
            );
        }
        self.cast_to(expr, wanted)
    }

    /// Applies a conversion that is known to be valid.
    pub(super) fn cast_to(&mut self, expr: Expr, wanted: &Ty) -> Expr {
        let span = expr.span;
        let folded = expr.value().and_then(|v| constants::cast(v, wanted));
        let kind = match folded {
            Some(value) => ExprKind::Const(value),
            None => ExprKind::Cast(Box::new(expr)),
        };
        Expr {
            kind,
            ty: wanted.clone(),
            span,
        }
    }

    fn list_as(&mut self, expr: Expr, wanted: &Ty) -> Result<Expr, bool> {
        let ExprKind::List(elements) = expr.kind else {
            return Err(false);
        };
        let partial = matches!(
            elements.last(),
            Some(Expr {
                ty: Ty::Defaults,
                ..
            })
        );
        let types: Vec<Ty> = match wanted {
            Ty::List(of) => vec![(**of).clone(); elements.len()],
            Ty::Stack(of, len) if wanted.is_header_stack() && elements.len() <= *len as usize => {
                vec![(**of).clone(); elements.len()]
            }
            Ty::ListExpr(types) => types.to_vec(),
            _ if wanted.is(NamedKind::Union) => return Err(false),
            _ => match self.hir.members(wanted) {
                Some(types) => types,
                None => return Err(false),
            },
        };
        if elements.len() > types.len() || (elements.len() < types.len() && !partial) {
            let n = types.len();
            self.error(
                "wrong-length",
                expr.span,
                format!("`{wanted}` has {n} members"),
                format!("found {}", elements.len()),
            );
            return Err(true);
        }
        let given = elements.len() - usize::from(partial);
        let mut members = Vec::with_capacity(types.len());
        for (i, element) in elements.into_iter().take(given).enumerate() {
            let what = format!("member {} of `{wanted}`", i + 1);
            members.push(self.coerce(element, &types[i], &what));
        }
        for ty in &types[given..] {
            members.push(self.default_of(ty, expr.span));
        }
        Ok(Expr {
            kind: ExprKind::List(members),
            ty: wanted.clone(),
            span: expr.span,
        })
    }

    /// The value of `...`.
    fn default_of(&mut self, ty: &Ty, span: Span) -> Expr {
        if let Some(part) = self.without_default(ty) {
            let message = format!("a value of type `{part}` has no default");
            self.error("no-default", span, message, "must be given");
            return Expr::error(span);
        }
        Expr {
            kind: ExprKind::Defaults,
            ty: ty.clone(),
            span,
        }
    }

    /// The part of a type that has no default value, if there is one.
    fn without_default(&self, ty: &Ty) -> Option<Ty> {
        match ty {
            Ty::List(_) | Ty::MatchKind | Ty::Set(_) => Some(ty.clone()),
            Ty::Stack(of, _) => self.without_default(of),
            Ty::Named(_) | Ty::Tuple(_) => {
                let members = self.hir.members(ty)?;
                members.iter().find_map(|m| self.without_default(m))
            }
            _ => None,
        }
    }

    fn struct_as(&mut self, expr: Expr, wanted: &Ty) -> Result<Expr, bool> {
        let (ExprKind::List(values), Ty::StructExpr(names)) = (expr.kind, &expr.ty) else {
            return Err(false);
        };
        let fields = match self.hir.fields(wanted) {
            Some(fields) if !wanted.is(NamedKind::Union) => fields,
            _ => return Err(false),
        };
        let partial = names.iter().any(|(name, _)| &**name == "...");
        let mut given: Vec<Option<Expr>> = values.into_iter().map(Some).collect();
        let mut members = Vec::with_capacity(fields.len());
        let mut missing = Vec::new();
        for (name, ty) in &fields {
            let at = names.iter().position(|(n, _)| n == name);
            match at.and_then(|i| given[i].take()) {
                Some(value) => {
                    let what = format!("field `{name}` of `{wanted}`");
                    members.push(self.coerce(value, ty, &what));
                }
                None => {
                    missing.push(&**name);
                    members.push(self.default_of(ty, expr.span));
                }
            }
        }
        let mut wrong = false;
        for ((name, _), left) in names.iter().zip(&given) {
            if let Some(left) = left.as_ref().filter(|_| &**name != "...") {
                let valid = self.field_names(wanted);
                self.error(
                    "unknown-field",
                    left.span,
                    format!("`{wanted}` has no field `{name}`"),
                    format!("fields are {valid}"),
                );
                wrong = true;
            }
        }
        if !missing.is_empty() && !partial && !wrong {
            let missing = super::suggest::listed(missing);
            self.error(
                "missing-field",
                expr.span,
                format!("{missing} of `{wanted}` must be given"),
                "missing here",
            );
            wrong = true;
        }
        if wrong {
            return Err(true);
        }
        Ok(Expr {
            kind: ExprKind::List(members),
            ty: wanted.clone(),
            span: expr.span,
        })
    }

    /// A parser or control for a parser or control type. Either may have more parameters than the other, if the
    /// additional ones are optional.
    fn block_as(&mut self, expr: Expr, from: &Named, to: &Named) -> Result<Expr, bool> {
        let (Some(found), Some(wanted)) = (self.block_params(from), self.block_params(to)) else {
            return Err(false);
        };
        let required = |params: &[BlockParam]| params.iter().rposition(|p| !p.optional);
        let lacks = |params: &[BlockParam], of: &[BlockParam]| {
            required(of).is_some_and(|last| params.len() <= last)
        };
        if lacks(&found, &wanted) || lacks(&wanted, &found) {
            self.error(
                "wrong-block",
                expr.span,
                format!(
                    "`{}` has {} parameters where `{}` has {}",
                    from.name,
                    found.len(),
                    to.name,
                    match required(&wanted).map_or(0, |last| last + 1) {
                        least if least < wanted.len() => format!("{least} to {}", wanted.len()),
                        all => all.to_string(),
                    }
                ),
                format!("does not fit `{}`", to.name),
            );
            return Err(true);
        }
        self.infer_signature(to, from);
        for (i, (a, b)) in found.iter().zip(&wanted).enumerate() {
            let (a_ty, b_ty) = (self.known(&a.ty), self.known(&b.ty));
            let agree = a_ty == b_ty || a_ty.is_error() || b_ty.is_error();
            if agree && a.direction == b.direction {
                continue;
            }
            self.error(
                "wrong-block",
                expr.span,
                format!(
                    "parameter {} of `{}` is `{}`, where `{}` has `{}`",
                    i + 1,
                    from.name,
                    directed(a.direction, &a_ty),
                    to.name,
                    directed(b.direction, &b_ty)
                ),
                format!("does not fit `{}`", to.name),
            );
            return Err(true);
        }
        Ok(expr)
    }
}

fn directed(direction: Direction, ty: &Ty) -> String {
    format!("{}{ty}", direction_word(direction))
}

/// "in ", "out ", "inout " or nothing.
pub(super) fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

/// The type of a list without other context: a tuple.
pub(super) fn settled(ty: &Ty) -> Ty {
    match ty {
        Ty::ListExpr(members) => Ty::Tuple(members.iter().map(settled).collect()),
        Ty::StructExpr(fields) => Ty::Tuple(fields.iter().map(|(_, ty)| settled(ty)).collect()),
        other => other.clone(),
    }
}

/// A list without other context, converted to a tuple.
pub(super) fn settle(expr: Expr) -> Expr {
    let ty = settled(&expr.ty);
    let kind = match expr.kind {
        ExprKind::List(members) => ExprKind::List(members.into_iter().map(settle).collect()),
        kind => kind,
    };
    Expr { kind, ty, ..expr }
}

/// The value of a condition, or `None` if it is not known.
pub(super) fn known_bool(expr: &Expr) -> Option<bool> {
    match expr.value()? {
        Value::Bool(value) => Some(*value),
        _ => None,
    }
}
