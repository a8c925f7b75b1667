//! A complete program, and its programmable blocks.

use crate::{
    AbstractMethod, Action, Annotation, CtorArg, Declared, ExternId, ExternObject, Function,
    FunctionId, Location, Parser, ParserId, SourceLoc, Table, Type, TypeDef, TypeId, ValueSet,
    VariableId,
};

/// The errors of `core.p4`, in order. Their values are their indices.
pub const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

/// A compiled program: `main` instantiated.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Names of the source files.
    pub files: Vec<String>,
    /// The package's type: `V1Switch`.
    pub package: String,
    /// Annotations on the package's declaration, such as `@pkginfo(arch="TNA")`.
    pub package_annotations: Vec<Annotation>,
    /// The package's programmable blocks, in the order of its constructor's parameters.
    pub blocks: Vec<Block>,
    /// Named types.
    pub types: Vec<TypeDef>,
    /// Names of errors; index = value, 0 is `NoError`.
    pub errors: Vec<String>,
    /// Headers with `@controller_header`, in the order of the source.
    pub controller_headers: Vec<TypeId>,
    /// The contents of a packet's storage. Parameters of the blocks come first.
    pub variables: Vec<Variable>,
    /// Bodies of functions.
    pub functions: Vec<Function>,
    /// Parsers.
    pub parsers: Vec<Parser>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Tables, in the order of the source.
    pub tables: Vec<Table>,
    /// Extern objects.
    pub externs: Vec<ExternObject>,
    /// Implementations of abstract methods by instances of extern types.
    pub methods: Vec<AbstractMethod>,
    /// Value sets.
    pub value_sets: Vec<ValueSet>,
    /// Declarations outside of all blocks, in the order of the source.
    pub declared: Vec<Declared>,
    /// Annotations on `main`.
    pub annotations: Vec<Annotation>,
}

impl Program {
    /// The action profile from which a selector chooses, if its constructor takes one, as in TNA: a control plane uses
    /// the profile's name for both. Any other object is returned unchanged.
    pub fn action_profile(&self, id: ExternId) -> ExternId {
        let object = &self[id];
        match object.args.first() {
            Some(CtorArg::Object(profile)) if object.type_name == "ActionSelector" => *profile,
            _ => id,
        }
    }

    /// `file:line:column` of a location. `entry` is used for an unknown location, and as the name of a file without a
    /// name.
    pub fn describe(&self, loc: SourceLoc, entry: &str) -> String {
        if loc.line == 0 {
            return entry.to_owned();
        }
        let file = self.files.get(loc.file as usize);
        let file = file.map_or(entry, String::as_str);
        format!("{file}:{}:{}", loc.line, loc.column)
    }
}

/// A programmable block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The constructor parameter of the package to which it is bound: `ig`. For a package that is an argument of
    /// another one, the name of that argument precedes it: `ingress.ip`.
    pub role: String,
    /// The package that contains it: its name in the source (`pipe`), otherwise the parameter to which it is bound.
    pub package: String,
    /// The parser's or control's type: `MyIngress`.
    pub type_name: String,
    /// Its parser or control.
    pub body: BlockBody,
    /// Its run-time parameters except `packet_in` and `packet_out`. Parameters that the architecture declares with the
    /// same type share a variable: ingress reads what the parser has written.
    pub params: Vec<BlockParam>,
    /// Its declarations, in the order of the source. The declarations of a control or parser within it are at the
    /// position of the instantiation. Top-level actions belong to no block.
    pub declared: Vec<Declared>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// The code of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockBody {
    /// A parser.
    Parser(ParserId),
    /// A control.
    Control(FunctionId),
}

/// A run-time parameter of a block or abstract method.
#[derive(Clone, Debug)]
pub struct BlockParam {
    /// Its name there.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its variable.
    pub variable: VariableId,
}

impl BlockParam {
    /// Its field of this name, if it is a struct that has one.
    pub fn field(&self, program: &Program, name: &str) -> Option<Location> {
        let mut fields = self.ty.fields(program).iter();
        let index = fields.position(|field| field.name == name)?;
        Some(Location::variable(self.variable).member(index as u32))
    }
}

/// A variable. It is in storage as long as the packet.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Dotted name: `MyIngress.tmp`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub loc: SourceLoc,
}
