//! What each declaration means.

use super::{Expr, Extent, Named, NamedKind, State, Stmt, Substitution, Ty};
use crate::ast::{self, DeclId, Direction, Symbol};
use crate::span::Span;
use num_bigint::BigInt;
use std::collections::HashMap;
use std::rc::Rc;

/// A checked program.
#[derive(Debug, Default)]
pub struct Program<'a> {
    /// By [`DeclId`]; `None` for what was never declared, or refused.
    pub defs: Vec<Option<Def<'a>>>,
    /// Instances at the top level, in order.
    pub instances: Vec<DeclId>,
    /// Members of `error`: index = value, 0 is `NoError`.
    pub errors: Vec<Symbol>,
    /// Members of `match_kind`, in order.
    pub match_kinds: Vec<Symbol>,
    /// How often each table and instance is applied in the source.
    pub applied: HashMap<DeclId, u32>,
    /// How large each declared type is that has members or stands for another.
    pub extents: HashMap<DeclId, Extent>,
    /// The instance `main`.
    pub main: Option<DeclId>,
}

impl<'a> Program<'a> {
    /// What `id` means.
    pub fn def(&self, id: DeclId) -> Option<&Def<'a>> {
        self.defs.get(id.0 as usize)?.as_ref()
    }

    /// What kind of declaration `id` is.
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

    /// How large a type is when it is written out. Takes as long as it has parts.
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

    /// The type arguments of `named` by the parameters that they are for.
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

    /// What a serialisable enum or a `type` is over.
    pub fn underlying(&self, ty: &Ty) -> Option<Ty> {
        let Ty::Named(named) = ty else { return None };
        match self.kind(named.id)? {
            DefKind::Enum { underlying, .. } => underlying.clone(),
            DefKind::NewType(of) => Some(of.clone()),
            _ => None,
        }
    }

    /// Width in bits of a type whose size is fixed, its `varbit`s at `varbit` of their maximum (0 or 1).
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

/// A declaration and what it means.
#[derive(Clone, Debug)]
pub struct Def<'a> {
    /// Its name.
    pub name: Symbol,
    /// Where the name is written.
    pub span: Span,
    /// On it.
    pub annotations: &'a [ast::Annotation],
    /// What it means.
    pub kind: DefKind<'a>,
}

/// What a declaration means.
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
        /// Of a serialisable one.
        underlying: Option<Ty>,
        /// Names, and values of a serialisable one.
        members: Vec<(Symbol, Option<BigInt>)>,
    },
    /// Another name of a type.
    Typedef(Ty),
    /// A type of its own over another.
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

/// Something with type parameters.
#[derive(Clone, Debug)]
pub struct Generic<T> {
    /// In order.
    pub type_params: Vec<(DeclId, Symbol)>,
    /// In terms of those.
    pub of: T,
}

/// A member of a struct, header or union.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// On it.
    pub annotations: &'a [ast::Annotation],
    /// Where its name is written.
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
    /// What it is when left out.
    pub default: Option<Expr>,
    /// `@optional`: may be left out.
    pub optional: bool,
    /// On it.
    pub annotations: &'a [ast::Annotation],
    /// Where its name is written.
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
    /// What it gives.
    pub result: Ty,
    /// `None` for what is extern.
    pub body: Option<Rc<[Stmt]>>,
    /// The extern type whose method it is.
    pub of: Option<DeclId>,
    /// `abstract`
    pub is_abstract: bool,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// In order.
    pub params: Rc<[Param<'a>]>,
    /// What it does.
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

/// A control's declarations and what `apply` does.
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
    /// Of what type.
    pub ty: Ty,
    /// The constructor's arguments, in the order of its parameters.
    pub args: Vec<Option<Expr>>,
    /// Instances that its initializer declares, in order.
    pub members: Vec<DeclId>,
    /// Functions of its initializer, each of which implements the abstract method of its name.
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
    /// Whether that is `const`.
    pub const_default: bool,
    /// `entries`
    pub entries: Vec<Entry<'a>>,
    /// Whether those are `const`.
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
    /// On it.
    pub annotations: &'a [ast::Annotation],
    /// Where its name is written.
    pub span: Span,
}

/// One field of a key.
#[derive(Clone, Debug)]
pub struct Key<'a> {
    /// What is looked up.
    pub value: Expr,
    /// `exact`, `lpm`, …
    pub kind: Symbol,
    /// Its name for a control plane, if `@name` does not say another: the expression as written.
    pub name: String,
    /// On it.
    pub annotations: &'a [ast::Annotation],
}

/// An action that a table lists.
#[derive(Clone, Debug)]
pub struct TableAction<'a> {
    /// The action.
    pub action: DeclId,
    /// For the parameters with a direction, in order.
    pub bound: Vec<Option<Expr>>,
    /// The same as written.
    pub written: Vec<String>,
    /// On the listing.
    pub annotations: &'a [ast::Annotation],
    /// Where it is written.
    pub span: Span,
}

/// An action with its data.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// Index into [`Table::actions`].
    pub index: usize,
    /// For the parameters without direction, in order.
    pub args: Vec<Option<Expr>>,
}

/// An entry.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// One set for each key.
    pub sets: Vec<Expr>,
    /// What it does.
    pub call: ActionCall,
    /// Given or computed.
    pub priority: Option<Expr>,
    /// `const`
    pub is_const: bool,
    /// On it.
    pub annotations: &'a [ast::Annotation],
    /// Where it is written.
    pub span: Span,
}

/// A value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Of what type.
    pub element: Ty,
    /// The most members.
    pub size: Expr,
}
