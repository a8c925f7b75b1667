//! The program under construction.

use crate::errors::Errors;
use crate::graph::POSITION;
use crate::headers::{self, Headers};
use crate::node::{Node, Result};
use crate::objects::{Action, Objects};
use p4_ir::{
    Expr, Function, FunctionId, Place, Program, Scalar, SourceLoc, Stmt, StmtKind, Type, Variable,
    VariableId,
};
use std::collections::HashMap;

/// What everything else works on.
pub struct Builder<'j> {
    pub root: Node<'j>,
    pub out: Program,
    pub headers: Headers,
    pub errors: Errors,
    pub objects: Objects,
    /// Bodies of actions by their ids in the JSON.
    pub actions: HashMap<u64, Action>,
    /// Parameters of the action that is being read.
    pub data: Vec<Place>,
    /// Where to go on in a pipeline, and in an action.
    pub positions: [Place; 2],
    /// Statements of the body under construction.
    pub body: Vec<Stmt>,
    /// The source line of what is being read.
    pub loc: SourceLoc,
    files: HashMap<&'j str, u32>,
}

impl<'j> Builder<'j> {
    /// A program with the types and headers of the JSON, and nothing else.
    pub fn new(root: Node<'j>) -> Result<Self> {
        let mut out = Program {
            package: "V1Switch".into(),
            ..Program::default()
        };
        let (names, errors) = Errors::read(&root)?;
        out.errors = names;
        let headers = headers::read(&root, &mut out)?;
        headers::enums(&root, &mut out)?;
        let nowhere = Place::variable(VariableId(0), POSITION);
        Ok(Builder {
            root,
            out,
            headers,
            errors,
            objects: Objects::default(),
            actions: HashMap::new(),
            data: Vec::new(),
            positions: [nowhere.clone(), nowhere],
            body: Vec::new(),
            loc: SourceLoc::default(),
            files: HashMap::new(),
        })
    }

    /// A variable of one value.
    pub fn variable(&mut self, name: &str, ty: Scalar) -> Place {
        let id = VariableId(self.out.variables.len() as u32);
        self.out.variables.push(Variable {
            name: name.into(),
            ty: Type::Scalar(ty),
            loc: self.loc,
        });
        Place::variable(id, ty)
    }

    /// A variable without a name in the JSON.
    pub fn temporary(&mut self, ty: Scalar) -> Place {
        let name = format!("tmp.{}", self.out.variables.len());
        self.variable(&name, ty)
    }

    /// Adds a statement to the body under construction.
    pub fn push(&mut self, kind: StmtKind) {
        let loc = self.loc;
        self.body.push(Stmt { kind, loc });
    }

    /// The statements that `read` adds.
    pub fn collect(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Stmt>> {
        let outer = std::mem::take(&mut self.body);
        let done = read(self);
        let body = std::mem::replace(&mut self.body, outer);
        done.map(|()| body)
    }

    /// Adds a function.
    pub fn function(&mut self, name: &str, body: Vec<Stmt>) -> FunctionId {
        self.out.functions.push(Function {
            name: name.into(),
            body,
            loc: self.loc,
        });
        FunctionId(self.out.functions.len() as u32 - 1)
    }

    /// The place in the source that a node's `source_info` names.
    pub fn locate(&mut self, node: &Node<'j>) -> Result<SourceLoc> {
        let Some(info) = node.find("source_info")? else {
            return Ok(self.loc);
        };
        let Some(file) = info.find("filename")? else {
            return Ok(self.loc);
        };
        let number = |key| match info.find(key)? {
            Some(number) => number.small(),
            None => Ok(0),
        };
        self.loc = SourceLoc {
            file: self.file(file.str()?),
            line: number("line")?,
            column: number("column")?,
        };
        Ok(self.loc)
    }

    /// The number of a source file.
    pub fn file(&mut self, name: &'j str) -> u32 {
        let files = &mut self.out.files;
        *self.files.entry(name).or_insert_with(|| {
            files.push(name.into());
            files.len() as u32 - 1
        })
    }

    /// An error's number as a value.
    pub fn error_value(&self, name: &str) -> Option<Expr> {
        let index = self.out.errors.iter().position(|error| error == name)?;
        Some(Expr::constant(index as u32, Scalar::Symbol))
    }
}
