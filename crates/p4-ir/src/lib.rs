//! The typed form of a P4_16 program, and the rules by which it is evaluated.
//!
//! A front end (P4_16 source, or p4c's BMv2 JSON) resolves names, instantiates generics, parsers,
//! controls and extern objects, evaluates what is known at compile time, and lists every variable with
//! its type. P4_16 has no recursion, so the list is complete: a packet's whole state is those variables,
//! and a target chooses a fixed place for each. It runs the program without a stack of frames and without
//! looking up a name.
//!
//! The map of this crate:
//! - [`types`]: the types that a program's variables have, and the parts of each;
//! - [`expr`]: places in storage, and expressions without side effects;
//! - [`stmt`]: statements, functions, parsers;
//! - [`object`]: tables, actions, extern objects, value sets: what a control plane sees;
//! - [`dump`](mod@dump): a program as text;
//! - [`program`]: the whole, and the programmable blocks handed to the architecture.
//!
//! # Evaluation rules
//!
//! **Storage.** A `bit<W>`, `int<W>` or `bool` holds W bits; an `int<W>` is in two's complement. An `error` or an
//! `enum` without underlying type holds its index. A `varbit<W>` holds its current length in bits, and its
//! value as the integer that its bits spell. A header holds its validity and its fields; a header union its
//! members, of which at most one is valid; a header stack `nextIndex` and its elements; another array its
//! elements; a struct or tuple its members. A [location](expr::Location) is a variable and the way to a part of it.
//! No two parts share storage. Storage is all zero when a packet enters its first block. How it is laid out is the
//! target's choice.
//!
//! **Arithmetic** is modulo 2^W; `|+|` and `|-|` saturate. Both operands of a binary operator have the
//! type of the result, but for comparisons, shifts and concatenation. A shift by W or more gives 0, or
//! the sign throughout for `>>` on `int<W>`. Division and remainder are of unsigned values; by zero
//! they give 0. `&&`, `||` and `?:` may be evaluated in full, as expressions have no effects: the front
//! end hoists calls, table applications and look-aheads into statements before them, in P4's order
//! (left to right, and only on the path taken).
//!
//! **Undefined in P4_16, defined here.** A field of an invalid header reads as last written (zero at
//! first); a write to it is kept and does not make the header valid. An index out of range reads zero,
//! and a write through it does nothing. A variable without initialiser is zero on entry to a packet's
//! first block; a header declared in a block starts invalid each time the declaration is reached.
//!
//! **Parsing.** A parser stops in `accept` or in `reject`; the latter records an error.
//! [`Extract`](stmt::StmtKind::Extract) beyond the packet's end is `PacketTooShort`; a `select`
//! that nothing matches is `NoMatch`. What a rejected packet meets next is the architecture's affair.
//!
//! **Calls.** [`Call`](stmt::StmtKind::Call) runs a function's body; arguments were copied by
//! statements before it, or the parameter was bound to the argument's own place, where no other name
//! for that place is visible in the body. An extern object may call functions too: its
//! [abstract methods](object::AbstractMethod). `return` leaves the function, `exit` the block.

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

/// Where in the source something stands. Lines and columns count from 1; line 0 means "nowhere".
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
