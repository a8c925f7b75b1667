//! Lowers [`hir`](crate::hir) to [`p4_ir`]: instantiates `main` and allocates storage.
//!
//! Each kind of position has its own context, which offers the operations that are valid there:
//! - [`Lowerer`]: the program: types, variables, diagnostics;
//! - [`Known`]: an expression that is known at compile time;
//! - [`Scope`]: an instance: names, and objects that exist at compile time;
//! - [`Body`]: statements that run: of a control, an action, a function, a method or a parser;
//! - [`StateBody`](states::StateBody): the statements of a parser's states, which can apply parsers.
//!
//! The files:
//! - `package`: the blocks of `main`; `instance`: instances and their control-plane names; `methods`: the
//!   implementations in their initializers;
//! - `ir`: construction of expressions, places and types of the IR; `callee`: callees;
//! - `storage`, `types`: the places and types of variables; `constants`: compile-time evaluation;
//! - `expressions`, `chains`, `composites`, `targets`, `calls`, `externs`, `packet`: expressions. Their side effects
//!   become preceding statements, in P4's order;
//! - `scope`, `body`, `states`: contexts; `statements`, `exit`, `parser`, `subparsers`, `control`, `table`,
//!   `value_set`, `annotations`: the rest.

mod annotations;
mod body;
mod callee;
mod calls;
mod chains;
mod composites;
mod constants;
mod control;
mod excluded;
mod exit;
mod expressions;
mod externs;
mod instance;
mod ir;
mod methods;
mod package;
mod packet;
mod parser;
mod scope;
mod statements;
mod states;
mod storage;
mod subparsers;
mod table;
mod targets;
mod types;
mod value_set;

use crate::ast::DeclId;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Substitution, Ty};
use crate::span::{SourceMap, Span};
use body::Body;
use constants::Known;
use p4_ir::{ActionId, ExternId, FunctionId, Location, SourceLoc, TypeId, ValueSetId};
use scope::Scope;
use std::collections::HashMap;
use std::rc::Rc;

/// Lowers a program that has been checked without errors. Returns `None` if something cannot be lowered.
pub fn lower(
    program: &hir::Program,
    sources: &SourceMap,
) -> (Option<p4_ir::Program>, Vec<Diagnostic>) {
    let mut lowerer = Lowerer::new(program, sources);
    lowerer.package();
    lowerer.controller_headers();
    lowerer.check_names();
    let failed = lowerer.diagnostics.iter().any(Diagnostic::is_error);
    let out = (!failed).then_some(lowerer.out);
    (out, lowerer.diagnostics)
}

/// What a declaration is bound to in the instance being lowered.
#[derive(Clone, Debug)]
enum Binding {
    /// A variable or parameter in storage.
    Place(Location),
    /// A constructor's argument that is a value.
    Known(hir::Expr),
    /// An object that exists at compile time.
    Object(Object),
}

/// An object that exists at compile time.
#[derive(Clone, Debug)]
enum Object {
    PacketIn,
    PacketOut,
    Extern(ExternId),
    Table(Rc<table::TableInstance>),
    Block(Rc<control::BlockInstance>),
    ValueSet(ValueSetId),
    /// A package, which is examined but not run.
    Package,
}

/// Names in the instance being lowered.
#[derive(Clone, Debug, Default)]
struct Env {
    /// Control-plane name of the instance: `MyIngress.c`. Empty at the top level.
    path: String,
    types: Substitution,
    bindings: HashMap<DeclId, Binding>,
    /// Actions of the control.
    own_actions: Rc<Vec<DeclId>>,
    actions: HashMap<DeclId, Rc<callee::ActionInstance>>,
    /// Blocks that are applied by the name of their type.
    anonymous: Vec<Rc<control::BlockInstance>>,
}

/// The program: the input, and the output so far.
struct Lowerer<'h, 'a> {
    hir: &'h hir::Program<'a>,
    sources: &'h SourceMap,
    out: p4_ir::Program,
    diagnostics: Vec<Diagnostic>,
    /// Names at the top level.
    globals: Env,
    types: HashMap<Ty, TypeId>,
    /// Number of values in the variables so far.
    values: u32,
    functions: HashMap<(DeclId, Vec<Ty>), Rc<callee::FunctionInstance>>,
    /// The variable that is set if an `exit` must first let parameters be copied back.
    exiting: Option<p4_ir::Place>,
    temporaries: u32,
    /// Number of instances and value sets so far.
    instances: u32,
}

impl<'h, 'a> Lowerer<'h, 'a> {
    fn new(hir: &'h hir::Program<'a>, sources: &'h SourceMap) -> Self {
        let out = p4_ir::Program {
            files: sources.names(),
            errors: hir.errors.iter().map(|e| e.to_string()).collect(),
            ..p4_ir::Program::default()
        };
        Lowerer {
            hir,
            sources,
            out,
            diagnostics: Vec::new(),
            globals: Env::default(),
            types: HashMap::new(),
            values: 0,
            functions: HashMap::new(),
            exiting: None,
            temporaries: 0,
            instances: 0,
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        let diagnostic = Diagnostic::error(code, message).label(span, "here");
        self.diagnostics.push(diagnostic);
    }

    /// Reports once that the program exceeds a limit.
    fn too_large(&mut self, span: Span, message: impl Into<String>) {
        const CODE: &str = "too-large";
        if !self.diagnostics.iter().any(|d| d.code == CODE) {
            self.error(CODE, span, message);
        }
    }

    /// Reports a feature that the IR does not support.
    fn unsupported(&mut self, span: Span, what: &str) {
        self.error("unsupported", span, format!("{what} is not supported"));
    }

    fn loc(&self, span: Span) -> SourceLoc {
        let at = self.sources.line_column(span);
        SourceLoc {
            file: span.file.0,
            line: at.line,
            column: at.column,
        }
    }

    fn name(&self, id: DeclId) -> String {
        self.hir
            .def(id)
            .map_or_else(String::new, |d| d.name.to_string())
    }

    fn span(&self, id: DeclId) -> Span {
        self.hir
            .def(id)
            .map_or(Span::new(crate::span::FileId(0), 0, 0), |d| d.span)
    }

    fn add_function(&mut self, name: String, body: Vec<p4_ir::Stmt>, span: Span) -> FunctionId {
        let loc = self.loc(span);
        self.out.functions.push(p4_ir::Function { name, body, loc });
        FunctionId(self.out.functions.len() as u32 - 1)
    }

    fn add_action(&mut self, action: p4_ir::Action) -> ActionId {
        self.out.actions.push(action);
        ActionId(self.out.actions.len() as u32 - 1)
    }
}
