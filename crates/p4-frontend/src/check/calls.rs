//! Calls: which overload, which parameter takes which argument, which type arguments.

use super::{Checker, Inside, infer, scope, suggest};
use crate::ast::{self, DeclId, Direction, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Call, Callee, DefKind, Expr, ExprKind, Function, Named, NamedKind, Param, Substitution, Ty,
    Value,
};
use crate::span::Span;
use num_traits::{Signed, ToPrimitive};
use std::rc::Rc;

/// What a call must agree with.
pub(super) struct Signature<'a> {
    /// "`hash`": for messages.
    pub what: String,
    pub type_params: Vec<(DeclId, Symbol)>,
    pub params: Rc<[Param<'a>]>,
    pub result: Ty,
    /// The type arguments of the object whose method it is.
    pub with: Substitution,
    /// Whether arguments without direction must be known at compile time.
    pub known: bool,
}

/// Type arguments, arguments by parameter, type of the result.
type Agreed = (Vec<Ty>, Vec<Option<Expr>>, Ty);

impl<'a> Checker<'a> {
    pub(super) fn call(
        &mut self,
        callee: &'a ast::Expr,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        match &callee.kind {
            ast::ExprKind::Name(path) => self.call_name(path, type_args, args, span),
            ast::ExprKind::Type(ty) => {
                let ty = self.ty_to_infer(ty);
                self.constructor(&ty, args, span)
            }
            ast::ExprKind::Member { base, name } => {
                self.call_member(base, name, type_args, args, span)
            }
            _ => {
                let found = self.expr(callee);
                if !found.ty.is_error() {
                    self.error(
                        "not-callable",
                        callee.span,
                        format!("a value of type `{}` cannot be called", found.ty),
                        "expected a function, action, method or constructor",
                    );
                }
                Expr::error(span)
            }
        }
    }

    fn call_name(
        &mut self,
        path: &'a ast::Path,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let ids = self.find(path).to_vec();
        let first = match ids.first() {
            Some(id) => *id,
            None => {
                self.resolve(path, "function or action");
                return Expr::error(span);
            }
        };
        let Some(def) = self.def(first) else {
            return Expr::error(span);
        };
        match &def.kind {
            DefKind::Function(_) => self.call_function(&ids, path, type_args, args, span),
            DefKind::Action(action) => {
                let params = action.params.clone();
                if let Some(written) = type_args.first() {
                    let name = path.name.name.clone();
                    self.wrong_type_arguments(&name, 0, type_args.len(), written.span);
                    return Expr::error(span);
                }
                self.call_action(first, params, path, args, span)
            }
            other => {
                let what = scope::described(other);
                let written: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
                if let Some(ty) = self.type_of_definition(first, written, true, path.span) {
                    return self.constructor(&ty, args, span);
                }
                self.error(
                    "not-callable",
                    path.span,
                    format!("`{}` is {what}, which cannot be called", path.name.name),
                    "expected a function, action or constructor",
                );
                Expr::error(span)
            }
        }
    }

    fn call_function(
        &mut self,
        ids: &[DeclId],
        path: &ast::Path,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let name = &path.name;
        let Some(id) = self.overload(ids, args, name) else {
            return Expr::error(span);
        };
        let Some(function) = self.function(id) else {
            return Expr::error(span);
        };
        let is_extern = function.body.is_none();
        let signature = signature(&name.name, function, Substitution::new(), is_extern);
        let Some((type_args, args, ty)) = self.arguments(signature, type_args, args, span) else {
            return Expr::error(span);
        };
        if !self.have_widths(&type_args, &args) {
            return Expr::error(span);
        }
        if is_extern && name.as_str() == "verify" && self.inside != Inside::Parser {
            self.error(
                "only-in-parser",
                span,
                "`verify` is only possible in a parser",
                "not in a parser",
            );
            return Expr::error(span);
        }
        if is_extern && name.as_str() == "static_assert" {
            return self.static_assert(&args, span);
        }
        if self.inside == Inside::TopLevel {
            self.error(
                "call-at-top-level",
                span,
                "a call is not possible at the top level",
                "expected a value known at compile time",
            );
            return Expr::error(span);
        }
        let callee = if is_extern {
            Callee::ExternFunction(id)
        } else {
            Callee::Function(id)
        };
        finished(callee, type_args, args, ty, span)
    }

    /// A number that a type parameter takes its type from must have a width when packets come.
    fn have_widths(&mut self, type_args: &[Ty], args: &[Option<Expr>]) -> bool {
        if !type_args.contains(&Ty::Int) {
            return true;
        }
        let number = args.iter().flatten().find(|a| a.ty == Ty::Int);
        if let Some(number) = number {
            self.error(
                "unknown-width",
                number.span,
                "the width of this value is not known",
                "give it a width, as in `8w1`",
            );
        }
        number.is_none()
    }

    fn static_assert(&mut self, args: &[Option<Expr>], span: Span) -> Expr {
        let Some(Some(check)) = args.first() else {
            return Expr::error(span);
        };
        match infer::known_bool(check) {
            Some(true) => {}
            Some(false) => {
                let text = match args.get(1).and_then(|a| a.as_ref()).and_then(Expr::value) {
                    Some(Value::String(text)) => format!("static_assert failed: {text}"),
                    _ => "static_assert failed".into(),
                };
                self.error("static-assert", span, text, "this is false");
            }
            None => self.error(
                "not-constant",
                check.span,
                "a static_assert's condition must be known at compile time",
                "not constant",
            ),
        }
        Expr::constant(Value::Bool(true), Ty::Bool, span)
    }

    fn call_action(
        &mut self,
        id: DeclId,
        params: Rc<[Param<'a>]>,
        path: &ast::Path,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if !matches!(self.inside, Inside::Control | Inside::Action) {
            self.error(
                "misplaced-call",
                span,
                format!("action `{}` cannot be called here", path.name.name),
                "actions are called in controls and actions",
            );
            return Expr::error(span);
        }
        let signature = Signature {
            what: path.name.name.to_string(),
            type_params: Vec::new(),
            params,
            result: Ty::Void,
            with: Substitution::new(),
            known: false,
        };
        match self.arguments(signature, &[], args, span) {
            Some((_, args, ty)) => finished(Callee::Action(id), Vec::new(), args, ty, span),
            None => Expr::error(span),
        }
    }

    fn call_member(
        &mut self,
        base: &'a ast::Expr,
        name: &'a ast::Ident,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if let Some(ty) = self.as_type(base) {
            return self.call_type_member(&ty, name, args, span);
        }
        let base_expr = self.expr(base);
        if base_expr.ty.is_error() {
            return Expr::error(span);
        }
        let ty = base_expr.ty.clone();
        let method = name.as_str();
        if let Some(size) = self.size_method(&ty, method) {
            return self.without_arguments(args, Expr::int(size, Ty::Int, span));
        }
        match &ty {
            Ty::Table(id, _) if method == "apply" => self.apply_table(*id, &ty, args, span),
            Ty::Stack(..) if matches!(method, "push_front" | "pop_front") => {
                self.push_or_pop(base_expr, method == "push_front", args, span)
            }
            Ty::Named(named) => match (named.kind, method) {
                (NamedKind::Header, "setValid" | "setInvalid") => {
                    if !self.require_writable(&base_expr, "a header whose validity is set") {
                        return Expr::error(span);
                    }
                    let callee = Callee::SetValid(base_expr, method == "setValid");
                    let call = finished(callee, Vec::new(), Vec::new(), Ty::Void, span);
                    self.without_arguments(args, call)
                }
                (NamedKind::Header | NamedKind::Union, "isValid") => {
                    let callee = Callee::IsValid(base_expr);
                    let call = finished(callee, Vec::new(), Vec::new(), Ty::Bool, span);
                    self.without_arguments(args, call)
                }
                (NamedKind::Parser | NamedKind::Control, "apply") => {
                    if let ExprKind::Object(id) = base_expr.kind {
                        *self.hir.applied.entry(id).or_default() += 1;
                    }
                    let named = named.clone();
                    self.apply_block(&named, Callee::Instance(base_expr), type_args, args, span)
                }
                (NamedKind::Extern, _) => {
                    let named = named.clone();
                    self.call_method(base_expr, &named, name, type_args, args, span)
                }
                _ => self.no_method(&ty, name, span),
            },
            _ => self.no_method(&ty, name, span),
        }
    }

    fn no_method(&mut self, ty: &Ty, name: &ast::Ident, span: Span) -> Expr {
        let is_field = self
            .hir
            .fields(ty)
            .is_some_and(|fields| fields.iter().any(|(n, _)| *n == name.name));
        if is_field {
            self.error(
                "not-callable",
                name.span,
                format!("`{}` is a field, not a method", name.name),
                "cannot be called",
            );
        } else {
            let valid = self.methods_of(ty);
            self.unknown_member(name, ty, valid);
        }
        Expr::error(span)
    }

    fn without_arguments(&mut self, args: &'a [ast::Argument], call: Expr) -> Expr {
        let Some(first) = args.first() else {
            return call;
        };
        self.error(
            "wrong-arguments",
            first.span,
            "this method takes no arguments",
            "not expected",
        );
        Expr::error(call.span)
    }

    fn size_method(&self, ty: &Ty, method: &str) -> Option<u64> {
        let (varbit, unit) = match method {
            "minSizeInBits" => (0, 1),
            "maxSizeInBits" => (1, 1),
            "minSizeInBytes" => (0, 8),
            "maxSizeInBytes" => (1, 8),
            _ => return None,
        };
        Some(self.hir.bits(ty, varbit)?.div_ceil(unit))
    }

    fn call_type_member(
        &mut self,
        ty: &Ty,
        name: &'a ast::Ident,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if ty.is_error() {
            return Expr::error(span);
        }
        if let Some(size) = self.size_method(ty, name.as_str()) {
            return self.without_arguments(args, Expr::int(size, Ty::Int, span));
        }
        match ty {
            Ty::Named(named)
                if matches!(named.kind, NamedKind::Parser | NamedKind::Control)
                    && name.as_str() == "apply" =>
            {
                if !self.constructor_params(named).is_empty() {
                    self.error(
                        "wrong-arguments",
                        span,
                        format!(
                            "`{}` must be instantiated to give it its arguments",
                            named.name
                        ),
                        "the constructor takes arguments",
                    );
                    return Expr::error(span);
                }
                self.apply_block(named, Callee::Anonymous(ty.clone()), &[], args, span)
            }
            _ => self.no_method(ty, name, span),
        }
    }

    fn constructor_params(&self, named: &Named) -> Rc<[Param<'a>]> {
        match self.def(named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(g)) => g.of.constructor_params.clone(),
            Some(DefKind::Control(g)) => g.of.constructor_params.clone(),
            Some(DefKind::Package(g)) => g.of.clone(),
            _ => Rc::from([]),
        }
    }

    fn apply_table(&mut self, id: DeclId, ty: &Ty, args: &'a [ast::Argument], span: Span) -> Expr {
        if self.inside != Inside::Control {
            self.error(
                "misplaced-call",
                span,
                "a table can only be applied in a control's apply block",
                "not possible here",
            );
            return Expr::error(span);
        }
        *self.hir.applied.entry(id).or_default() += 1;
        let Ty::Table(_, name) = ty else {
            return Expr::error(span);
        };
        let ty = Ty::ApplyResult(id, name.clone());
        let call = finished(Callee::Table(id), Vec::new(), Vec::new(), ty, span);
        self.without_arguments(args, call)
    }

    fn apply_block(
        &mut self,
        named: &Named,
        callee: Callee,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let (params, wanted) = match self.def(named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(g)) => (g.of.params.clone(), Inside::Parser),
            Some(DefKind::Control(g)) => (g.of.params.clone(), Inside::Control),
            _ => return Expr::error(span),
        };
        if self.inside != wanted {
            let (what, place) = match wanted {
                Inside::Parser => ("parser", "parsers apply parsers"),
                _ => ("control", "controls are applied in a control's apply block"),
            };
            self.error(
                "misplaced-call",
                span,
                format!("{what} `{}` cannot be applied here", named.name),
                place,
            );
            return Expr::error(span);
        }
        let signature = Signature {
            what: named.name.to_string(),
            type_params: Vec::new(),
            params,
            result: Ty::Void,
            with: self.hir.substitution(named),
            known: false,
        };
        match self.arguments(signature, type_args, args, span) {
            Some((type_args, args, ty)) => {
                let callee = match callee {
                    Callee::Anonymous(ty) => Callee::Anonymous(self.known(&ty)),
                    other => other,
                };
                finished(callee, type_args, args, ty, span)
            }
            None => Expr::error(span),
        }
    }

    fn push_or_pop(
        &mut self,
        stack: Expr,
        push: bool,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if !self.require_writable(&stack, "a stack that is pushed or popped") {
            return Expr::error(span);
        }
        let [arg] = args else {
            self.error(
                "wrong-arguments",
                span,
                "expected one argument: by how many elements",
                format!("found {}", args.len()),
            );
            return Expr::error(span);
        };
        let count = match self.constant_int(&arg.value, "the number of elements") {
            Some(count) => count,
            None => return Expr::error(span),
        };
        if count.is_negative() {
            self.error(
                "bad-number",
                arg.span,
                format!("the number of elements cannot be {count}"),
                "it is negative",
            );
            return Expr::error(span);
        }
        let count = count.to_u32().unwrap_or(u32::MAX);
        let callee = if push {
            Callee::PushFront(stack, count)
        } else {
            Callee::PopFront(stack, count)
        };
        finished(callee, Vec::new(), Vec::new(), Ty::Void, span)
    }

    fn call_method(
        &mut self,
        object: Expr,
        named: &Named,
        name: &'a ast::Ident,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let Some(DefKind::Extern(ext)) = self.def(named.id).map(|d| &d.kind) else {
            return Expr::error(span);
        };
        let named_so = |m: &DeclId| self.def(*m).is_some_and(|d| d.name == name.name);
        let methods: Vec<DeclId> = ext.of.methods.iter().copied().filter(named_so).collect();
        if methods.is_empty() {
            return self.no_method(&object.ty, name, span);
        }
        let Some(method) = self.overload(&methods, args, name) else {
            return Expr::error(span);
        };
        let Some(function) = self.function(method) else {
            return Expr::error(span);
        };
        if self.inside == Inside::TopLevel {
            self.error(
                "call-at-top-level",
                span,
                "a call is not possible at the top level",
                "expected a value known at compile time",
            );
            return Expr::error(span);
        }
        let with = self.hir.substitution(named);
        let what = format!("{}.{}", named.name, name.name);
        let signature = signature(&what, function, with, true);
        match self.arguments(signature, type_args, args, span) {
            Some((type_args, args, ty)) => {
                if !self.have_widths(&type_args, &args)
                    || !self.packet_method(named, name, &type_args, &args, span)
                {
                    return Expr::error(span);
                }
                let callee = Callee::Method { object, method };
                finished(callee, type_args, args, ty, span)
            }
            None => Expr::error(span),
        }
    }

    /// What core.p4's signatures do not say: which types can be extracted, looked at and emitted.
    fn packet_method(
        &mut self,
        named: &Named,
        method: &ast::Ident,
        type_args: &[Ty],
        args: &[Option<Expr>],
        span: Span,
    ) -> bool {
        let Some(ty) = type_args.first() else {
            return true;
        };
        if ty.any(&mut |t| matches!(t, Ty::Param(..) | Ty::Error)) {
            return true;
        }
        let (fixed, most) = (self.hir.bits(ty, 0), self.hir.bits(ty, 1));
        let place = args.first().and_then(Option::as_ref).map_or(span, |a| a.span);
        let wrong = match (&*named.name, method.as_str()) {
            ("packet_in", "extract") if !ty.is(NamedKind::Header) => "expected a header",
            ("packet_in", "extract") if args.len() == 1 && fixed != most => {
                "it has a varbit: expected its length in bits as second argument"
            }
            ("packet_in", "extract") if args.len() == 2 && fixed == most => {
                "it has no varbit: expected no second argument"
            }
            ("packet_in", "lookahead") if fixed.is_none() || fixed != most => {
                "expected a type of fixed size"
            }
            ("packet_out", "emit") if !self.emits(ty) => {
                "expected a header, a stack, a union, or a struct of such"
            }
            _ => return true,
        };
        let message = format!("`{}` cannot take a value of type `{ty}`", method.name);
        self.error("bad-packet-type", place, message, wrong);
        false
    }

    fn emits(&self, ty: &Ty) -> bool {
        match ty {
            _ if ty.is_header_like() => true,
            Ty::Stack(..) => true,
            other => match self.hir.members(other) {
                Some(members) => members.iter().all(|m| self.emits(m)),
                None => false,
            },
        }
    }

    /// An instance: `Type(args)`.
    pub(super) fn constructor(&mut self, ty: &Ty, args: &'a [ast::Argument], span: Span) -> Expr {
        let Ty::Named(named) = ty else {
            if !ty.is_error() {
                self.cannot_instantiate(ty, span);
            }
            return Expr::error(span);
        };
        let with = self.hir.substitution(named);
        let (params, of) = match self.def(named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(g)) if g.of.body.is_some() => {
                (g.of.constructor_params.clone(), None)
            }
            Some(DefKind::Control(g)) if g.of.body.is_some() => {
                (g.of.constructor_params.clone(), None)
            }
            Some(DefKind::Package(g)) => (g.of.clone(), None),
            Some(DefKind::Extern(g)) => {
                let constructors = g.of.constructors.clone();
                let ident = ast::Ident {
                    name: named.name.clone(),
                    span,
                };
                if constructors.is_empty() {
                    self.cannot_instantiate(ty, span);
                    return Expr::error(span);
                }
                let chosen = self.overload(&constructors, args, &ident);
                match chosen.and_then(|id| Some((self.function(id)?.params, Some(id)))) {
                    Some(found) => found,
                    None => return Expr::error(span),
                }
            }
            _ => {
                self.cannot_instantiate(ty, span);
                return Expr::error(span);
            }
        };
        let signature = Signature {
            what: named.name.to_string(),
            type_params: Vec::new(),
            params,
            result: ty.clone(),
            with,
            known: true,
        };
        let Some((_, args, _)) = self.arguments(signature, &[], args, span) else {
            return Expr::error(span);
        };
        let result = self.known(ty);
        self.check_inferred(&result, span);
        finished(Callee::Constructor(of), Vec::new(), args, result, span)
    }

    fn check_inferred(&mut self, ty: &Ty, span: Span) {
        let Ty::Named(named) = ty else { return };
        let missing = named.args.iter().position(|a| matches!(a, Ty::Var(_)));
        let Some(i) = missing else { return };
        if named.kind == NamedKind::Package {
            return;
        }
        let name = self.hir.type_params(named.id)[i].1.clone();
        self.error(
            "cannot-infer",
            span,
            format!(
                "type argument `{name}` of `{}` cannot be inferred",
                named.name
            ),
            format!("write it: `{}<…>`", named.name),
        );
    }

    fn cannot_instantiate(&mut self, ty: &Ty, span: Span) {
        self.error(
            "not-instantiable",
            span,
            format!("`{ty}` cannot be instantiated"),
            "expected a parser, control or package with a body, or an extern with a constructor",
        );
    }

    pub(super) fn function(&self, id: DeclId) -> Option<Function<'a>> {
        match &self.def(id)?.kind {
            DefKind::Function(function) => Some(function.clone()),
            _ => None,
        }
    }

    /// The declaration that number and names of the arguments choose.
    fn overload(
        &mut self,
        ids: &[DeclId],
        args: &[ast::Argument],
        name: &ast::Ident,
    ) -> Option<DeclId> {
        if let [only] = ids {
            return Some(*only);
        }
        let functions: Vec<(DeclId, Function)> = ids
            .iter()
            .filter_map(|id| Some((*id, self.function(*id)?)))
            .collect();
        let fits = |f: &Function| {
            let required = f
                .params
                .iter()
                .filter(|p| !p.optional && p.default.is_none());
            let named = args.iter().filter_map(|a| a.name.as_ref());
            args.len() <= f.params.len()
                && args.len() >= required.count()
                && named
                    .into_iter()
                    .all(|n| f.params.iter().any(|p| p.name == n.name))
        };
        let found: Vec<DeclId> = functions
            .iter()
            .filter(|(_, f)| fits(f))
            .map(|(id, _)| *id)
            .collect();
        if let Some(first) = found.first() {
            let exact = functions
                .iter()
                .find(|(id, f)| found.contains(id) && f.params.len() == args.len());
            return Some(exact.map_or(*first, |(id, _)| *id));
        }
        let shapes: Vec<String> = functions
            .iter()
            .map(|(_, f)| {
                let params: Vec<&str> = f.params.iter().map(|p| &*p.name).collect();
                format!("{}({})", name.name, params.join(", "))
            })
            .collect();
        self.report(
            Diagnostic::error(
                "wrong-arguments",
                format!("no `{}` takes these {} arguments", name.name, args.len()),
            )
            .label(name.span, "no declaration fits")
            .note(format!(
                "there are {}",
                suggest::listed(shapes.iter().map(String::as_str))
            )),
        );
        None
    }

    /// Puts arguments to parameters, infers type arguments, converts.
    pub(super) fn arguments(
        &mut self,
        signature: Signature<'a>,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Option<Agreed> {
        let Signature {
            what,
            type_params,
            params,
            result,
            mut with,
            known,
        } = signature;
        let written: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
        if !written.is_empty() && written.len() != type_params.len() {
            self.wrong_type_arguments(&what, type_params.len(), written.len(), span);
            return None;
        }
        let mut given = written.into_iter();
        let mut own = Vec::new();
        for (id, _) in &type_params {
            let ty = given.next().unwrap_or_else(|| self.fresh());
            own.push(ty.clone());
            with.insert(*id, ty);
        }
        let placed = self.placed(&what, &params, args, span)?;
        let types: Vec<Ty> = params.iter().map(|p| p.ty.substitute(&with)).collect();
        let mut exprs: Vec<Option<Expr>> = Vec::new();
        for (i, arg) in placed.iter().enumerate() {
            exprs.push(arg.map(|arg| self.argument(arg, &params[i])));
        }
        self.infer_arguments(&types, &exprs);
        let mut complete = true;
        let mut converted = Vec::new();
        for (i, expr) in exprs.into_iter().enumerate() {
            let param = &params[i];
            let Some(expr) = expr else {
                converted.push(param.default.clone());
                continue;
            };
            let expr = self.conforming(expr, param, &types[i], &what, known);
            complete &= !expr.ty.is_error();
            converted.push(Some(expr));
        }
        if !complete {
            return None;
        }
        let own: Vec<Ty> = own.iter().map(|ty| self.known(ty)).collect();
        for ((_, name), ty) in type_params.iter().zip(&own) {
            if matches!(ty, Ty::Var(_)) {
                self.error(
                    "cannot-infer",
                    span,
                    format!("type argument `{name}` of `{what}` cannot be inferred"),
                    format!("write it: `{what}<…>(…)`"),
                );
                return None;
            }
        }
        let result = self.known(&result.substitute(&with));
        Some((own, converted, result))
    }

    fn argument(&mut self, arg: &'a ast::Argument, param: &Param) -> Expr {
        let span = arg.value.span;
        if !matches!(arg.value.kind, ast::ExprKind::DontCare) {
            let value = self.expr(&arg.value);
            if matches!(&value.kind, ExprKind::Call(call) if matches!(call.callee, Callee::Constructor(_))) {
                self.check_not_abstract(&value.ty.clone(), span);
            }
            return value;
        }
        if param.direction == Direction::Out || param.optional {
            return Expr {
                kind: ExprKind::Any,
                ty: Ty::DontCare,
                span,
            };
        }
        self.error(
            "dont-care-as-value",
            span,
            format!(
                "`_` is only possible for an `out` parameter; `{}` is not",
                param.name
            ),
            "expected a value",
        );
        Expr::error(span)
    }

    /// Which argument each parameter gets.
    fn placed(
        &mut self,
        what: &str,
        params: &[Param],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Option<Vec<Option<&'a ast::Argument>>> {
        let mut placed: Vec<Option<&ast::Argument>> = vec![None; params.len()];
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                Some(name) => params.iter().position(|p| p.name == name.name),
                None => Some(i).filter(|i| *i < params.len()),
            };
            let Some(at) = at else {
                self.surplus(what, params, arg, args.len());
                return None;
            };
            if placed[at].replace(arg).is_some() {
                self.error(
                    "wrong-arguments",
                    arg.span,
                    format!("parameter `{}` of `{what}` is given twice", params[at].name),
                    "given again",
                );
                return None;
            }
        }
        let missing: Vec<&str> = params
            .iter()
            .zip(&placed)
            .filter(|(p, a)| a.is_none() && p.default.is_none() && !p.optional)
            .map(|(p, _)| &*p.name)
            .collect();
        if missing.is_empty() {
            return Some(placed);
        }
        self.error(
            "wrong-arguments",
            span,
            format!(
                "`{what}` is not given {}",
                suggest::listed(missing.iter().copied())
            ),
            format!("{} of {} arguments given", args.len(), params.len()),
        );
        None
    }

    fn surplus(&mut self, what: &str, params: &[Param], arg: &ast::Argument, found: usize) {
        let names = params.iter().map(|p| &*p.name);
        let valid = match params.len() {
            0 => "it has no parameters".to_string(),
            _ => format!("its parameters are {}", suggest::listed(names)),
        };
        let (message, label) = match &arg.name {
            Some(name) => (
                format!("`{what}` has no parameter `{}`", name.name),
                "no such parameter".to_string(),
            ),
            None => (
                match params.len() {
                    0 => format!("`{what}` takes no arguments"),
                    1 => format!("`{what}` takes 1 argument"),
                    n => format!("`{what}` takes {n} arguments"),
                },
                format!("{found} given"),
            ),
        };
        self.report(
            Diagnostic::error("wrong-arguments", message)
                .label(arg.span, label)
                .note(valid),
        );
    }

    /// Types with a width first, so that `random(x, 0, 10)` takes the type of `x`.
    fn infer_arguments(&mut self, types: &[Ty], exprs: &[Option<Expr>]) {
        for of_int in [false, true] {
            for (ty, expr) in types.iter().zip(exprs) {
                let Some(expr) = expr else { continue };
                if (expr.ty == Ty::Int) == of_int {
                    let found = expr.ty.clone();
                    self.infer(ty, &found);
                }
            }
        }
    }

    fn conforming(&mut self, expr: Expr, param: &Param, ty: &Ty, what: &str, known: bool) -> Expr {
        let span = expr.span;
        if expr.ty.is_error() {
            return Expr::error(span);
        }
        let of = format!("argument `{}` of `{what}`", param.name);
        if matches!(param.direction, Direction::Out | Direction::InOut)
            && !matches!(expr.kind, ExprKind::Any)
        {
            if !self.require_writable(&expr, &of) {
                return Expr::error(span);
            }
            let wanted = self.known(ty);
            if expr.ty != wanted && !wanted.is_error() && !matches!(expr.ty, Ty::Error) {
                self.mismatch(span, &wanted, &expr.ty.clone(), &of);
                return Expr::error(span);
            }
            return expr;
        }
        let expr = self.coerce(expr, ty, &of);
        let bare = matches!(expr.ty, Ty::Action | Ty::Function | Ty::Void | Ty::Table(..));
        let object = expr.ty.is_object() && !param.ty.is_object();
        if expr.ty == Ty::String && param.direction != Direction::None {
            self.error(
                "type-mismatch",
                span,
                format!("{of} cannot be a string, as the parameter has a direction"),
                "expected a value that packets can hold",
            );
            return Expr::error(span);
        }
        if bare || object {
            self.error(
                "not-a-value",
                span,
                format!("{of} must be a value"),
                "not a value",
            );
            return Expr::error(span);
        }
        if known && param.direction == Direction::None && !expr.is_known() {
            self.error(
                "not-constant",
                span,
                format!("{of} must be known at compile time"),
                "only known when packets come",
            );
            return Expr::error(span);
        }
        expr
    }
}

pub(super) fn signature<'a>(
    what: &str,
    function: Function<'a>,
    with: Substitution,
    known: bool,
) -> Signature<'a> {
    Signature {
        what: what.to_string(),
        type_params: function.type_params,
        params: function.params,
        result: function.result,
        with,
        known,
    }
}

fn finished(
    callee: Callee,
    type_args: Vec<Ty>,
    args: Vec<Option<Expr>>,
    ty: Ty,
    span: Span,
) -> Expr {
    let call = Call {
        callee,
        type_args,
        args,
    };
    Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
        span,
    }
}
