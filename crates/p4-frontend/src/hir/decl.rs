//! Definitions of declarations.

use super::{Expr, Extent, Named, NamedKind, State, Stmt, Substitution, Ty};
use crate::ast::{self, DeclId, Direction, Symbol};
use crate::span::Span;
use num_bigint::BigInt;
use std::collections::HashMap;
use std::rc::Rc;

/// A checked program.
#[derive(Debug, Default)]
pub struct Program<'a> {
    /// Indexed by [`DeclId`]. `None` for declarations that are missing or were rejected.
    pub defs: Vec<Option<Def<'a>>>,
    /// Instances at the top level, in order.
    pub instances: Vec<DeclId>,
    /// Members of `error`, whose values are their indices. 0 is `NoError`.
    pub errors: Vec<Symbol>,
    /// Members of `match_kind`, in order.
    pub match_kinds: Vec<Symbol>,
    /// How often each table and instance is applied in the source.
    pub applied: HashMap<DeclId, u32>,
    /// The size of each declared type that has members or an underlying type.
    pub extents: HashMap<DeclId, Extent>,
    /// The instance `main`.
    pub main: Option<DeclId>,
}

impl<'a> Program<'a> {
    /// The definition of `id`.
    pub fn def(&self, id: DeclId) -> Option<&Def<'a>> {
        self.defs.get(id.0 as usize)?.as_ref()
    }

    /// The kind of definition of `id`.
    pub fn kind(&self, id: DeclId) -> Option<&DefKind<'a>> {
        self.def(id).map(|def| &def.kind)
    }

    /// The run-time parameters of a parser or control.
    pub fn block_params(&self, id: DeclId) -> Option<&Rc<[Param<'a>]>> {
        match self.kind(id)? {
            DefKind::Parser(parser) => Some(&parser.of.params),
            DefKind::Control(control) => Some(&control.of.params),
            _ => None,
        }
    }

    /// The type parameters of a declared type.
    pub fn type_params(&self, id: DeclId) -> &[(DeclId, Symbol)] {
        match self.kind(id) {
            Some(DefKind::Fields(_, g)) => &g.type_params,
            Some(DefKind::Extern(g)) => &g.type_params,
            Some(DefKind::Parser(g)) => &g.type_params,
            Some(DefKind::Control(g)) => &g.type_params,
            Some(DefKind::Package(g)) => &g.type_params,
            Some(DefKind::Function(f)) => &f.type_params,
            _ => &[],
        }
    }

    /// The size of a type when it is expanded. Takes time in proportion to the number of its parts.
    pub fn extent(&self, ty: &Ty) -> Extent {
        let all = |members: &[Ty]| Extent::of(members.iter().map(|ty| self.extent(ty)));
        match ty {
            Ty::Tuple(members) | Ty::ListExpr(members) => all(members),
            Ty::StructExpr(fields) => Extent::of(fields.iter().map(|(_, ty)| self.extent(ty))),
            Ty::List(of) | Ty::Set(of) => Extent::of([self.extent(of)]),
            Ty::Stack(of, len) if of.is_header_like() => {
                Extent::of([self.extent(of).stacked(*len)])
            }
            Ty::Stack(of, len) => Extent::of([self.extent(of).times(*len)]),
            Ty::Named(named) => {
                let declared = self.extents.get(&named.id).copied();
                let declared = declared.unwrap_or(Extent::LEAF);
                match &named.args[..] {
                    [] => declared,
                    args => declared.with_arguments(all(args)),
                }
            }
            _ => Extent::LEAF,
        }
    }

    /// The type arguments of `named`, by type parameter.
    pub fn substitution(&self, named: &Named) -> Substitution {
        let params = self.type_params(named.id).iter().map(|(id, _)| *id);
        params.zip(named.args.iter().cloned()).collect()
    }

    /// Names and types of the members of a struct, header or union; `None` for another type.
    pub fn fields(&self, ty: &Ty) -> Option<Vec<(Symbol, Ty)>> {
        let Ty::Named(named) = ty else { return None };
        let DefKind::Fields(_, fields) = self.kind(named.id)? else {
            return None;
        };
        let with = self.substitution(named);
        let field = |f: &Field| (f.name.clone(), f.ty.substitute(&with));
        Some(fields.of.iter().map(field).collect())
    }

    /// The types of all members in order: of a struct, header, union, tuple or array.
    pub fn members(&self, ty: &Ty) -> Option<Vec<Ty>> {
        match ty {
            Ty::Tuple(members) | Ty::ListExpr(members) => Some(members.to_vec()),
            Ty::StructExpr(fields) => Some(fields.iter().map(|(_, ty)| ty.clone()).collect()),
            Ty::Stack(of, len) => Some(vec![(**of).clone(); *len as usize]),
            other => Some(self.fields(other)?.into_iter().map(|(_, ty)| ty).collect()),
        }
    }

    /// The underlying type of a serialisable enum or a `type`.
    pub fn underlying(&self, ty: &Ty) -> Option<Ty> {
        let Ty::Named(named) = ty else { return None };
        match self.kind(named.id)? {
            DefKind::Enum { underlying, .. } => underlying.clone(),
            DefKind::NewType(of) => Some(of.clone()),
            _ => None,
        }
    }

    /// Width in bits of a type with a fixed size. Each `varbit` counts `varbit` (0 or 1) times its maximum.
    pub fn bits(&self, ty: &Ty, varbit: u64) -> Option<u64> {
        match ty {
            Ty::Bool => Some(1),
            Ty::Bit(w) | Ty::Signed(w) => Some(u64::from(*w)),
            Ty::Varbit(w) => Some(u64::from(*w) * varbit),
            Ty::Stack(of, len) => Some(self.bits(of, varbit)? * u64::from(*len)),
            Ty::Named(named) if named.kind == NamedKind::Union => {
                let members = self.members(ty)?;
                let sizes = members.iter().map(|m| self.bits(m, varbit));
                let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
                if varbit == 0 {
                    sizes.into_iter().min()
                } else {
                    sizes.into_iter().max()
                }
            }
            Ty::Named(_) if self.underlying(ty).is_some() => {
                self.bits(&self.underlying(ty)?, varbit)
            }
            other => {
                let members = self.members(other)?;
                members.iter().map(|m| self.bits(m, varbit)).sum()
            }
        }
    }
}

/// A declaration and its definition.
#[derive(Clone, Debug)]
pub struct Def<'a> {
    /// Its name.
    pub name: Symbol,
    /// The location of its name.
    pub span: Span,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
    /// Its definition.
    pub kind: DefKind<'a>,
}

/// The definition of a declaration.
#[derive(Clone, Debug)]
pub enum DefKind<'a> {
    /// A constant, as a folded expression.
    Constant(Expr),
    /// A variable.
    Variable(Ty),
    /// A run-time parameter.
    Param(Ty, Direction),
    /// A parameter of a constructor.
    ConstructorParam(Ty),
    /// A type parameter.
    TypeParam,
    /// A struct, header or union.
    Fields(NamedKind, Generic<Rc<[Field<'a>]>>),
    /// An enum.
    Enum {
        /// The underlying type of a serialisable enum.
        underlying: Option<Ty>,
        /// Names, and for a serialisable enum values.
        members: Vec<(Symbol, Option<BigInt>)>,
    },
    /// An alias of a type.
    Typedef(Ty),
    /// A distinct type with an underlying type.
    NewType(Ty),
    /// An extern.
    Extern(Generic<Extern>),
    /// A function.
    Function(Function<'a>),
    /// An action.
    Action(Action<'a>),
    /// A parser, or a parser type.
    Parser(Generic<Parser<'a>>),
    /// A control, or a control type.
    Control(Generic<Control<'a>>),
    /// A package.
    Package(Generic<Rc<[Param<'a>]>>),
    /// An instance.
    Instance(Instance),
    /// A table.
    Table(Rc<Table<'a>>),
    /// A value set.
    ValueSet(ValueSet),
    /// A parser's state.
    State,
}

/// A definition with type parameters.
#[derive(Clone, Debug)]
pub struct Generic<T> {
    /// In order.
    pub type_params: Vec<(DeclId, Symbol)>,
    /// The definition, in terms of the type parameters.
    pub of: T,
}

/// A member of a struct, header or union.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
    /// The location of its name.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param<'a> {
    /// Its declaration.
    pub id: DeclId,
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// Its direction.
    pub direction: Direction,
    /// Its value if it is omitted.
    pub default: Option<Expr>,
    /// `@optional`: whether it may be omitted.
    pub optional: bool,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
    /// The location of its name.
    pub span: Span,
}

/// An extern's constructors and methods: [`DefKind::Function`]s.
#[derive(Clone, Debug)]
pub struct Extern {
    /// In order.
    pub constructors: Vec<DeclId>,
    /// In order.
    pub methods: Vec<DeclId>,
}

/// A function, method or constructor.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// In order.
    pub type_params: Vec<(DeclId, Symbol)>,
    /// In order.
    pub params: Rc<[Param<'a>]>,
    /// The result type.
    pub result: Ty,
    /// The body. `None` if it is extern.
    pub body: Option<Rc<[Stmt]>>,
    /// The extern type to which the method belongs.
    pub of: Option<DeclId>,
    /// `abstract`
    pub is_abstract: bool,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// In order.
    pub params: Rc<[Param<'a>]>,
    /// The body.
    pub body: Rc<[Stmt]>,
}

/// A parser, or a parser type.
#[derive(Clone, Debug)]
pub struct Parser<'a> {
    /// In order.
    pub params: Rc<[Param<'a>]>,
    /// Of the constructor.
    pub constructor_params: Rc<[Param<'a>]>,
    /// `None` for a parser type.
    pub body: Option<Rc<ParserBody>>,
}

/// A parser's declarations and states.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Variables and instances, in order.
    pub locals: Vec<Stmt>,
    /// In order.
    pub states: Vec<State>,
}

/// A control, or a control type.
#[derive(Clone, Debug)]
pub struct Control<'a> {
    /// In order.
    pub params: Rc<[Param<'a>]>,
    /// Of the constructor.
    pub constructor_params: Rc<[Param<'a>]>,
    /// `None` for a control type.
    pub body: Option<Rc<ControlBody>>,
}

/// The declarations and the body of a control.
#[derive(Clone, Debug)]
pub struct ControlBody {
    /// Variables and instances, in order.
    pub locals: Vec<Stmt>,
    /// In order.
    pub tables: Vec<DeclId>,
    /// In order.
    pub actions: Vec<DeclId>,
    /// `apply { … }`
    pub apply: Vec<Stmt>,
}

/// An instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its type.
    pub ty: Ty,
    /// The constructor's arguments, in the order of its parameters.
    pub args: Vec<Option<Expr>>,
    /// Instances that its initializer declares, in order.
    pub members: Vec<DeclId>,
    /// Functions of its initializer, each of which implements the abstract method with its name.
    pub methods: Vec<DeclId>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// `key`
    pub keys: Vec<Key<'a>>,
    /// `actions`
    pub actions: Vec<TableAction<'a>>,
    /// `default_action`
    pub default_action: Option<ActionCall>,
    /// Whether the default action is `const`.
    pub const_default: bool,
    /// `entries`
    pub entries: Vec<Entry<'a>>,
    /// Whether the entries are `const`.
    pub const_entries: bool,
    /// Other properties.
    pub properties: Vec<Property<'a>>,
}

/// A property of a table other than key, actions, entries and default action.
#[derive(Clone, Debug)]
pub struct Property<'a> {
    /// Its name.
    pub name: Symbol,
    /// Its value.
    pub value: Expr,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
    /// The location of its name.
    pub span: Span,
}

/// A field of a key.
#[derive(Clone, Debug)]
pub struct Key<'a> {
    /// The expression to look up.
    pub value: Expr,
    /// `exact`, `lpm`, …
    pub kind: Symbol,
    /// Its control-plane name unless `@name` sets another: the expression as written.
    pub name: String,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
}

/// An action of a table.
#[derive(Clone, Debug)]
pub struct TableAction<'a> {
    /// The action.
    pub action: DeclId,
    /// The arguments for parameters with a direction, in order.
    pub bound: Vec<Option<Expr>>,
    /// The same arguments as written.
    pub written: Vec<String>,
    /// Annotations in the action list.
    pub annotations: &'a [ast::Annotation],
    /// Its location.
    pub span: Span,
}

/// An action with its data.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// Index into [`Table::actions`].
    pub index: usize,
    /// The arguments for directionless parameters, in order.
    pub args: Vec<Option<Expr>>,
}

/// An entry.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// One set for each key.
    pub sets: Vec<Expr>,
    /// The action.
    pub call: ActionCall,
    /// Explicit or computed.
    pub priority: Option<Expr>,
    /// `const`
    pub is_const: bool,
    /// Its annotations.
    pub annotations: &'a [ast::Annotation],
    /// Its location.
    pub span: Span,
}

/// A value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// The type of its members.
    pub element: Ty,
    /// The maximum number of members.
    pub size: Expr,
}
