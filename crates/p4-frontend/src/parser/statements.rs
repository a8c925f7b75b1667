//! Statements.

use super::declarations::Place;
use super::{Parse, Parser, Reported, is_name};
use crate::ast::{
    Annotation, BinaryOp, Block, Declaration, DeclarationKind, Expr, ExprKind, IfArm, Statement,
    StatementKind, SwitchCase,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser {
    /// blockStatement: [ annotations ] "{" { statementOrDeclaration } "}"
    pub fn block(&mut self) -> Parse<Block> {
        let annotations = self.annotations()?;
        self.annotated_block(annotations)
    }

    fn annotated_block(&mut self, annotations: Vec<Annotation>) -> Parse<Block> {
        let start = self.span();
        let statements = self.scoped(|parser| parser.braced(Parser::statement))?;
        Ok(Block {
            span: self.since(start),
            annotations,
            statements,
        })
    }

    /// statementOrDeclaration
    pub fn statement(&mut self) -> Parse<Statement> {
        self.enter()?;
        let start = self.span();
        let annotations = self.annotations()?;
        let kind = if annotations.is_empty() {
            self.statement_kind()?
        } else {
            self.annotated_statement(annotations)?
        };
        self.depth -= 1;
        Ok(Statement {
            span: self.since(start),
            kind,
        })
    }

    fn annotated_statement(&mut self, annotations: Vec<Annotation>) -> Parse<StatementKind> {
        match self.kind() {
            TokenKind::LBrace => Ok(StatementKind::Block(self.annotated_block(annotations)?)),
            TokenKind::For => self.for_statement(annotations),
            _ if self.is_at_declaration() => self.local_declaration(annotations),
            _ => Err(self.unexpected("a block, a loop or a declaration after annotations")),
        }
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        if self.in_state && !allowed_in_state(self.kind()) {
            return Err(self.misplaced_in_state());
        }
        match self.kind() {
            TokenKind::If => self.if_statement(),
            TokenKind::LBrace => Ok(StatementKind::Block(self.block()?)),
            TokenKind::For => self.for_statement(Vec::new()),
            TokenKind::Switch => self.switch_statement(),
            TokenKind::Return => self.return_statement(),
            TokenKind::Semicolon => {
                self.bump();
                Ok(StatementKind::Empty)
            }
            TokenKind::Exit => self.keyword_statement("`exit`", StatementKind::Exit),
            TokenKind::Break => self.keyword_statement("`break`", StatementKind::Break),
            TokenKind::Continue => self.keyword_statement("`continue`", StatementKind::Continue),
            TokenKind::Else => Err(self.stray_else()),
            _ if self.is_at_declaration() => self.local_declaration(Vec::new()),
            _ => self.simple_statement(),
        }
    }

    fn local_declaration(&mut self, annotations: Vec<Annotation>) -> Parse<StatementKind> {
        let declaration = self.declaration(annotations, Place::Block)?;
        Ok(StatementKind::Declaration(Box::new(declaration)))
    }

    fn return_statement(&mut self) -> Parse<StatementKind> {
        self.expect(TokenKind::Return)?;
        let value = match self.kind() {
            TokenKind::Semicolon => None,
            _ => Some(self.expression()?),
        };
        self.semicolon("`return`")?;
        Ok(StatementKind::Return(value))
    }

    fn misplaced_in_state(&mut self) -> Reported {
        let message = format!("{} is not allowed in a parser's state", self.kind());
        let diagnostic =
            Diagnostic::error("misplaced", message).label(self.span(), "not in a state");
        self.report(diagnostic)
    }

    fn stray_else(&mut self) -> Reported {
        let diagnostic = Diagnostic::error("syntax", "`else` without `if`")
            .label(self.span(), "no `if` comes right before this");
        self.report(diagnostic)
    }

    /// ( assignment | call ) ";"
    fn simple_statement(&mut self) -> Parse<StatementKind> {
        let kind = self.assignment_or_call()?;
        self.semicolon(match kind {
            StatementKind::Call(_) => "the call",
            _ => "the assignment",
        })?;
        Ok(kind)
    }

    /// Whether a declaration comes next, including one that is not allowed among statements.
    fn is_at_declaration(&self) -> bool {
        match self.kind() {
            TokenKind::Const
            | TokenKind::Action
            | TokenKind::Table
            | TokenKind::Control
            | TokenKind::Parser
            | TokenKind::Header
            | TokenKind::HeaderUnion
            | TokenKind::Struct
            | TokenKind::Enum
            | TokenKind::Extern
            | TokenKind::Package
            | TokenKind::Typedef
            | TokenKind::ValueSet => true,
            _ => self.is_at_local_declaration(),
        }
    }

    fn keyword_statement(&mut self, what: &str, kind: StatementKind) -> Parse<StatementKind> {
        self.bump();
        self.semicolon(what)?;
        Ok(kind)
    }

    /// lvalue "=" expression, lvalue "+=" expression, call; without the semicolon
    fn assignment_or_call(&mut self) -> Parse<StatementKind> {
        if !starts_lvalue(self.kind()) {
            return Err(self.unexpected("a statement"));
        }
        let target = self.postfix()?;
        self.finish_assignment_or_call(target)
    }

    fn finish_assignment_or_call(&mut self, target: Expr) -> Parse<StatementKind> {
        if let Some(op) = assignment_operator(self.kind()) {
            self.bump();
            let value = self.expression()?;
            return Ok(StatementKind::Assign { op, target, value });
        }
        if matches!(target.kind, ExprKind::Call { .. }) {
            return Ok(StatementKind::Call(target));
        }
        if self.is_at(TokenKind::EqEq) {
            let diagnostic = Diagnostic::error("syntax", "a comparison is not a statement")
                .label(self.span(), "expected `=`")
                .help("`=` assigns");
            return Err(self.report(diagnostic));
        }
        Err(self.unexpected("`=` or `(`"))
    }

    /// ifArm { "else" ifArm } [ "else" statement ]
    fn if_statement(&mut self) -> Parse<StatementKind> {
        let mut arms = Vec::new();
        self.if_arm(&mut arms)?;
        let mut otherwise = None;
        while otherwise.is_none() && self.take(TokenKind::Else) {
            if self.is_at(TokenKind::If) {
                self.item_start = self.at;
                self.if_arm(&mut arms)?;
            } else {
                otherwise = Some(self.sub_statement()?);
            }
        }
        Ok(StatementKind::If { arms, otherwise })
    }

    /// "if" "(" expression ")" statement
    fn if_arm(&mut self, arms: &mut Vec<IfArm>) -> Parse<()> {
        let start = self.expect(TokenKind::If)?;
        self.expect(TokenKind::LParen)?;
        let condition = Box::new(self.expression()?);
        self.expect(TokenKind::RParen)?;
        let then = self.sub_statement()?;
        let span = self.since(start);
        arms.push(IfArm {
            span,
            condition,
            then,
        });
        Ok(())
    }

    /// A statement that is part of another.
    fn sub_statement(&mut self) -> Parse<Box<Statement>> {
        self.item_start = self.at;
        self.scopes.open();
        let statement = self.statement();
        self.scopes.close();
        Ok(Box::new(statement?))
    }

    /// "switch" "(" expression ")" "{" { switchCase } "}"
    fn switch_statement(&mut self) -> Parse<StatementKind> {
        self.expect(TokenKind::Switch)?;
        self.expect(TokenKind::LParen)?;
        let subject = self.expression()?;
        self.expect(TokenKind::RParen)?;
        let cases = self.braced(Parser::switch_case)?;
        Ok(StatementKind::Switch { subject, cases })
    }

    /// ( expression | "default" ) ":" [ block ]
    fn switch_case(&mut self) -> Parse<SwitchCase> {
        let start = self.span();
        let label = if self.take(TokenKind::Default) {
            self.make(start, ExprKind::Default)
        } else {
            self.expression()?
        };
        self.expect(TokenKind::Colon)?;
        let body = match self.kind() {
            TokenKind::LBrace | TokenKind::At => Some(self.block()?),
            _ => None,
        };
        Ok(SwitchCase {
            span: self.since(start),
            label,
            body,
        })
    }

    /// "for" "(" init ";" condition ";" update ")" statement, "for" "(" variable "in" collection ")" statement
    fn for_statement(&mut self, annotations: Vec<Annotation>) -> Parse<StatementKind> {
        self.expect(TokenKind::For)?;
        self.expect(TokenKind::LParen)?;
        self.nested(|parser| parser.scoped(|parser| parser.for_header(annotations)))
    }

    fn for_header(&mut self, annotations: Vec<Annotation>) -> Parse<StatementKind> {
        let mut init = Vec::new();
        while !self.is_at(TokenKind::Semicolon) {
            let start = self.span();
            let kind = match self.for_variable()? {
                Some(variable) if init.is_empty() && self.is_at_in_of(&variable) => {
                    return self.for_in(annotations, variable);
                }
                Some(variable) => StatementKind::Declaration(Box::new(variable)),
                None => {
                    let target = self.postfix()?;
                    if init.is_empty() && self.is_at(TokenKind::In) {
                        return Err(self.for_in_without_type(&target));
                    }
                    self.finish_assignment_or_call(target)?
                }
            };
            init.push(Statement {
                span: self.since(start),
                kind,
            });
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Semicolon)?;
        let condition = self.expression()?;
        self.expect(TokenKind::Semicolon)?;
        let update = self.separated(TokenKind::RParen, |parser| {
            let start = parser.span();
            let kind = parser.assignment_or_call()?;
            Ok(Statement {
                span: parser.since(start),
                kind,
            })
        })?;
        self.expect(TokenKind::RParen)?;
        let body = self.sub_statement()?;
        Ok(StatementKind::For {
            annotations,
            init,
            condition,
            update,
            body,
        })
    }

    /// type name [ "=" expression ], if the header of the loop continues with a declaration.
    fn for_variable(&mut self) -> Parse<Option<Declaration>> {
        let annotations = self.annotations()?;
        if annotations.is_empty() && !self.is_at_local_declaration() {
            return Ok(None);
        }
        let start = self.span();
        let ty = self.type_ref()?;
        let name = self.name("a variable's name")?;
        self.scopes.declare_value(&name);
        let init = match self.take(TokenKind::Assign) {
            true => Some(self.expression()?),
            false => None,
        };
        Ok(Some(Declaration {
            id: self.decl_id(),
            span: self.since(start),
            annotations,
            name,
            kind: DeclarationKind::Variable { ty, init },
        }))
    }

    /// Whether `in` follows a variable that has no initial value.
    fn is_at_in_of(&self, variable: &Declaration) -> bool {
        let bare = matches!(variable.kind, DeclarationKind::Variable { init: None, .. });
        bare && self.is_at(TokenKind::In)
    }

    fn for_in_without_type(&mut self, target: &Expr) -> Reported {
        let diagnostic = Diagnostic::error(
            "syntax",
            "a loop over a collection declares its own variable",
        )
        .label(target.span, "expected a type and a name")
        .help("write the type before the name, as in `for (bit<8> i in …)`");
        self.report(diagnostic)
    }

    /// "in" collection ")" statement
    fn for_in(
        &mut self,
        annotations: Vec<Annotation>,
        variable: Declaration,
    ) -> Parse<StatementKind> {
        self.expect(TokenKind::In)?;
        let collection = self.expression_or_range()?;
        self.expect(TokenKind::RParen)?;
        let body = self.sub_statement()?;
        Ok(StatementKind::ForIn {
            annotations,
            variable: Box::new(variable),
            collection,
            body,
        })
    }
}

fn allowed_in_state(kind: TokenKind) -> bool {
    !matches!(
        kind,
        TokenKind::Break
            | TokenKind::Continue
            | TokenKind::Exit
            | TokenKind::For
            | TokenKind::Return
            | TokenKind::Switch
    )
}

fn starts_lvalue(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Dot | TokenKind::LParen | TokenKind::This | TokenKind::Error
    ) || is_name(kind)
}

/// The operator of an assignment. It is `None` for `=`.
fn assignment_operator(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        TokenKind::Assign => None,
        TokenKind::AddAssign => Some(BinaryOp::Add),
        TokenKind::SubAssign => Some(BinaryOp::Sub),
        TokenKind::MulAssign => Some(BinaryOp::Mul),
        TokenKind::DivAssign => Some(BinaryOp::Div),
        TokenKind::ModAssign => Some(BinaryOp::Mod),
        TokenKind::SatAddAssign => Some(BinaryOp::SatAdd),
        TokenKind::SatSubAssign => Some(BinaryOp::SatSub),
        TokenKind::ShlAssign => Some(BinaryOp::Shl),
        TokenKind::ShrAssign => Some(BinaryOp::Shr),
        TokenKind::AndAssign => Some(BinaryOp::BitAnd),
        TokenKind::OrAssign => Some(BinaryOp::BitOr),
        TokenKind::XorAssign => Some(BinaryOp::BitXor),
        _ => return None,
    })
}
