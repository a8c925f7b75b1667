//! From [`hir`](crate::hir) to [`p4_ir`]: instantiates `main` and gives everything its place.
//!
//! - `package`: the blocks of `main`; `instance`: instances and their control-plane names; `methods`: what their
//!   initializers implement;
//! - `storage`, `types`: where variables are, and what they are; `constants`: what is known;
//! - `expressions`, `chains`, `composites`, `targets`, `calls`, `externs`, `packet`: expressions, their side effects put into
//!   statements before them, in P4's order;
//! - `statements`, `exit`, `parser`, `subparsers`, `control`, `table`, `value_set`, `annotations`: the rest.

mod annotations;
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
mod methods;
mod package;
mod packet;
mod parser;
mod statements;
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
use p4_ir::{ActionId, ExternId, FunctionId, Location, SourceLoc, TypeId, ValueSetId};
use std::collections::HashMap;
use std::rc::Rc;

/// How deep calls of functions and actions, and applied blocks, may nest.
const MAX_NESTED: u32 = 64;

/// How many bodies may be open where a call or applied block begins: those of all callers, and of the branches and
/// loops around the calls. Lowering takes stack for each.
const MAX_OPEN: usize = 256;

/// Lowers a program that has been checked without error. `None` when something was found that cannot be lowered.
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

/// What a declaration is in the instance that is being lowered.
#[derive(Clone, Debug)]
enum Binding {
    /// A variable or parameter in storage.
    Place(Location),
    /// A constructor's argument that is a value.
    Known(hir::Expr),
    /// Something that exists before any packet.
    Object(Object),
}

/// Something that exists before any packet.
#[derive(Clone, Debug)]
enum Object {
    PacketIn,
    PacketOut,
    Extern(ExternId),
    Table(Rc<table::TableInstance>),
    Block(Rc<control::BlockInstance>),
    ValueSet(ValueSetId),
    /// A package, which is looked into but not run.
    Package,
}

/// Names in the instance that is being lowered.
#[derive(Clone, Debug, Default)]
struct Env {
    /// Control-plane name of the instance: `MyIngress.c`; empty at the top level.
    path: String,
    /// The action that is being lowered: its variables are named after it.
    action: Option<String>,
    types: Substitution,
    bindings: HashMap<DeclId, Binding>,
    /// Actions of the control.
    own_actions: Rc<Vec<DeclId>>,
    actions: HashMap<DeclId, Rc<calls::ActionInstance>>,
    /// What is applied by its type's name.
    anonymous: Vec<Rc<control::BlockInstance>>,
    /// Where the function that is being lowered leaves its result.
    result: Option<(Location, Ty)>,
    in_parser: bool,
    /// Whether `exit` returns to the caller, with [`Lowerer::exiting`] set.
    soft_exit: bool,
}

struct Lowerer<'h, 'a> {
    hir: &'h hir::Program<'a>,
    sources: &'h SourceMap,
    out: p4_ir::Program,
    diagnostics: Vec<Diagnostic>,
    /// Names at the top level.
    globals: Env,
    /// Names where lowering is.
    env: Env,
    /// Bodies under construction, innermost last.
    sinks: Vec<Vec<p4_ir::Stmt>>,
    /// The parser under construction.
    states: parser::States,
    types: HashMap<Ty, TypeId>,
    /// Values that the variables hold so far.
    values: u32,
    functions: HashMap<(DeclId, Vec<Ty>), Rc<calls::FunctionInstance>>,
    /// What the target of the compound assignment being lowered holds.
    target: Option<p4_ir::Expr>,
    /// Set where an `exit` must first let parameters be copied back.
    exiting: Option<p4_ir::Place>,
    /// The statement being lowered.
    at: SourceLoc,
    temporaries: u32,
    /// Levels that chains around this place take in the IR.
    chained: usize,
    /// Bodies that are being lowered, each called or applied by the one before.
    nested: u32,
    /// Instances and value sets made so far.
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
            env: Env::default(),
            sinks: vec![Vec::new()],
            states: parser::States::default(),
            types: HashMap::new(),
            values: 0,
            chained: 0,
            nested: 0,
            functions: HashMap::new(),
            target: None,
            exiting: None,
            at: SourceLoc::default(),
            temporaries: 0,
            instances: 0,
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        let diagnostic = Diagnostic::error(code, message).label(span, "here");
        self.diagnostics.push(diagnostic);
    }

    /// Reports that the program goes beyond a limit, the first time.
    fn too_large(&mut self, span: Span, message: impl Into<String>) {
        const CODE: &str = "too-large";
        if !self.diagnostics.iter().any(|d| d.code == CODE) {
            self.error(CODE, span, message);
        }
    }

    /// Whether what is called or applied may be lowered here; an error if calls nest too deeply.
    fn may_nest(&mut self, span: Span) -> bool {
        let nests = self.nested < MAX_NESTED;
        if !nests {
            self.too_large(span, format!("calls nest more than {MAX_NESTED} deep"));
            return false;
        }
        let fits = self.sinks.len() <= MAX_OPEN;
        if !fits {
            let message =
                format!("calls and the statements around them nest more than {MAX_OPEN} deep");
            self.too_large(span, message);
        }
        fits
    }

    /// Reports what the IR cannot say.
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

    fn emit(&mut self, kind: p4_ir::StmtKind) {
        let loc = self.at;
        let sink = self.sinks.last_mut().expect("a body");
        sink.push(p4_ir::Stmt { kind, loc });
    }

    /// What `body` emits, apart.
    fn collect(&mut self, body: impl FnOnce(&mut Self)) -> Vec<p4_ir::Stmt> {
        self.sinks.push(Vec::new());
        body(self);
        self.sinks.pop().expect("pushed above")
    }

    /// Runs `body` in another instance. Gives back the names as it leaves them.
    fn within<R>(&mut self, env: Env, body: impl FnOnce(&mut Self) -> R) -> (R, Env) {
        let outside = std::mem::replace(&mut self.env, env);
        let at = self.at;
        self.nested += 1;
        let result = body(self);
        self.nested -= 1;
        self.at = at;
        (result, std::mem::replace(&mut self.env, outside))
    }

    /// A type with the type arguments of the instance put in.
    fn ty(&self, ty: &Ty) -> Ty {
        ty.substitute(&self.env.types)
    }

    fn binding(&self, id: DeclId) -> Option<&Binding> {
        let own = self.env.bindings.get(&id);
        own.or_else(|| self.globals.bindings.get(&id))
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
