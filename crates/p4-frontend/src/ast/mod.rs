//! The syntax tree of a P4_16 program (language specification 1.2.5).
//!
//! Plain owned trees: [`Declaration`]s contain [`Statement`]s, which contain [`Expr`]s, which contain [`Type`]s. Names
//! are not resolved: the checker determines whether a name is a type, a variable or an action. Declarations,
//! expressions and types are each numbered densely from 0, so that later passes store their results in vectors.

mod declarations;
mod expressions;
mod statements;
mod types;

pub use declarations::*;
pub use expressions::*;
pub use statements::*;
pub use types::*;

use std::rc::Rc;

use crate::span::Span;

/// A name's text.
pub type Symbol = Rc<str>;

/// Number of an [`Expr`], dense from 0 within a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Number of anything to which a name can refer, dense from 0 within a [`Program`]: [`Declaration`], [`Parameter`],
/// [`TypeParameter`], [`Field`], [`EnumMember`], [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclId(pub u32);

/// Number of a [`Type`] in the source, dense from 0 within a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// An occurrence of a name in the source.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Its location.
    pub span: Span,
}

impl Ident {
    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// A name, or `.name` for one that is looked up only at the top level.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether it begins with a dot.
    pub absolute: bool,
    /// The name.
    pub name: Ident,
    /// Dot and name.
    pub span: Span,
}

/// A complete program, including the text of everything that it includes.
#[derive(Clone, Debug)]
pub struct Program {
    /// Top-level declarations in order.
    pub declarations: Vec<Declaration>,
    /// `#pragma` lines outside of skipped conditionals, in order.
    pub pragmas: Vec<Pragma>,
    /// One more than the largest [`ExprId`].
    pub expr_count: u32,
    /// One more than the largest [`DeclId`].
    pub decl_count: u32,
    /// One more than the largest [`TypeId`].
    pub type_count: u32,
}

/// A `#pragma` line.
#[derive(Clone, Debug)]
pub struct Pragma {
    /// The line, from `#` on.
    pub span: Span,
    /// The text behind `#pragma`.
    pub text: String,
}

/// `@name`, `@name(tokens)`, `@name[expressions]`, `@name[key = value]` or a `@pragma` line.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The span, from `@` on.
    pub span: Span,
    /// The annotation's name. For `@pragma name ...`, the name behind `pragma`.
    pub name: Ident,
    /// Its content.
    pub body: AnnotationBody,
}

/// The content of an [`Annotation`].
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@name`
    Empty,
    /// `@name(...)`: any tokens with balanced parentheses. Also the rest of a `@pragma` line.
    Unstructured(Vec<AnnotationToken>),
    /// `@name[a, b]`
    Expressions(Vec<Expr>),
    /// `@name[a = 1, b = 2]`
    KeyValues(Vec<FieldValue>),
}

/// A token of an unstructured annotation.
#[derive(Clone, Debug)]
pub struct AnnotationToken {
    /// Where it is.
    pub span: Span,
    /// As written.
    pub text: Symbol,
    /// Its kind.
    pub kind: AnnotationTokenKind,
}

/// The kind of an [`AnnotationToken`].
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationTokenKind {
    /// A string, with escapes resolved.
    String(Symbol),
    /// An integer.
    Int(IntLiteral),
    /// The text of any other token.
    Other(Symbol),
}

impl Annotation {
    /// The text of an annotation that contains only a string, or strings joined by `++`: `@name("text")`.
    pub fn string(&self) -> Option<String> {
        let AnnotationBody::Unstructured(tokens) = &self.body else {
            return None;
        };
        let mut text = String::new();
        for (index, token) in tokens.iter().enumerate() {
            match &token.kind {
                AnnotationTokenKind::String(part) if index % 2 == 0 => text.push_str(part),
                AnnotationTokenKind::Other(operator) if index % 2 == 1 && &**operator == "++" => {}
                _ => return None,
            }
        }
        (tokens.len() % 2 == 1).then_some(text)
    }
}

/// Looks an annotation up by name.
pub fn annotation<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|a| a.name.as_str() == name)
}
