//! Declarations.

use super::{
    Annotation, Argument, Block, DeclId, Expr, Ident, Path, Statement, Transition, Type,
    TypeParameter,
};
use crate::span::Span;

/// A declaration, at the top level or inside a parser, control, block or extern.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its number.
    pub id: DeclId,
    /// The complete declaration, without its annotations.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// The declared name. For `error { ... }` and `match_kind { ... }`, the keyword.
    pub name: Ident,
    /// The kind of declaration.
    pub kind: DeclarationKind,
}

/// What a [`Declaration`] declares.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `const type name = value;`
    Constant {
        /// Its type.
        ty: Type,
        /// Its value.
        value: Expr,
    },
    /// `type name;`, `type name = value;`
    Variable {
        /// Its type.
        ty: Type,
        /// Initial value.
        init: Option<Expr>,
    },
    /// `type(args) name;`, `type(args) name = { methods };`
    Instance(Instance),
    /// `extern name { ... }`
    Extern(Extern),
    /// A method of an extern with the extern's name: `name(parameters);`
    Constructor {
        /// In order.
        params: Vec<Parameter>,
    },
    /// A function, an extern function or an extern's method.
    Function(Function),
    /// `action name(parameters) { ... }`
    Action {
        /// In order: those with a direction, then those of the control plane.
        params: Vec<Parameter>,
        /// The body.
        body: Block,
    },
    /// `parser name(parameters) { ... }`, or a parser type without body
    Parser(Parser),
    /// `control name(parameters) { ... }`, or a control type without body
    Control(Control),
    /// `package name(parameters);`
    Package {
        /// `<T, ...>`
        type_params: Vec<TypeParameter>,
        /// In order.
        params: Vec<Parameter>,
    },
    /// `struct name { ... }`
    Struct(Fields),
    /// `header name { ... }`
    Header(Fields),
    /// `header_union name { ... }`
    HeaderUnion(Fields),
    /// `enum name { ... }`, `enum bit<8> name { a = 1 }`
    Enum {
        /// The type of a serializable enum.
        underlying: Option<Type>,
        /// In order.
        members: Vec<EnumMember>,
    },
    /// `error { ... }`: adds to the one type `error`
    Error {
        /// In order; values are absent.
        members: Vec<EnumMember>,
    },
    /// `match_kind { ... }`: adds to the one type `match_kind`
    MatchKind {
        /// In order; values are absent.
        members: Vec<EnumMember>,
    },
    /// `typedef type name;`: another name of the same type
    Typedef(Type),
    /// `type type name;`: a new type
    NewType(Type),
    /// `table name { ... }`
    Table(Table),
    /// `value_set<element>(size) name;`
    ValueSet {
        /// The type of its members.
        element: Type,
        /// The maximum number of members.
        size: Expr,
    },
}

/// `in`, `out`, `inout`, or none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// None: known at compile time, or supplied by the control plane.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

impl Direction {
    /// Whether the parameter is copied back to its argument.
    pub fn is_written(self) -> bool {
        matches!(self, Direction::Out | Direction::InOut)
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its number.
    pub id: DeclId,
    /// From direction to default value.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// Its direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Ident,
    /// `= value`
    pub default: Option<Expr>,
}

/// `{ type name; ... }` with the type parameters before it.
#[derive(Clone, Debug)]
pub struct Fields {
    /// `<T, ...>`
    pub type_params: Vec<TypeParameter>,
    /// In order.
    pub fields: Vec<Field>,
}

/// A field of a struct, header or header union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its number.
    pub id: DeclId,
    /// Type and name.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Ident,
}

/// A member of an enum, of `error` or of `match_kind`.
#[derive(Clone, Debug)]
pub struct EnumMember {
    /// Its number.
    pub id: DeclId,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: Ident,
    /// `= value`, of serializable enums.
    pub value: Option<Expr>,
}

/// See [`DeclarationKind::Instance`].
#[derive(Clone, Debug)]
pub struct Instance {
    /// The instantiated type: a [`TypeKind::Named`](super::TypeKind::Named), or a
    /// [`TypeKind::Stack`](super::TypeKind::Stack) of one for `type(args) name[size];`.
    pub ty: Type,
    /// The constructor's arguments.
    pub args: Vec<Argument>,
    /// Implementations of abstract methods, and instances that they use.
    pub initializer: Option<Vec<Declaration>>,
}

/// See [`DeclarationKind::Extern`].
#[derive(Clone, Debug)]
pub struct Extern {
    /// `<T, ...>`
    pub type_params: Vec<TypeParameter>,
    /// [`DeclarationKind::Constructor`]s and [`DeclarationKind::Function`]s without body.
    pub members: Vec<Declaration>,
}

/// See [`DeclarationKind::Function`].
#[derive(Clone, Debug)]
pub struct Function {
    /// `abstract`, of an extern's method.
    pub is_abstract: bool,
    /// The result type.
    pub result: Type,
    /// `<T, ...>`
    pub type_params: Vec<TypeParameter>,
    /// In order.
    pub params: Vec<Parameter>,
    /// The body. `None` for extern functions and methods.
    pub body: Option<Block>,
}

/// See [`DeclarationKind::Parser`].
#[derive(Clone, Debug)]
pub struct Parser {
    /// `<T, ...>`
    pub type_params: Vec<TypeParameter>,
    /// In order.
    pub params: Vec<Parameter>,
    /// Of the constructor.
    pub constructor_params: Vec<Parameter>,
    /// `None` for a parser type.
    pub body: Option<ParserBody>,
}

/// The braces of a parser.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Declaration>,
    /// In order.
    pub states: Vec<State>,
}

/// `state name { ... }`
#[derive(Clone, Debug)]
pub struct State {
    /// Its number.
    pub id: DeclId,
    /// With the braces.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: Ident,
    /// In order.
    pub statements: Vec<Statement>,
    /// The transition. `None` means `reject`.
    pub transition: Option<Transition>,
}

/// See [`DeclarationKind::Control`].
#[derive(Clone, Debug)]
pub struct Control {
    /// `<T, ...>`
    pub type_params: Vec<TypeParameter>,
    /// In order.
    pub params: Vec<Parameter>,
    /// Of the constructor.
    pub constructor_params: Vec<Parameter>,
    /// `None` for a control type.
    pub body: Option<ControlBody>,
}

/// The braces of a control.
#[derive(Clone, Debug)]
pub struct ControlBody {
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Declaration>,
    /// `apply { ... }`
    pub apply: Block,
}

/// See [`DeclarationKind::Table`].
#[derive(Clone, Debug)]
pub struct Table {
    /// In order.
    pub properties: Vec<TableProperty>,
}

/// A property of a table.
#[derive(Clone, Debug)]
pub struct TableProperty {
    /// Including the semicolon or closing brace.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// `const` before it.
    pub is_const: bool,
    /// `key`, `actions`, `entries` or the name of another property.
    pub name: Ident,
    /// Its value.
    pub kind: TablePropertyKind,
}

/// The value of a [`TableProperty`].
#[derive(Clone, Debug)]
pub enum TablePropertyKind {
    /// `key = { ... }`
    Key(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionRef>),
    /// `entries = { ... }`
    Entries(Vec<Entry>),
    /// `name = value;`: `default_action`, `size`, `implementation`, ...
    Value(Expr),
}

/// `expression: match_kind;`
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// Including the semicolon.
    pub span: Span,
    /// The expression to look up.
    pub expr: Expr,
    /// `exact`, `lpm`, `ternary`, ...
    pub match_kind: Path,
    /// In order.
    pub annotations: Vec<Annotation>,
}

/// `action;`, `action(args);` in a table's list of actions
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// Excluding the semicolon.
    pub span: Span,
    /// In order.
    pub annotations: Vec<Annotation>,
    /// An [`ExprKind::Name`](super::ExprKind::Name) or an [`ExprKind::Call`](super::ExprKind::Call) of one.
    pub action: Expr,
}

/// `const priority = 1: keys: action(args);` in a table's entries
#[derive(Clone, Debug)]
pub struct Entry {
    /// Including the semicolon.
    pub span: Span,
    /// `const` before it.
    pub is_const: bool,
    /// `priority = value:`
    pub priority: Option<Expr>,
    /// One keyset per key element.
    pub keys: Vec<Expr>,
    /// Like [`ActionRef::action`].
    pub action: Expr,
    /// In order.
    pub annotations: Vec<Annotation>,
}
