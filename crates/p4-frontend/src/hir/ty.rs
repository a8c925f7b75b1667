//! The checker's types.

use crate::ast::{DeclId, Symbol};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// A type, with typedefs resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The type of an expression with an error. It agrees with every type.
    Error,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `int`: unbounded, only at compile time.
    Int,
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`
    Signed(u32),
    /// `varbit<W>`
    Varbit(u32),
    /// `string`
    String,
    /// `error`
    ErrorCode,
    /// `match_kind`
    MatchKind,
    /// `_` in the position of a type, and the type of `_` as an argument.
    DontCare,
    /// `tuple<…>`
    Tuple(Rc<[Ty]>),
    /// `list<T>`
    List(Rc<Ty>),
    /// The type of `{ a, b }` until its context determines another.
    ListExpr(Rc<[Ty]>),
    /// The type of `{ x = a, y = b }` until its context determines another.
    StructExpr(Rc<[(Symbol, Ty)]>),
    /// The type of `{#}` until its context determines another.
    Invalid,
    /// The type of `...` until its context determines another.
    Defaults,
    /// An array. It is a stack if its elements are headers or unions.
    Stack(Rc<Ty>, u32),
    /// A declared type.
    Named(Named),
    /// A type parameter, within the declaration that has it.
    Param(DeclId, Symbol),
    /// A type variable.
    Var(u32),
    /// `set<T>`: a keyset.
    Set(Rc<Ty>),
    /// The type of an action's name.
    Action,
    /// The type of a table's name.
    Table(DeclId, Symbol),
    /// The type of `t.apply()`.
    ApplyResult(DeclId, Symbol),
    /// The type of `t.apply().action_run`.
    ActionEnum(DeclId, Symbol),
    /// The type of a function's name.
    Function,
}

/// A declared type and its type arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// Its kind.
    pub kind: NamedKind,
    /// Its declaration.
    pub id: DeclId,
    /// Its name.
    pub name: Symbol,
    /// One for each type parameter.
    pub args: Rc<[Ty]>,
}

/// The kind of a declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedKind {
    /// `struct`
    Struct,
    /// `header`
    Header,
    /// `header_union`
    Union,
    /// `enum` without underlying type
    Enum,
    /// `enum bit<W>`
    SerialisableEnum,
    /// `type T Name`
    New,
    /// `extern`
    Extern,
    /// `parser`
    Parser,
    /// `control`
    Control,
    /// `package`
    Package,
}

impl NamedKind {
    /// The keyword of its declaration.
    pub fn keyword(self) -> &'static str {
        match self {
            NamedKind::Struct => "struct",
            NamedKind::Header => "header",
            NamedKind::Union => "header_union",
            NamedKind::Enum | NamedKind::SerialisableEnum => "enum",
            NamedKind::New => "type",
            NamedKind::Extern => "extern",
            NamedKind::Parser => "parser",
            NamedKind::Control => "control",
            NamedKind::Package => "package",
        }
    }
}

/// The size of an expanded type. Types that refer to others can double it with each level.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The number of its members, counted recursively. The elements of a header stack count as one.
    parts: u64,
    /// The same, with each element of a header stack counted.
    values: u64,
    /// The nesting depth.
    depth: u32,
}

impl Extent {
    /// The maximum number of members, counted recursively.
    const MAX_PARTS: u64 = 1 << 16;
    /// The maximum nesting depth of types.
    const MAX_DEPTH: u32 = 200;
    /// The extent of a type without members.
    pub(super) const LEAF: Extent = Extent {
        parts: 1,
        values: 1,
        depth: 1,
    };

    /// The extent of a type with these members.
    pub fn of(members: impl IntoIterator<Item = Extent>) -> Extent {
        members
            .into_iter()
            .fold(Extent::LEAF, |all, member| Extent {
                parts: all.parts.saturating_add(member.parts),
                values: all.values.saturating_add(member.values),
                depth: all.depth.max(member.depth.saturating_add(1)),
            })
    }

    /// An upper bound for a generic type with these arguments.
    pub(super) fn with_arguments(self, arguments: Extent) -> Extent {
        Extent {
            parts: self.parts.saturating_mul(arguments.parts),
            values: self.values.saturating_mul(arguments.values),
            depth: self.depth.saturating_add(arguments.depth),
        }
    }

    /// The extent of an array with `count` elements.
    pub(super) fn times(self, count: u32) -> Extent {
        let values = self.values.saturating_mul(u64::from(count));
        Extent {
            parts: values,
            values,
            ..self
        }
    }

    /// The extent of a header stack with `count` elements.
    pub(super) fn stacked(self, count: u32) -> Extent {
        Extent {
            values: self.values.saturating_mul(u64::from(count)),
            ..self
        }
    }

    /// A description of the limit that it exceeds, if any.
    pub fn excess(self) -> Option<String> {
        if self.parts > Self::MAX_PARTS {
            let most = Self::MAX_PARTS;
            return Some(format!("has more than {most} members of members"));
        }
        let most = Self::MAX_DEPTH;
        (self.depth > most).then(|| format!("nests more than {most} deep"))
    }
}

/// Type arguments, by the declaration of the type parameter.
pub type Substitution = HashMap<DeclId, Ty>;

impl Ty {
    /// Whether this is the type of an expression with an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Ty::Error)
    }

    /// The kind of declared type that this is, if it is one.
    pub fn named_kind(&self) -> Option<NamedKind> {
        match self {
            Ty::Named(named) => Some(named.kind),
            _ => None,
        }
    }

    /// Whether it is a declared type of this kind.
    pub fn is(&self, kind: NamedKind) -> bool {
        self.named_kind() == Some(kind)
    }

    /// `header` or `header_union`.
    pub fn is_header_like(&self) -> bool {
        self.is(NamedKind::Header) || self.is(NamedKind::Union)
    }

    /// Whether it is a stack of headers or unions, which has validity and a next index, unlike
    /// other arrays.
    pub fn is_header_stack(&self) -> bool {
        matches!(self, Ty::Stack(of, _) if of.is_header_like())
    }

    /// `bit<W>`, `int<W>` or `int`.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Ty::Bit(_) | Ty::Signed(_) | Ty::Int)
    }

    /// The width of `bit<W>` or `int<W>`.
    pub fn width(&self) -> Option<u32> {
        match self {
            Ty::Bit(w) | Ty::Signed(w) => Some(*w),
            _ => None,
        }
    }

    /// Whether it is an extern, parser, control, package or table, which exist at compile time.
    pub fn is_object(&self) -> bool {
        matches!(self, Ty::Table(..))
            || matches!(
                self.named_kind(),
                Some(
                    NamedKind::Extern | NamedKind::Parser | NamedKind::Control | NamedKind::Package
                )
            )
    }

    /// Replaces type parameters.
    pub fn substitute(&self, with: &Substitution) -> Ty {
        if with.is_empty() {
            return self.clone();
        }
        self.map(&mut |ty| match ty {
            Ty::Param(id, _) => with.get(id).cloned(),
            _ => None,
        })
    }

    /// Replaces every part of the type for which `f` returns a type, from the outside in.
    pub fn map(&self, f: &mut impl FnMut(&Ty) -> Option<Ty>) -> Ty {
        if let Some(ty) = f(self) {
            return ty;
        }
        match self {
            Ty::Tuple(members) => Ty::Tuple(members.iter().map(|m| m.map(f)).collect()),
            Ty::ListExpr(members) => Ty::ListExpr(members.iter().map(|m| m.map(f)).collect()),
            Ty::StructExpr(fields) => {
                let field = |(name, ty): &(Symbol, Ty)| (name.clone(), ty.map(f));
                Ty::StructExpr(fields.iter().map(field).collect())
            }
            Ty::List(of) => Ty::List(Rc::new(of.map(f))),
            Ty::Set(of) => Ty::Set(Rc::new(of.map(f))),
            Ty::Stack(of, len) => Ty::Stack(Rc::new(of.map(f)), *len),
            Ty::Named(named) if !named.args.is_empty() => Ty::Named(Named {
                args: named.args.iter().map(|a| a.map(f)).collect(),
                ..named.clone()
            }),
            other => other.clone(),
        }
    }

    /// Whether some part of it is `wanted`.
    pub fn any(&self, wanted: &mut impl FnMut(&Ty) -> bool) -> bool {
        let mut found = false;
        self.map(&mut |ty| {
            found |= wanted(ty);
            None
        });
        found
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Error => write!(f, "?"),
            Ty::Void => write!(f, "void"),
            Ty::Bool => write!(f, "bool"),
            Ty::Int => write!(f, "int"),
            Ty::Bit(w) => write!(f, "bit<{w}>"),
            Ty::Signed(w) => write!(f, "int<{w}>"),
            Ty::Varbit(w) => write!(f, "varbit<{w}>"),
            Ty::String => write!(f, "string"),
            Ty::ErrorCode => write!(f, "error"),
            Ty::MatchKind => write!(f, "match_kind"),
            Ty::DontCare | Ty::Var(_) => write!(f, "_"),
            Ty::Tuple(members) => write!(f, "tuple<{}>", Joined(members)),
            Ty::List(of) => write!(f, "list<{of}>"),
            Ty::ListExpr(members) => write!(f, "{{ {} }}", Joined(members)),
            Ty::StructExpr(fields) => {
                write!(f, "{{ ")?;
                for (i, (name, ty)) in fields.iter().enumerate() {
                    write!(f, "{}{name} = {ty}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, " }}")
            }
            Ty::Invalid => write!(f, "{{#}}"),
            Ty::Defaults => write!(f, "..."),
            Ty::Stack(of, len) => write!(f, "{of}[{len}]"),
            Ty::Named(named) if named.args.is_empty() => write!(f, "{}", named.name),
            Ty::Named(named) => write!(f, "{}<{}>", named.name, Joined(&named.args)),
            Ty::Param(_, name) => write!(f, "{name}"),
            Ty::Set(of) => write!(f, "set<{of}>"),
            Ty::Action => write!(f, "action"),
            Ty::Table(_, name) => write!(f, "table {name}"),
            Ty::ApplyResult(_, name) => write!(f, "result of {name}.apply()"),
            Ty::ActionEnum(_, name) => write!(f, "action_run of {name}"),
            Ty::Function => write!(f, "function"),
        }
    }
}

struct Joined<'a>(&'a [Ty]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.0.iter().enumerate() {
            write!(f, "{}{ty}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
