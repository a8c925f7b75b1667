//! Structs, headers, enums, errors, match kinds and new names of types.

use super::declarations::Place;
use super::{Parse, Parser, is_name};
use crate::ast::{DeclarationKind, EnumMember, Field, Fields, Ident, Path, Type, TypeKind};
use crate::lexer::TokenKind;

impl Parser {
    /// ( "header" | "header_union" | "struct" ) name [ "<" types ">" ] "{" { type name ";" } "}"
    pub fn fields(&mut self) -> Parse<(Ident, DeclarationKind)> {
        let keyword = self.bump().kind;
        let name = self.name("the type's name")?;
        self.scopes.declare_type(&name);
        let fields = self.scoped(|parser| {
            Ok(Fields {
                type_params: parser.type_params()?,
                fields: parser.braced(Parser::field)?,
            })
        })?;
        let kind = match keyword {
            TokenKind::Header => DeclarationKind::Header(fields),
            TokenKind::HeaderUnion => DeclarationKind::HeaderUnion(fields),
            _ => DeclarationKind::Struct(fields),
        };
        Ok((name, kind))
    }

    fn field(&mut self) -> Parse<Field> {
        let annotations = self.annotations()?;
        let start = self.span();
        let ty = self.type_ref()?;
        let name = self.name("the field's name")?;
        let ty = self.sized(ty)?;
        self.semicolon("the field")?;
        Ok(Field {
            id: self.decl_id(),
            span: self.since(start),
            annotations,
            ty,
            name,
        })
    }

    /// "enum" [ type ] name "{" members "}"
    pub fn enumeration(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Enum)?;
        let untyped = is_name(self.kind()) && self.nth(1) == TokenKind::LBrace;
        let underlying = match untyped {
            true => None,
            false => Some(self.type_ref()?),
        };
        let name = self.name("the enum's name")?;
        self.scopes.declare_type(&name);
        let members = self.members()?;
        let kind = DeclarationKind::Enum {
            underlying,
            members,
        };
        Ok((name, kind))
    }

    /// "error" "{" names "}", "match_kind" "{" names "}"
    pub fn extension(&mut self) -> Parse<(Ident, DeclarationKind)> {
        let keyword = self.bump();
        let name = Ident {
            name: keyword.text,
            span: keyword.span,
        };
        let members = self.members()?;
        let kind = match keyword.kind {
            TokenKind::Error => DeclarationKind::Error { members },
            _ => DeclarationKind::MatchKind { members },
        };
        Ok((name, kind))
    }

    fn members(&mut self) -> Parse<Vec<EnumMember>> {
        self.expect(TokenKind::LBrace)?;
        let members = self.separated(TokenKind::RBrace, |parser| {
            let annotations = parser.annotations()?;
            let name = parser.name("a member's name")?;
            let value = match parser.take(TokenKind::Assign) {
                true => Some(parser.expression()?),
                false => None,
            };
            Ok(EnumMember {
                id: parser.decl_id(),
                annotations,
                name,
                value,
            })
        })?;
        self.expect(TokenKind::RBrace)?;
        Ok(members)
    }

    /// "typedef" type name ";", "typedef" struct-like-or-enum name ";"
    ///
    /// `typedef struct A { ... } B;` is `struct A { ... } typedef A B;`.
    pub fn typedef(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Typedef)?;
        if matches!(
            self.kind(),
            TokenKind::Struct | TokenKind::Header | TokenKind::HeaderUnion | TokenKind::Enum
        ) {
            let declaration = self.declaration(Vec::new(), Place::TopLevel)?;
            let named = TypeKind::Named {
                path: Path {
                    absolute: false,
                    name: declaration.name.clone(),
                    span: declaration.name.span,
                },
                args: Vec::new(),
            };
            let ty = self.make_type(declaration.span, named);
            self.ahead.push(declaration);
            let name = self.type_name()?;
            return Ok((name, DeclarationKind::Typedef(ty)));
        }
        let (name, ty) = self.renamed_type()?;
        Ok((name, DeclarationKind::Typedef(ty)))
    }

    /// "type" type name ";"
    pub fn new_type(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Type)?;
        let (name, ty) = self.renamed_type()?;
        Ok((name, DeclarationKind::NewType(ty)))
    }

    fn renamed_type(&mut self) -> Parse<(Ident, Type)> {
        let ty = self.type_ref()?;
        let name = self.type_name()?;
        Ok((name, ty))
    }

    /// name ";"
    fn type_name(&mut self) -> Parse<Ident> {
        let name = self.name("the new type's name")?;
        self.scopes.declare_type(&name);
        self.semicolon("the type")?;
        Ok(name)
    }
}
