//! Parameters.

use super::{Checker, Facts};
use crate::ast::{self, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, NamedKind, Param, Ty};
use std::rc::Rc;

/// The owner of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Action,
    Function,
    Extern,
    /// A parser or control with a body.
    Block,
    /// A parser or control type.
    BlockType,
    ParserConstructor,
    ControlConstructor,
    ExternConstructor,
    Package,
}

impl Of {
    /// Whether arguments are known at compile time.
    fn is_constructor(self) -> bool {
        matches!(
            self,
            Of::ParserConstructor | Of::ControlConstructor | Of::ExternConstructor | Of::Package
        )
    }

    /// Which of parsers, controls and packages are valid parameters, for messages.
    fn valid_blocks(self) -> &'static str {
        match self {
            Of::ParserConstructor => "a parser's constructor takes parser types only",
            Of::ControlConstructor => "a control's constructor takes control types only",
            Of::ExternConstructor => "an extern's constructor takes values and externs only",
            _ => "only packages take parsers, controls and packages",
        }
    }
}

impl<'a> Checker<'a> {
    /// Declares parameters in a scope that has just been opened.
    pub(super) fn params(&mut self, params: &'a [ast::Parameter], of: Of) -> Rc<[Param<'a>]> {
        let one = |p: &'a ast::Parameter| self.param(p, of);
        params.iter().map(one).collect()
    }

    pub(super) fn param(&mut self, p: &'a ast::Parameter, of: Of) -> Param<'a> {
        let constructor = of.is_constructor();
        let ty = self.signature_type(&p.ty);
        self.check_param(p, &ty, of);
        if constructor && p.direction != Direction::None {
            self.error(
                "parameter-direction",
                p.span,
                format!(
                    "a constructor's parameter `{}` cannot have a direction",
                    p.name.name
                ),
                "it is known at compile time",
            );
        }
        let what = format!("the default of `{}`", p.name.name);
        let default = p.default.as_ref().map(|e| {
            // A package's type parameters are inferred from its arguments, including defaults.
            let wanted = match of {
                Of::Package => self.opened(&ty),
                _ => ty.clone(),
            };
            let value = self.expr_as(e, &wanted, &what);
            if !value.is_known() {
                self.error(
                    "not-constant",
                    value.span,
                    format!("{what} must be known at compile time"),
                    "not constant",
                );
            }
            value
        });
        let kind = if constructor {
            DefKind::ConstructorParam(ty.clone())
        } else {
            DefKind::Param(ty.clone(), p.direction)
        };
        self.declare(p.id, &p.name, &p.annotations, kind);
        Param {
            id: p.id,
            name: p.name.name.clone(),
            ty,
            direction: p.direction,
            default,
            optional: ast::annotation(&p.annotations, "optional").is_some(),
            annotations: &p.annotations,
            span: p.name.span,
        }
    }
}

impl<'a> Facts<'a> {
    /// Whether a parser or control has a body.
    fn has_body(&self, ty: &Ty) -> bool {
        let Ty::Named(named) = ty else { return false };
        match self.hir.kind(named.id) {
            Some(DefKind::Parser(parser)) => parser.of.body.is_some(),
            Some(DefKind::Control(control)) => control.of.body.is_some(),
            _ => false,
        }
    }

    fn check_param(&mut self, p: &ast::Parameter, ty: &Ty, of: Of) {
        let name = &p.name.name;
        let directed = p.direction != Direction::None;
        let block = matches!(
            ty.named_kind(),
            Some(NamedKind::Parser | NamedKind::Control | NamedKind::Package)
        );
        let may_block = match of {
            Of::Package => true,
            Of::ParserConstructor => ty.is(NamedKind::Parser) && !self.has_body(ty),
            Of::ControlConstructor => ty.is(NamedKind::Control) && !self.has_body(ty),
            _ => false,
        };
        if block && !may_block {
            self.error(
                "parameter-type",
                p.ty.span,
                format!("parameter `{name}` cannot be of type `{ty}`"),
                of.valid_blocks(),
            );
        } else if directed && (ty.is_object() || matches!(ty, Ty::String | Ty::Int)) {
            self.error(
                "parameter-direction",
                p.span,
                format!("parameter `{name}` of type `{ty}` cannot have a direction"),
                "it is not a run-time value",
            );
        }
        if of == Of::Action && (*ty == Ty::Int || ty.is_object()) {
            self.error(
                "parameter-type",
                p.ty.span,
                format!("an action's parameter `{name}` cannot be of type `{ty}`"),
                "expected the type of a value with a width",
            );
        }
        if p.direction == Direction::Out && p.default.is_some() {
            self.error(
                "parameter-default",
                p.span,
                format!("the `out` parameter `{name}` cannot have a default"),
                "nothing is passed in",
            );
        }
        let optional = ast::annotation(&p.annotations, "optional");
        if let (Some(optional), Some(default)) = (optional, &p.default) {
            self.report(
                Diagnostic::error(
                    "parameter-default",
                    format!("the optional parameter `{name}` cannot have a default"),
                )
                .label(p.name.span, "optional, and with a default")
                .label(optional.span, "it may be left out")
                .label(default.span, "not expected"),
            );
        }
        let never = matches!(
            of,
            Of::Action | Of::Function | Of::Block | Of::ParserConstructor | Of::ControlConstructor
        );
        if let Some(optional) = optional.filter(|_| never) {
            self.error(
                "parameter-optional",
                optional.span,
                format!("parameter `{name}` cannot be optional"),
                "only parameters of packages and externs can be",
            );
        }
    }
}
