//! Statements, functions and parsers.

use crate::{
    ActionId, Expr, ExternId, FunctionId, KeyMatch, Location, Place, SourceLoc, TableId, Type,
    TypeId, ValueSetId,
};
use std::ops::Range;

/// A statement and its place in the source.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The source line to show for it.
    pub loc: SourceLoc,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Store a value; `value.ty` equals `to.ty`. For a `varbit`, length and value.
    Assign {
        /// Where to.
        to: Place,
        /// What.
        value: Expr,
    },
    /// Store a value into bits `hi..=lo` of a place.
    AssignSlice {
        /// Where to.
        to: Place,
        /// Most significant bit written.
        hi: u32,
        /// Least significant bit written.
        lo: u32,
        /// What, of type `bit<hi − lo + 1>`.
        value: Expr,
    },
    /// Copy a whole header, stack, array, struct or tuple to one of the same members. The two places are the same or
    /// have nothing in common.
    Copy {
        /// Where to.
        to: Location,
        /// Where from.
        from: Location,
    },
    /// Set all that a place holds to zero.
    Clear(Location),
    /// `if`.
    If {
        /// A `bool`.
        condition: Expr,
        /// When it holds.
        then: Vec<Stmt>,
        /// When not.
        otherwise: Vec<Stmt>,
    },
    /// `switch`, without fall-through: the first case that holds the value, else `default`.
    Switch {
        /// The value.
        on: Expr,
        /// Constants and what to do.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// When no case holds it.
        default: Vec<Stmt>,
    },
    /// `for`: while the condition holds, body, then update.
    Loop {
        /// Computes what the condition reads; run before each test.
        prepare: Vec<Stmt>,
        /// A `bool`.
        condition: Expr,
        /// The body; `continue` goes to `update`.
        body: Vec<Stmt>,
        /// Run after each body.
        update: Vec<Stmt>,
    },
    /// Leave the innermost loop.
    Break,
    /// Go to the innermost loop's update.
    Continue,
    /// Run a function's body.
    Call(FunctionId),
    /// Run an action's body directly; its parameters have been assigned.
    CallAction(ActionId, FunctionId),
    /// Leave the function.
    Return,
    /// Leave the block.
    Exit,
    /// Apply a table.
    Apply {
        /// Which.
        table: TableId,
        /// A `bool` place to say whether an entry matched.
        hit: Option<Place>,
        /// A symbol place for the index into [`Table::actions`](crate::Table::actions) of the action that ran.
        action_run: Option<Place>,
    },
    /// `setValid` or `setInvalid` of a header.
    SetValidity {
        /// The header.
        header: Location,
        /// Which of the two.
        valid: bool,
    },
    /// `push_front(count)`: elements move towards the end; the first `count` become invalid.
    PushFront(Location, u32),
    /// `pop_front(count)`: elements move towards the front; the last `count` become invalid.
    PopFront(Location, u32),
    /// `packet.extract`: the header's fields from the cursor on; makes it valid. Parsers only.
    Extract {
        /// The header.
        header: Location,
        /// Its type.
        ty: TypeId,
        /// The length of its `varbit` field in bits; `HeaderTooShort` if that is over its maximum,
        /// `ParserInvalidArgument` if not whole octets in sum.
        varbit_bits: Option<Expr>,
    },
    /// `packet.lookahead`: consecutive values from the cursor on, which stays. Parsers only.
    Lookahead(Vec<Place>),
    /// `packet.advance(bits)`. Parsers only.
    Advance(Expr),
    /// `verify(condition, error)`: if it does not hold, reject with that error, a symbol. Parsers only.
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

/// A call of what the architecture declares `extern`.
#[derive(Clone, Debug)]
pub struct ExternCall {
    /// `hash`, `mark_to_drop`, `register.read`, …: the function's name, or type and method.
    pub name: String,
    /// The object whose method it is.
    pub object: Option<ExternId>,
    /// Type arguments, given or inferred.
    pub type_args: Vec<Type>,
    /// Arguments, in the order declared; of a hash or checksum one more where the program names the calculation: its
    /// name. The last is the place of a result that is no single value.
    pub args: Vec<Arg>,
    /// Where the result goes, if it is one value.
    pub result: Option<Place>,
}

/// An argument of an extern call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value (`in` or directionless).
    In(Expr),
    /// A place to write (`out`) or to read and write (`inout`).
    Out(Place),
    /// A list or tuple or struct (`in`), flattened in order; headers' fields depend on their validity.
    List(Vec<ListItem>),
    /// A variable that is not a scalar, with its type: standard metadata, a whole header.
    Variable(Location, Type),
    /// A string known at compile time.
    String(String),
    /// An extern object.
    Object(ExternId),
    /// `_`, or an optional argument left out.
    None,
}

/// One value of a flattened list.
#[derive(Clone, Debug)]
pub struct ListItem {
    /// The value.
    pub value: Expr,
    /// The validity of the header that it is a field of: an invalid header's fields are left out of
    /// hashes and checksums.
    pub valid: Option<Place>,
    /// Dotted name, for traces.
    pub name: String,
}

/// Code that is called: an action's, a function's or a control's body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Dotted name in the source.
    pub name: String,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A parser, sub-parsers inlined.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Its name.
    pub name: String,
    /// States; the first is `start`, preceded by the initialisation of local variables.
    pub states: Vec<ParserState>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A parser's state.
#[derive(Clone, Debug)]
pub struct ParserState {
    /// Its name, dotted where it comes from a sub-parser. A state that applies parsers is split: `start'1` is what follows
    /// the first application or `if`, `start.if2` and `start.else2` are branches.
    pub name: String,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Where it goes.
    pub transition: Transition,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// How a state is left.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Always to one state.
    Goto(StateTarget),
    /// To the first case that matches; if none does, reject with `NoMatch`.
    Select {
        /// The values looked at.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
    },
}

/// One line of a `select`.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// A set for each key; [`KeyMatch::Any`] for a key that a value set covers.
    pub sets: Vec<KeyMatch>,
    /// Value sets, all of which must contain their keys.
    pub value_sets: Vec<InValueSet>,
    /// Where it goes.
    pub to: StateTarget,
    /// Its place in the source.
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

/// Where a transition goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTarget {
    /// Index into [`Parser::states`].
    State(u32),
    /// The packet is accepted.
    Accept,
    /// The packet is rejected.
    Reject,
}
