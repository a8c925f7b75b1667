//! Types as the checker knows them.

use crate::ast::{DeclId, Symbol};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// A type, with typedefs resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Of an expression in which a fault was found: agrees with everything.
    Error,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `int`: any size, at compile time only.
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
    /// `_` where a type stands, and of `_` as an argument.
    DontCare,
    /// `tuple<…>`
    Tuple(Rc<[Ty]>),
    /// `list<T>`
    List(Rc<Ty>),
    /// Of `{ a, b }`, until its context gives it another.
    ListExpr(Rc<[Ty]>),
    /// Of `{ x = a, y = b }`, until its context gives it another.
    StructExpr(Rc<[(Symbol, Ty)]>),
    /// Of `{#}`, until its context gives it another.
    Invalid,
    /// Of `...`, until its context gives it another.
    Defaults,
    /// An array; a stack if its elements are headers or unions.
    Stack(Rc<Ty>, u32),
    /// A declared type.
    Named(Named),
    /// A type parameter, in the body of what declares it.
    Param(DeclId, Symbol),
    /// To be inferred.
    Var(u32),
    /// `set<T>`: a keyset.
    Set(Rc<Ty>),
    /// Of an action's name.
    Action,
    /// Of a table's name.
    Table(DeclId, Symbol),
    /// Of `t.apply()`.
    ApplyResult(DeclId, Symbol),
    /// Of `t.apply().action_run`.
    ActionEnum(DeclId, Symbol),
    /// Of a function's name.
    Function,
}

/// A declared type and its type arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// What it is.
    pub kind: NamedKind,
    /// Its declaration.
    pub id: DeclId,
    /// Its name.
    pub name: Symbol,
    /// One for each type parameter.
    pub args: Rc<[Ty]>,
}

/// What a declared type is.
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
    /// The keyword that declares it.
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

/// How large a type is when it is written out: what names others doubles them with each level.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Its members, those of its members counted; a header stack's elements count as one.
    parts: u64,
    /// The same, with each element of a header stack.
    values: u64,
    /// How deep they nest.
    depth: u32,
}

impl Extent {
    /// Members that a type may have, those of its members counted.
    const MAX_PARTS: u64 = 1 << 16;
    /// How deep types may nest.
    const MAX_DEPTH: u32 = 200;
    /// That of a type without members.
    pub(super) const LEAF: Extent = Extent {
        parts: 1,
        values: 1,
        depth: 1,
    };

    /// That of a type with such members.
    pub fn of(members: impl IntoIterator<Item = Extent>) -> Extent {
        members
            .into_iter()
            .fold(Extent::LEAF, |all, member| Extent {
                parts: all.parts.saturating_add(member.parts),
                values: all.values.saturating_add(member.values),
                depth: all.depth.max(member.depth.saturating_add(1)),
            })
    }

    /// At most that of a generic type with such arguments.
    pub(super) fn with_arguments(self, arguments: Extent) -> Extent {
        Extent {
            parts: self.parts.saturating_mul(arguments.parts),
            values: self.values.saturating_mul(arguments.values),
            depth: self.depth.saturating_add(arguments.depth),
        }
    }

    /// That of an array's elements, so many of them.
    pub(super) fn times(self, count: u32) -> Extent {
        let values = self.values.saturating_mul(u64::from(count));
        Extent {
            parts: values,
            values,
            ..self
        }
    }

    /// That of a header stack's elements, so many of them.
    pub(super) fn stacked(self, count: u32) -> Extent {
        Extent {
            values: self.values.saturating_mul(u64::from(count)),
            ..self
        }
    }

    /// What is too much of it, if anything.
    pub fn excess(self) -> Option<String> {
        if self.parts > Self::MAX_PARTS {
            let most = Self::MAX_PARTS;
            return Some(format!("has more than {most} members of members"));
        }
        let most = Self::MAX_DEPTH;
        (self.depth > most).then(|| format!("nests more than {most} deep"))
    }
}

/// Type arguments by the parameter's declaration.
pub type Substitution = HashMap<DeclId, Ty>;

impl Ty {
    /// Whether this is the type of a faulty expression.
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

    /// A stack of headers or unions: it has validity and a next index, other arrays have not.
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

    /// An extern, parser, control, package or table: something that exists before any packet.
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

    /// Replaces every part of the type for which `f` gives something, from the outside in.
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
