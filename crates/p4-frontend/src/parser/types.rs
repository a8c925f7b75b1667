//! Types, their parameters and arguments.

use super::{Parse, Parser, is_name};
use crate::ast::{Expr, Type, TypeKind, TypeParameter};
use crate::lexer::TokenKind;
use crate::span::Span;

impl Parser {
    /// typeRef: baseType | typeName | specializedType | headerStackType | tupleType | listType
    pub fn type_ref(&mut self) -> Parse<Type> {
        self.nested(Parser::type_ref_unguarded)
    }

    fn type_ref_unguarded(&mut self) -> Parse<Type> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Bool => self.simple_type(TypeKind::Bool),
            TokenKind::Error => self.simple_type(TypeKind::Error),
            TokenKind::MatchKind => self.simple_type(TypeKind::MatchKind),
            TokenKind::StringType => self.simple_type(TypeKind::String),
            TokenKind::Void => self.simple_type(TypeKind::Void),
            TokenKind::Bit => {
                self.bump();
                let width = match self.kind() {
                    TokenKind::LAngle => Some(Box::new(self.width()?)),
                    _ => None,
                };
                TypeKind::Bit(width)
            }
            TokenKind::Int => {
                self.bump();
                match self.kind() {
                    TokenKind::LAngle => TypeKind::Signed(Box::new(self.width()?)),
                    _ => TypeKind::Int,
                }
            }
            TokenKind::Varbit => {
                self.bump();
                TypeKind::Varbit(Box::new(self.width()?))
            }
            TokenKind::Tuple => {
                self.bump();
                TypeKind::Tuple(self.type_args()?)
            }
            TokenKind::List if self.nth(1) == TokenKind::LAngle => {
                self.bump();
                self.expect(TokenKind::LAngle)?;
                let element = self.type_arg()?;
                self.expect(TokenKind::RAngle)?;
                TypeKind::List(Box::new(element))
            }
            kind if is_name(kind) || kind == TokenKind::Dot => self.named_type()?,
            _ => return Err(self.unexpected("a type")),
        };
        let mut ty = self.make_type(start, kind);
        while self.is_at(TokenKind::LBracket) {
            self.bump();
            let size = Box::new(self.expression()?);
            self.expect(TokenKind::RBracket)?;
            let kind = TypeKind::Stack {
                element: Box::new(ty),
                size,
            };
            ty = self.make_type(start, kind);
        }
        Ok(ty)
    }

    fn simple_type(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    pub fn make_type(&mut self, start: Span, kind: TypeKind) -> Type {
        Type {
            id: self.type_id(),
            span: self.since(start),
            kind,
        }
    }

    /// prefixedType [ "<" typeArgumentList ">" ]
    fn named_type(&mut self) -> Parse<TypeKind> {
        let path = self.path("a type's name")?;
        let args = match self.kind() {
            TokenKind::LAngle => self.type_args()?,
            _ => Vec::new(),
        };
        Ok(TypeKind::Named { path, args })
    }

    /// "<" expression ">". The specification requires parentheses around everything except numbers; p4c and this parser
    /// do not.
    fn width(&mut self) -> Parse<Expr> {
        self.expect(TokenKind::LAngle)?;
        let outer = std::mem::replace(&mut self.in_angles, true);
        let width = self.expression();
        self.in_angles = outer;
        let width = width?;
        self.expect(TokenKind::RAngle)?;
        Ok(width)
    }

    /// "<" typeArg { "," typeArg } ">"
    pub fn type_args(&mut self) -> Parse<Vec<Type>> {
        self.expect(TokenKind::LAngle)?;
        let args = self.separated(TokenKind::RAngle, Parser::type_arg)?;
        self.expect(TokenKind::RAngle)?;
        Ok(args)
    }

    fn type_arg(&mut self) -> Parse<Type> {
        let start = self.span();
        if self.take(TokenKind::Underscore) {
            return Ok(self.make_type(start, TypeKind::DontCare));
        }
        self.type_ref()
    }

    /// optTypeParameters: [ "<" name { "," name } ">" ]
    pub fn type_params(&mut self) -> Parse<Vec<TypeParameter>> {
        if !self.take(TokenKind::LAngle) {
            return Ok(Vec::new());
        }
        let params = self.separated(TokenKind::RAngle, |parser| {
            let name = parser.name("a type parameter's name")?;
            parser.scopes.declare_type(&name);
            Ok(TypeParameter {
                id: parser.decl_id(),
                name,
            })
        })?;
        self.expect(TokenKind::RAngle)?;
        Ok(params)
    }
}
