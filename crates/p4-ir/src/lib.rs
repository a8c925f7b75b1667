//! The typed form of a P4_16 program, and its evaluation rules.
//!
//! A front end (P4_16 source, or p4c's BMv2 JSON) resolves names, instantiates generics, parsers, controls and extern
//! objects, evaluates compile-time constants, and lists every variable with its type. P4_16 has no recursion, so the
//! list is complete: the variables are the whole state of a packet, and a target chooses a fixed place for each. The
//! program runs without a call stack and without looking up names.
//!
//! The map of this crate:
//! - [`types`]: the types of a program's variables, and the parts of each;
//! - [`expr`]: places in storage, and expressions without side effects;
//! - [`stmt`]: statements, functions, parsers;
//! - [`object`]: tables, actions, extern objects, value sets: what a control plane sees;
//! - [`dump`](mod@dump): a program as text;
//! - [`program`]: a complete program, and its programmable blocks.
//!
//! # Evaluation rules
//!
//! **Storage.** A `bit<W>`, `int<W>` or `bool` holds W bits; an `int<W>` is in two's complement. An `error` or an
//! `enum` without underlying type holds its index. A `varbit<W>` holds its current length in bits, and its value as the
//! integer that its bits spell. A header holds its validity and its fields; a header union its members, of which at
//! most one is valid; a header stack `nextIndex` and its elements; another array its elements; a struct or tuple its
//! members. A [location](expr::Location) is a variable and the path to a part of it. No two parts share storage.
//! Storage is all zero when a packet enters its first block. The target chooses the layout.
//!
//! **Arithmetic** is modulo 2^W; `|+|` and `|-|` saturate. Both operands of a binary operator have the type of the
//! result, except for comparisons, shifts and concatenation. A shift by W or more gives 0, or only sign bits for `>>`
//! on `int<W>`. Division and remainder are unsigned; division by zero gives 0. `&&`, `||` and `?:` may be evaluated in
//! full, because expressions have no side effects: the front end hoists calls, table applications and look-aheads into
//! preceding statements, in P4's order (left to right, and only on the path taken).
//!
//! **Undefined in P4_16, defined here.** A field of an invalid header reads as last written (initially zero). A write
//! to it is kept and does not make the header valid. A read at an index out of range gives zero, and a write has no
//! effect. A variable without initialiser is zero on entry to a packet's first block. A header declared in a block
//! becomes invalid each time the declaration is reached.
//!
//! **Parsing.** A parser stops in `accept` or in `reject`; the latter records an error.
//! [`Extract`](stmt::StmtKind::Extract) beyond the packet's end is `PacketTooShort`; a `select` without a match is
//! `NoMatch`. The architecture determines what happens to a rejected packet.
//!
//! **Calls.** [`Call`](stmt::StmtKind::Call) runs a function's body. Preceding statements have copied the arguments, or
//! the parameter was bound to the place of the argument, if no other name for that place is visible in the body. An
//! extern object may also call functions: its [abstract methods](object::AbstractMethod). `return` leaves the function,
//! `exit` the block.

pub mod dump;
pub mod expr;
pub mod object;
pub mod program;
pub mod stmt;
pub mod types;

pub use dump::dump;
pub use expr::{BinaryOp, Expr, ExprKind, Location, Place, Step, UnaryOp};
pub use object::{
    AbstractMethod, Action, ActionCall, ActionParam, Annotation, AnnotationValue, CtorArg,
    Declared, Entry, ExternObject, HASH_ALGORITHMS, Key, KeyMatch, MatchKind, Table, TableAction,
    ValueSet, control_plane_name,
};
pub use program::{Block, BlockBody, BlockParam, CORE_ERRORS, Program, Variable};
pub use stmt::{
    Arg, ExternCall, Function, InValueSet, ListItem, Parser, ParserState, SelectCase, StateTarget,
    Stmt, StmtKind, Transition,
};
pub use types::{Field, Scalar, Type, TypeDef, TypeKind};

/// A location in the source. Lines and columns count from 1. Line 0 means "nowhere".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLoc {
    /// Index into [`Program::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident => $list:ident: $of:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl std::ops::Index<$name> for Program {
            type Output = $of;
            fn index(&self, id: $name) -> &$of {
                &self.$list[id.0 as usize]
            }
        }

        impl std::ops::IndexMut<$name> for Program {
            fn index_mut(&mut self, id: $name) -> &mut $of {
                &mut self.$list[id.0 as usize]
            }
        }
    )*};
}

ids! {
    /// Index of a named type in [`Program::types`].
    TypeId => types: TypeDef;
    /// Index of a variable in [`Program::variables`].
    VariableId => variables: Variable;
    /// Index of a function in [`Program::functions`].
    FunctionId => functions: Function;
    /// Index of a parser in [`Program::parsers`].
    ParserId => parsers: Parser;
    /// Index of an action in [`Program::actions`].
    ActionId => actions: Action;
    /// Index of a table in [`Program::tables`].
    TableId => tables: Table;
    /// Index of an extern object in [`Program::externs`].
    ExternId => externs: ExternObject;
    /// Index of a parser value set in [`Program::value_sets`].
    ValueSetId => value_sets: ValueSet;
}
