//! What a control plane sees: tables, actions, extern objects, value sets, with their annotations.

use crate::{
    ActionId, BlockParam, Expr, ExternId, FunctionId, SourceLoc, TableId, Type, ValueSetId,
    VariableId,
};
use num_bigint::BigUint;

/// The members of v1model's `HashAlgorithm`, in order. A front end declares them, and a target looks them up.
pub const HASH_ALGORITHMS: [&str; 8] = [
    "crc32",
    "crc32_custom",
    "crc16",
    "crc16_custom",
    "random",
    "identity",
    "csum16",
    "xor16",
];

/// `@name(…)`, `@name[…]` or `@name`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// The name, without the `@`.
    pub name: String,
    /// The values in parentheses or brackets.
    pub values: Vec<AnnotationValue>,
    /// The text between the parentheses as written. Empty if there are none.
    pub text: String,
    /// The tokens between the parentheses, each as written. Those of a structured annotation are not kept.
    pub tokens: Vec<String>,
    /// Whether it has brackets instead of parentheses.
    pub structured: bool,
}

/// A value in an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// A string.
    String(String),
    /// An integer.
    Int(num_bigint::BigInt),
    /// A boolean.
    Bool(bool),
    /// `key = value`.
    Pair(String, Box<AnnotationValue>),
    /// Anything else, as written.
    Token(String),
}

impl Annotation {
    /// The string that it holds. Several strings are concatenated, like adjacent literals.
    pub fn string(&self) -> Option<String> {
        let parts = self.values.iter().filter_map(|value| match value {
            AnnotationValue::String(part) => Some(part.as_str()),
            _ => None,
        });
        let parts: Vec<&str> = parts.collect();
        (!parts.is_empty()).then(|| parts.concat())
    }

    /// `key = value, …`, in parentheses or brackets.
    pub fn pairs(&self) -> Vec<(&str, &AnnotationValue)> {
        let in_brackets = self.values.iter().filter_map(|value| match value {
            AnnotationValue::Pair(key, value) => Some((key.as_str(), &**value)),
            _ => None,
        });
        let tokens = self.values.windows(3).filter_map(|window| match window {
            [
                AnnotationValue::Token(key),
                AnnotationValue::Token(equals),
                value,
            ] if equals == "=" => Some((key.as_str(), value)),
            _ => None,
        });
        in_brackets.chain(tokens).collect()
    }
}

/// The control-plane name: from `@name` if present, otherwise the name in the source.
pub fn control_plane_name(name: &str, annotations: &[Annotation]) -> String {
    let annotated = annotations.iter().find(|a| a.name == "name");
    let given = annotated.and_then(Annotation::string);
    let given = given.unwrap_or_else(|| name.to_string());
    given.strip_prefix('.').unwrap_or(&given).to_string()
}

/// An action, as a control plane sees it.
#[derive(Clone, Debug)]
pub struct Action {
    /// Full control-plane name: `MyIngress.forward`, or from `@name`.
    pub name: String,
    /// Directionless parameters, which an entry supplies.
    pub params: Vec<ActionParam>,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A parameter that an entry supplies.
#[derive(Clone, Debug)]
pub struct ActionParam {
    /// Its name.
    pub name: String,
    /// Its type, which is always a scalar.
    pub ty: Type,
    /// Its variable.
    pub variable: VariableId,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Full control-plane name.
    pub name: String,
    /// The fields of its key.
    pub keys: Vec<Key>,
    /// The actions that entries may use.
    pub actions: Vec<TableAction>,
    /// The action when no entry matches.
    pub default_action: ActionCall,
    /// Whether the default action is constant.
    pub const_default: bool,
    /// Entries in the source.
    pub entries: Vec<Entry>,
    /// Whether no other entries can be added.
    pub const_entries: bool,
    /// The declared size.
    pub size: Option<u64>,
    /// Whether the largest priority number wins among [`Table::entries`] (`largest_priority_wins`).
    pub largest_priority_wins: bool,
    /// An `action_profile` or `action_selector`.
    pub implementation: Option<ExternId>,
    /// Direct counters and meters.
    pub direct: Vec<ExternId>,
    /// `support_timeout`: whether entries may age.
    pub support_timeout: bool,
    /// Other properties that are constants, by name.
    pub properties: Vec<(String, Expr)>,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A field of a table's key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its control-plane name: the expression as written, or from `@name`.
    pub name: String,
    /// The value to look up.
    pub value: Expr,
    /// Its type in the source.
    pub ty: Type,
    /// Its match kind.
    pub kind: MatchKind,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Its location in the source.
    pub loc: SourceLoc,
}

/// The match kind of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// The longest prefix.
    Lpm,
    /// Under a mask, by priority.
    Ternary,
    /// Within bounds, by priority.
    Range,
    /// Equal, or anything, by priority.
    Optional,
    /// Not matched: an input of the hash of an action selector.
    Selector,
    /// A match kind of another architecture.
    Other(String),
}

/// An action of a table.
#[derive(Clone, Debug)]
pub struct TableAction {
    /// The action.
    pub action: ActionId,
    /// Its body, with the arguments that the table binds.
    pub body: FunctionId,
    /// Annotations in the action list: `@tableonly`, `@defaultonly`.
    pub annotations: Vec<Annotation>,
}

/// An action of a table, with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionCall {
    /// Index into [`Table::actions`].
    pub action: u32,
    /// A value for each of the action's parameters.
    pub args: Vec<BigUint>,
}

/// An entry in the source.
#[derive(Clone, Debug)]
pub struct Entry {
    /// A set for each key.
    pub matches: Vec<KeyMatch>,
    /// The action.
    pub call: ActionCall,
    /// Its priority in the source. Entries without priorities win in order.
    pub priority: Option<u64>,
    /// Whether it is declared `const` itself.
    pub is_const: bool,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Its location in the source.
    pub loc: SourceLoc,
}

/// A set of values of one key. Its expressions have the type of the key.
#[derive(Clone, Debug)]
pub enum KeyMatch {
    /// `default` or `_`.
    Any,
    /// One value.
    Value(Expr),
    /// `value &&& mask`.
    Mask(Expr, Expr),
    /// `low .. high`, both inclusive.
    Range(Expr, Expr),
}

/// An instance of an extern type: a counter, meter, register, action profile, checksum unit, …
#[derive(Clone, Debug)]
pub struct ExternObject {
    /// The extern type's name: `register`.
    pub type_name: String,
    /// Its type arguments.
    pub type_args: Vec<Type>,
    /// Full control-plane name.
    pub name: String,
    /// The arguments of its constructor.
    pub args: Vec<CtorArg>,
    /// The table to which it belongs, for direct counters and meters.
    pub table: Option<TableId>,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// The implementation of an abstract method of an extern, in an instance's initializer. The architecture calls it: it
/// sets the parameters that the method reads, runs the body, and reads the results in the other parameters.
#[derive(Clone, Debug)]
pub struct AbstractMethod {
    /// The instance.
    pub object: ExternId,
    /// Its name: `apply`.
    pub name: String,
    /// Its parameters in order. Trailing optional ones may be omitted.
    pub params: Vec<BlockParam>,
    /// Its result, unless it is void.
    pub result: Option<BlockParam>,
    /// Its body.
    pub body: FunctionId,
}

/// A constructor's argument.
#[derive(Clone, Debug, PartialEq)]
pub enum CtorArg {
    /// A number, a `bool` (0 or 1) or the value of a serialisable enum.
    Int(num_bigint::BigInt),
    /// A member of an enum: `CounterType`, `packets`.
    Member(String, String),
    /// A string.
    String(String),
    /// Another object.
    Object(ExternId),
    /// The members of a tuple, struct or list.
    List(Vec<CtorArg>),
}

/// A parser value set, which the control plane fills.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Full control-plane name.
    pub name: String,
    /// The type of its members in the source.
    pub element: Type,
    /// Name, type and match kind of each component.
    pub fields: Vec<(String, Type, MatchKind)>,
    /// The maximum number of members.
    pub size: u64,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// A declaration in a block that a control plane can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    /// An action that is used.
    Action(ActionId),
    /// A table that is applied.
    Table(TableId),
    /// An extern object.
    Extern(ExternId),
    /// A value set.
    ValueSet(ValueSetId),
}
