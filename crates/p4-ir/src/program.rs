//! A whole program, and the blocks that it hands to the architecture.

use crate::{
    AbstractMethod, Action, Annotation, CtorArg, Declared, ExternId, ExternObject, Function,
    FunctionId, Location, Parser, ParserId, SourceLoc, Table, Type, TypeDef, TypeId, ValueSet,
    VariableId,
};

/// The errors of `core.p4`, in its order: their values are their indices.
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
    /// What a packet's storage holds. Parameters of the blocks come first.
    pub variables: Vec<Variable>,
    /// Bodies.
    pub functions: Vec<Function>,
    /// Parsers.
    pub parsers: Vec<Parser>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Tables, in the order of the source.
    pub tables: Vec<Table>,
    /// Extern objects.
    pub externs: Vec<ExternObject>,
    /// What instances of extern types with abstract methods implement.
    pub methods: Vec<AbstractMethod>,
    /// Value sets.
    pub value_sets: Vec<ValueSet>,
    /// What is declared outside of every block, in the order of the source.
    pub declared: Vec<Declared>,
    /// Annotations on `main`.
    pub annotations: Vec<Annotation>,
}

impl Program {
    /// The action profile that a selector chooses from, where its constructor takes one, as in TNA: a control plane
    /// knows both by the profile's name. Any other object itself.
    pub fn action_profile(&self, id: ExternId) -> ExternId {
        let object = &self[id];
        match object.args.first() {
            Some(CtorArg::Object(profile)) if object.type_name == "ActionSelector" => *profile,
            _ => id,
        }
    }

    /// `file:line:column` of a place. `entry` stands for a place that is not known, and names a file without a name.
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
    /// The constructor parameter of the package that it fills: `ig`. A package that is an argument of another is
    /// named before its own parameter: `ingress.ip`.
    pub role: String,
    /// The package that takes it: its name in the source (`pipe`), else the parameter that it fills.
    pub package: String,
    /// The parser's or control's type: `MyIngress`.
    pub type_name: String,
    /// What it runs.
    pub body: BlockBody,
    /// Its run-time parameters but for `packet_in` and `packet_out`. Parameters that the architecture
    /// declares with the same type share one variable: what the parser leaves in them ingress finds.
    pub params: Vec<BlockParam>,
    /// What it declares, in the order of the source; what a control or parser within it declares stands where
    /// that is instantiated. Actions of the top level belong to no block.
    pub declared: Vec<Declared>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// What a block runs.
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
    /// Where it is.
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

/// A variable, in storage for as long as the packet is.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Dotted name: `MyIngress.tmp`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub loc: SourceLoc,
}
