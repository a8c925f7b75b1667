//! Parsers and their states.

use super::declarations::Place;
use super::{Parse, Parser};
use crate::ast::{
    Annotation, DeclarationKind, Ident, Parser as ParserDeclaration, ParserBody, SelectCase, State,
    Transition,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser {
    /// "parser" name [ "<" types ">" ] "(" parameters ")" ( ";" | [ "(" parameters ")" ] body )
    pub fn parser(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Parser)?;
        let name = self.name("the parser's name")?;
        self.scopes.declare_type(&name);
        self.scoped(|parser| {
            let type_params = parser.type_params()?;
            let params = parser.parameters()?;
            let mut declaration = ParserDeclaration {
                type_params,
                params,
                constructor_params: Vec::new(),
                body: None,
            };
            if !parser.take(TokenKind::Semicolon) {
                declaration.constructor_params = parser.constructor_params()?;
                declaration.body = Some(parser.parser_body()?);
            }
            Ok((name, DeclarationKind::Parser(declaration)))
        })
    }

    /// "{" { local } { state } "}"
    fn parser_body(&mut self) -> Parse<ParserBody> {
        self.expect(TokenKind::LBrace)?;
        let mut body = ParserBody {
            locals: Vec::new(),
            states: Vec::new(),
        };
        while !self.is_at_end_of_braces() {
            self.item(&mut Vec::new(), |parser| parser.parser_item(&mut body));
        }
        self.expect(TokenKind::RBrace)?;
        Ok(body)
    }

    fn parser_item(&mut self, body: &mut ParserBody) -> Parse<()> {
        let annotations = self.annotations()?;
        if self.is_at(TokenKind::State) {
            let state = self.state(annotations)?;
            body.states.push(state);
            return Ok(());
        }
        let local = self.declaration(annotations, Place::Parser)?;
        if let Some(state) = body.states.last() {
            let diagnostic = Diagnostic::error("misplaced", "a parser's states come last")
                .label(local.span, "declared after a state")
                .label(state.name.span, "this state comes before it");
            self.report(diagnostic);
        }
        body.locals.push(local);
        Ok(())
    }

    /// "state" name "{" { statement } [ transition ] "}"
    fn state(&mut self, annotations: Vec<Annotation>) -> Parse<State> {
        let start = self.expect(TokenKind::State)?;
        let id = self.decl_id();
        let name = self.name("the state's name")?;
        self.expect(TokenKind::LBrace)?;
        let mut statements = Vec::new();
        let mut transition = None;
        self.scopes.open();
        self.in_state = true;
        while !self.is_at_end_of_braces() {
            let before = self.at;
            if transition.is_some() {
                let diagnostic =
                    Diagnostic::error("misplaced", "`transition` is the last part of a state")
                        .label(self.span(), "nothing may follow it");
                self.report(diagnostic);
                self.recover(before);
            } else if self.is_at(TokenKind::Transition) {
                let mut transitions = Vec::new();
                self.item(&mut transitions, Parser::transition);
                transition = transitions.pop();
            } else {
                self.item(&mut statements, Parser::statement);
            }
        }
        self.in_state = false;
        self.scopes.close();
        self.expect(TokenKind::RBrace)?;
        Ok(State {
            id,
            span: self.since(start),
            annotations,
            name,
            statements,
            transition,
        })
    }

    /// "transition" ( name ";" | "select" "(" expressions ")" "{" { case } "}" )
    fn transition(&mut self) -> Parse<Transition> {
        self.expect(TokenKind::Transition)?;
        let start = self.span();
        if !self.take(TokenKind::Select) {
            let next = self.path("a state's name or `select`")?;
            self.semicolon("the transition")?;
            return Ok(Transition::Direct(next));
        }
        self.expect(TokenKind::LParen)?;
        let subjects = self.separated(TokenKind::RParen, Parser::expression)?;
        self.expect(TokenKind::RParen)?;
        let cases = self.braced(Parser::select_case)?;
        Ok(Transition::Select {
            span: self.since(start),
            subjects,
            cases,
        })
    }

    /// keyset ":" name ";"
    fn select_case(&mut self) -> Parse<SelectCase> {
        let start = self.span();
        let keys = self.keyset()?;
        self.expect(TokenKind::Colon)?;
        let next = self.path("a state's name")?;
        self.semicolon("the case")?;
        Ok(SelectCase {
            span: self.since(start),
            keys,
            next,
        })
    }
}
