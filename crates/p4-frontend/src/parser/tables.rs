//! Tables.

use super::{Parse, Parser};
use crate::ast::{
    ActionRef, DeclarationKind, Entry, Expr, ExprKind, Ident, KeyElement, Table, TableProperty,
    TablePropertyKind,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser {
    /// "table" name "{" { property } "}"
    pub fn table(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Table)?;
        let name = self.name("the table's name")?;
        self.scopes.declare_value(&name);
        let properties = self.braced(Parser::table_property)?;
        Ok((name, DeclarationKind::Table(Table { properties })))
    }

    /// [ "const" ] name "=" value
    fn table_property(&mut self) -> Parse<TableProperty> {
        let annotations = self.annotations()?;
        let start = self.span();
        let is_const = self.take(TokenKind::Const);
        let keyword = self.kind();
        let name = self.name("a table property's name")?;
        self.expect(TokenKind::Assign)?;
        let kind = match keyword {
            TokenKind::Key => TablePropertyKind::Key(self.braced(Parser::key_element)?),
            TokenKind::Actions => TablePropertyKind::Actions(self.braced(Parser::listed_action)?),
            TokenKind::Entries => TablePropertyKind::Entries(self.braced(Parser::entry)?),
            _ => {
                let value = self.expression()?;
                self.semicolon("the property")?;
                TablePropertyKind::Value(value)
            }
        };
        Ok(TableProperty {
            span: self.since(start),
            annotations,
            is_const,
            name,
            kind,
        })
    }

    /// expression ":" name [ annotations ] ";"
    fn key_element(&mut self) -> Parse<KeyElement> {
        let start = self.span();
        let expr = self.expression()?;
        if self.is_at(TokenKind::Semicolon) {
            let diagnostic = Diagnostic::error("syntax", "the key has no match kind")
                .label(self.span(), "expected `:` and a match kind")
                .help("for example `: exact`, `: lpm` or `: ternary`");
            return Err(self.report(diagnostic));
        }
        self.expect(TokenKind::Colon)?;
        let match_kind = self.path("a match kind's name")?;
        let annotations = self.annotations()?;
        self.semicolon("the key")?;
        Ok(KeyElement {
            span: self.since(start),
            expr,
            match_kind,
            annotations,
        })
    }

    /// [ annotations ] actionRef ";"
    fn listed_action(&mut self) -> Parse<ActionRef> {
        let annotations = self.annotations()?;
        let start = self.span();
        let action = self.action_ref()?;
        let span = self.since(start);
        if self.is_at(TokenKind::Comma) {
            let diagnostic = Diagnostic::error("syntax", "actions are separated by `;`")
                .label(self.span(), "expected `;`");
            return Err(self.report(diagnostic));
        }
        self.semicolon("the action")?;
        Ok(ActionRef {
            span,
            annotations,
            action,
        })
    }

    /// actionRef: name [ "(" arguments ")" ]
    fn action_ref(&mut self) -> Parse<Expr> {
        let start = self.span();
        let path = self.path("an action's name")?;
        let name = self.make(path.span, ExprKind::Name(path));
        if !self.is_at(TokenKind::LParen) {
            return Ok(name);
        }
        let kind = ExprKind::Call {
            callee: Box::new(name),
            type_args: Vec::new(),
            args: self.arguments()?,
        };
        let span = self.since(start);
        Ok(self.make(span, kind))
    }

    /// [ "const" ] [ "priority" "=" expression ":" ] keyset ":" actionRef [ annotations ] ";"
    fn entry(&mut self) -> Parse<Entry> {
        let start = self.span();
        let is_const = self.take(TokenKind::Const);
        let has_priority = self.is_at(TokenKind::Priority) && self.nth(1) == TokenKind::Assign;
        let priority = if has_priority {
            self.bump();
            self.bump();
            let priority = self.expression()?;
            self.expect(TokenKind::Colon)?;
            Some(priority)
        } else {
            None
        };
        let keys = self.keyset()?;
        self.expect(TokenKind::Colon)?;
        let action = self.action_ref()?;
        let annotations = self.annotations()?;
        self.semicolon("the entry")?;
        Ok(Entry {
            span: self.since(start),
            is_const,
            priority,
            keys,
            action,
            annotations,
        })
    }
}
