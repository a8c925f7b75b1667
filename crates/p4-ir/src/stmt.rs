//! Statements, functions and parsers.

use crate::{
    ActionId, Expr, ExternId, FunctionId, KeyMatch, Location, Place, SourceLoc, TableId, Type,
    TypeId, ValueSetId,
};
use std::ops::Range;

/// A statement and its location in the source.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The operation.
    pub kind: StmtKind,
    /// Its location in the source.
    pub loc: SourceLoc,
}

/// The operation of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Stores a value. `value.ty` equals `to.ty`. For a `varbit`, stores length and value.
    Assign {
        /// The destination.
        to: Place,
        /// The value.
        value: Expr,
    },
    /// Stores a value into bits `hi..=lo` of a place.
    AssignSlice {
        /// The destination.
        to: Place,
        /// Most significant bit written.
        hi: u32,
        /// Least significant bit written.
        lo: u32,
        /// The value, of type `bit<hi − lo + 1>`.
        value: Expr,
    },
    /// Copies a whole header, stack, array, struct or tuple to one with the same members. The two places are identical
    /// or do not overlap.
    Copy {
        /// The destination.
        to: Location,
        /// The source.
        from: Location,
    },
    /// Sets everything in a place to zero.
    Clear(Location),
    /// `if`.
    If {
        /// A `bool`.
        condition: Expr,
        /// Executed if it is true.
        then: Vec<Stmt>,
        /// Executed if it is false.
        otherwise: Vec<Stmt>,
    },
    /// `switch`, without fall-through: executes the first case that contains the value, otherwise `default`.
    Switch {
        /// The value.
        on: Expr,
        /// Constants and statements.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// Executed if no case contains the value.
        default: Vec<Stmt>,
    },
    /// `for`: while the condition is true, executes the body, then the update.
    Loop {
        /// Computes the inputs of the condition. Executed before each test.
        prepare: Vec<Stmt>,
        /// A `bool`.
        condition: Expr,
        /// The body. `continue` jumps to `update`.
        body: Vec<Stmt>,
        /// Executed after each body.
        update: Vec<Stmt>,
    },
    /// Leaves the innermost loop.
    Break,
    /// Jumps to the update of the innermost loop.
    Continue,
    /// Runs the body of a function.
    Call(FunctionId),
    /// Runs the body of an action directly. Its parameters have been assigned.
    CallAction(ActionId, FunctionId),
    /// Leaves the function.
    Return,
    /// Leaves the block.
    Exit,
    /// Applies a table.
    Apply {
        /// Which.
        table: TableId,
        /// A `bool` place that receives whether an entry matched.
        hit: Option<Place>,
        /// A symbol place that receives the index in [`Table::actions`](crate::Table::actions) of the action that ran.
        action_run: Option<Place>,
    },
    /// `setValid` or `setInvalid` of a header.
    SetValidity {
        /// The header.
        header: Location,
        /// The new validity.
        valid: bool,
    },
    /// `push_front(count)`: moves elements towards the end. The first `count` become invalid.
    PushFront(Location, u32),
    /// `pop_front(count)`: moves elements towards the front. The last `count` become invalid.
    PopFront(Location, u32),
    /// `packet.extract`: reads the header's fields from the cursor on and makes the header valid. Parsers only.
    Extract {
        /// The header.
        header: Location,
        /// Its type.
        ty: TypeId,
        /// The length of its `varbit` field in bits. `HeaderTooShort` if that exceeds its maximum,
        /// `ParserInvalidArgument` if the header is not a whole number of octets.
        varbit_bits: Option<Expr>,
    },
    /// `packet.lookahead`: reads consecutive values from the cursor on without moving it. Parsers only.
    Lookahead(Vec<Place>),
    /// `packet.advance(bits)`. Parsers only.
    Advance(Expr),
    /// `verify(condition, error)`: if the condition is false, rejects with that error, a symbol. Parsers only.
    Verify(Expr, Expr),
    /// `packet.emit` of one header, if it is valid. Deparsers only.
    Emit {
        /// The header.
        header: Location,
        /// Its type.
        ty: TypeId,
    },
    /// A function or method of the architecture.
    Extern(ExternCall),
}

/// A call of a function or method that the architecture declares `extern`.
#[derive(Clone, Debug)]
pub struct ExternCall {
    /// `hash`, `mark_to_drop`, `register.read`, …: the function's name, or type and method.
    pub name: String,
    /// The object whose method is called.
    pub object: Option<ExternId>,
    /// Type arguments, given or inferred.
    pub type_args: Vec<Type>,
    /// Arguments, in the order of declaration. A hash or checksum has an additional one if the program names the
    /// calculation: its name. The last argument is the destination of a result that is not a scalar.
    pub args: Vec<Arg>,
    /// The destination of the result, if it is a scalar.
    pub result: Option<Place>,
}

/// An argument of an extern call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value (`in` or directionless).
    In(Expr),
    /// A place to write (`out`) or to read and write (`inout`).
    Out(Place),
    /// A list, tuple or struct (`in`), flattened in order. Fields of headers depend on the validity of the header.
    List(Vec<ListItem>),
    /// A variable that is not a scalar, with its type: standard metadata, a whole header.
    Variable(Location, Type),
    /// A string known at compile time.
    String(String),
    /// An extern object.
    Object(ExternId),
    /// `_`, or an omitted optional argument.
    None,
}

/// One value of a flattened list.
#[derive(Clone, Debug)]
pub struct ListItem {
    /// The value.
    pub value: Expr,
    /// The validity of the header to which it belongs: fields of an invalid header are omitted from hashes and
    /// checksums.
    pub valid: Option<Place>,
    /// Dotted name, for traces.
    pub name: String,
}

/// Code that is called: the body of an action, function or control.
#[derive(Clone, Debug)]
pub struct Function {
    /// Dotted name in the source.
    pub name: String,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A parser, with sub-parsers inlined.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Its name.
    pub name: String,
    /// States. The first is `start`, preceded by the initialisation of local variables.
    pub states: Vec<ParserState>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A parser's state.
#[derive(Clone, Debug)]
pub struct ParserState {
    /// Its name, dotted if it comes from a sub-parser. A state that applies parsers is split: `start'1` is the part
    /// after the first application or `if`, and `start.if2` and `start.else2` are branches.
    pub name: String,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its transition.
    pub transition: Transition,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// The transition of a state.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Always to the same state.
    Goto(StateTarget),
    /// To the first case that matches. If none does, rejects with `NoMatch`.
    Select {
        /// The values to match.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
    },
}

/// A case of a `select`.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// A set for each key. [`KeyMatch::Any`] for a key that a value set covers.
    pub sets: Vec<KeyMatch>,
    /// Value sets, all of which must contain their keys.
    pub value_sets: Vec<InValueSet>,
    /// The target.
    pub to: StateTarget,
    /// Its location in the source.
    pub loc: SourceLoc,
}

/// A value set and the keys that are looked up in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InValueSet {
    /// The value set.
    pub set: ValueSetId,
    /// Indices of the `select`'s keys, one per field of the set.
    pub keys: Range<usize>,
}

/// The target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTarget {
    /// Index into [`Parser::states`].
    State(u32),
    /// The packet is accepted.
    Accept,
    /// The packet is rejected.
    Reject,
}
