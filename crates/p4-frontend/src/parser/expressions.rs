//! Expressions, by precedence climbing.

use super::{Parse, Parser, is_name};
use crate::ast::{
    Argument, BinaryOp, Expr, ExprKind, FieldValue, ListExpr, StructExpr, TypeKind, UnaryOp,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, TokenKind};
use crate::span::Span;

impl Parser {
    /// expression: binary [ "?" expression ":" expression ]
    pub fn expression(&mut self) -> Parse<Expr> {
        self.nested(|parser| {
            let condition = parser.binary(0)?;
            if !parser.take(TokenKind::Question) {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(TokenKind::Colon)?;
            let otherwise = parser.expression()?;
            let span = condition.span.to(otherwise.span);
            Ok(parser.make(
                span,
                ExprKind::Conditional {
                    condition: Box::new(condition),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                },
            ))
        })
    }

    /// Operators that bind tighter than `least`. A long chain nests to the left, and counts as nesting.
    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let depth = self.depth;
        let mut left = self.unary()?;
        while let Some((op, strength, tokens)) = self.operator() {
            if strength <= least {
                break;
            }
            if self.depth >= super::MAX_DEPTH {
                return Err(self.too_deep());
            }
            self.depth += 1;
            for _ in 0..tokens {
                self.bump();
            }
            let right = self.binary(strength)?;
            let span = left.span.to(right.span);
            left = self.make(
                span,
                ExprKind::Binary {
                    op,
                    left: Box::new(left),
                    right: Box::new(right),
                },
            );
        }
        self.depth = depth;
        Ok(left)
    }

    /// The binary operator that comes next, how strongly it binds, and how many tokens it has.
    fn operator(&self) -> Option<(BinaryOp, u8, usize)> {
        let (op, strength) = match self.kind() {
            TokenKind::OrOr => (BinaryOp::Or, 1),
            TokenKind::AndAnd => (BinaryOp::And, 2),
            TokenKind::EqEq => (BinaryOp::Eq, 3),
            TokenKind::Ne => (BinaryOp::Ne, 3),
            TokenKind::RAngle if self.is_at_shift() => return Some((BinaryOp::Shr, 8, 2)),
            TokenKind::LAngle => (BinaryOp::Lt, 4),
            TokenKind::RAngle => (BinaryOp::Gt, 4),
            TokenKind::Le => (BinaryOp::Le, 4),
            TokenKind::Ge => (BinaryOp::Ge, 4),
            TokenKind::Pipe => (BinaryOp::BitOr, 5),
            TokenKind::Caret => (BinaryOp::BitXor, 6),
            TokenKind::Amp => (BinaryOp::BitAnd, 7),
            TokenKind::Shl => (BinaryOp::Shl, 8),
            TokenKind::Concat => (BinaryOp::Concat, 9),
            TokenKind::Plus => (BinaryOp::Add, 9),
            TokenKind::Minus => (BinaryOp::Sub, 9),
            TokenKind::SatAdd => (BinaryOp::SatAdd, 9),
            TokenKind::SatSub => (BinaryOp::SatSub, 9),
            TokenKind::Star => (BinaryOp::Mul, 10),
            TokenKind::Slash => (BinaryOp::Div, 10),
            TokenKind::Percent => (BinaryOp::Mod, 10),
            _ => return None,
        };
        Some((op, strength, 1))
    }

    /// Two `>` side by side.
    fn is_at_shift(&self) -> bool {
        self.nth(1) == TokenKind::RAngle && self.tokens[self.at + 1].joint
    }

    /// prefix operators and casts
    fn unary(&mut self) -> Parse<Expr> {
        let op = match self.kind() {
            TokenKind::Not => UnaryOp::Not,
            TokenKind::Tilde => UnaryOp::Complement,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::LParen if self.is_at_cast() => return self.cast(),
            _ => return self.postfix(),
        };
        let start = self.bump().span;
        let operand = Box::new(self.nested(Parser::unary)?);
        let span = start.to(operand.span);
        Ok(self.make(span, ExprKind::Unary { op, operand }))
    }

    /// "(" typeRef ")" expression
    fn cast(&mut self) -> Parse<Expr> {
        let start = self.expect(TokenKind::LParen)?;
        let ty = self.type_ref()?;
        self.expect(TokenKind::RParen)?;
        let operand = Box::new(self.nested(Parser::unary)?);
        let span = start.to(operand.span);
        Ok(self.make(span, ExprKind::Cast { ty, operand }))
    }

    /// primary { "." name | "[" ... "]" | [ "<" types ">" ] "(" arguments ")" }
    pub fn postfix(&mut self) -> Parse<Expr> {
        let depth = self.depth;
        let start = self.span();
        let mut expr = self.primary()?;
        loop {
            if self.depth >= super::MAX_DEPTH {
                return Err(self.too_deep());
            }
            self.depth += 1;
            let kind = match self.kind() {
                TokenKind::Dot => {
                    self.bump();
                    let name = self.name("a member's name")?;
                    ExprKind::Member {
                        base: Box::new(expr),
                        name,
                    }
                }
                TokenKind::LBracket => self.index(expr)?,
                TokenKind::LAngle if is_callable(&expr) && self.is_at_type_args() => {
                    self.specialized(start, expr)?
                }
                TokenKind::LParen => ExprKind::Call {
                    callee: Box::new(expr),
                    type_args: Vec::new(),
                    args: self.arguments()?,
                },
                _ => break,
            };
            let span = self.since(start);
            expr = self.make(span, kind);
        }
        self.depth = depth;
        Ok(expr)
    }

    /// "[" expression [ ":" expression | "+:" expression ] "]"
    fn index(&mut self, base: Expr) -> Parse<ExprKind> {
        let base = Box::new(base);
        self.expect(TokenKind::LBracket)?;
        let index = Box::new(self.expression()?);
        let kind = match self.kind() {
            TokenKind::Colon => {
                self.bump();
                ExprKind::Slice {
                    base,
                    high: index,
                    low: Box::new(self.expression()?),
                }
            }
            TokenKind::PlusColon => {
                self.bump();
                ExprKind::WidthSlice {
                    base,
                    low: index,
                    width: Box::new(self.expression()?),
                }
            }
            _ => ExprKind::Index { base, index },
        };
        self.expect(TokenKind::RBracket)?;
        Ok(kind)
    }

    /// "<" types ">" and the call, or, of a type before a dot, nothing more
    fn specialized(&mut self, start: Span, base: Expr) -> Parse<ExprKind> {
        let type_args = self.type_args()?;
        if self.is_at(TokenKind::LParen) {
            return Ok(ExprKind::Call {
                callee: Box::new(base),
                type_args,
                args: self.arguments()?,
            });
        }
        match base.kind {
            ExprKind::Name(path) => {
                let kind = TypeKind::Named {
                    path,
                    args: type_args,
                };
                Ok(ExprKind::Type(self.make_type(start, kind)))
            }
            _ => Err(self.unexpected("`(`")),
        }
    }

    /// literals, names, parentheses, braces
    pub fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Number => self.integer()?,
            TokenKind::String => ExprKind::String(lexer::string(&self.bump().text).into()),
            TokenKind::True => self.simple_expr(ExprKind::Bool(true)),
            TokenKind::False => self.simple_expr(ExprKind::Bool(false)),
            TokenKind::This => self.simple_expr(ExprKind::This),
            TokenKind::InvalidHeader => self.simple_expr(ExprKind::Invalid),
            TokenKind::Dots => self.simple_expr(ExprKind::Defaults),
            TokenKind::LParen => {
                self.bump();
                let mut inner = self.expression()?;
                self.expect(TokenKind::RParen)?;
                inner.span = self.since(start);
                return Ok(inner);
            }
            TokenKind::LBrace => self.nested(Parser::braces)?,
            TokenKind::Error => {
                let ty = self.type_ref()?;
                ExprKind::Type(ty)
            }
            kind if is_name(kind) || kind == TokenKind::Dot => ExprKind::Name(self.path("a name")?),
            TokenKind::Underscore => {
                let diagnostic = Diagnostic::error("syntax", "`_` is no value")
                    .label(self.span(), "expected an expression")
                    .note("`_` stands for an argument, a type argument or a keyset as a whole");
                return Err(self.report(diagnostic));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        let span = self.since(start);
        Ok(self.make(span, kind))
    }

    fn simple_expr(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    fn integer(&mut self) -> Parse<ExprKind> {
        match lexer::number(self.text()) {
            Ok(literal) => {
                self.bump();
                Ok(ExprKind::Int(literal))
            }
            Err(message) => {
                let diagnostic = Diagnostic::error("bad-number", message)
                    .label(self.span(), "not a number")
                    .help("numbers are like 10, 0xff, 0b1010, 0o17; with a width 8w0xff or 8s10");
                self.report(diagnostic);
                self.bump();
                Ok(ExprKind::Error)
            }
        }
    }

    /// "{" expressions "}", "{" name "=" expression ... "}"
    fn braces(&mut self) -> Parse<ExprKind> {
        self.expect(TokenKind::LBrace)?;
        let mut rest = None;
        let named = is_name(self.kind()) && self.nth(1) == TokenKind::Assign;
        let mut fields = Vec::new();
        let mut elements = Vec::new();
        while !self.is_at(TokenKind::RBrace) {
            let ends = match self.nth(1) {
                TokenKind::Comma => self.nth(2) == TokenKind::RBrace,
                kind => kind == TokenKind::RBrace,
            };
            if self.is_at(TokenKind::Dots) && ends {
                rest = Some(self.bump().span);
            } else if named {
                fields.push(self.field_value()?);
            } else {
                elements.push(self.expression()?);
            }
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if !self.is_at(TokenKind::RBrace) {
            return Err(self.unexpected("`,` or `}`"));
        }
        self.bump();
        Ok(if named {
            ExprKind::Struct(StructExpr { fields, rest })
        } else {
            ExprKind::List(ListExpr { elements, rest })
        })
    }

    /// name "=" expression
    pub fn field_value(&mut self) -> Parse<FieldValue> {
        let name = self.name("a field's name")?;
        self.expect(TokenKind::Assign)?;
        let value = self.expression()?;
        Ok(FieldValue { name, value })
    }

    /// "(" argumentList ")"
    pub fn arguments(&mut self) -> Parse<Vec<Argument>> {
        self.expect(TokenKind::LParen)?;
        let args = self.separated(TokenKind::RParen, Parser::argument)?;
        self.expect(TokenKind::RParen)?;
        Ok(args)
    }

    /// [ name "=" ] ( expression | "_" )
    fn argument(&mut self) -> Parse<Argument> {
        let start = self.span();
        let named = is_name(self.kind()) && self.nth(1) == TokenKind::Assign;
        let name = if named {
            let name = self.name("a parameter's name")?;
            self.expect(TokenKind::Assign)?;
            Some(name)
        } else {
            None
        };
        let value = if self.is_at(TokenKind::Underscore) {
            let span = self.bump().span;
            self.make(span, ExprKind::DontCare)
        } else {
            self.expression()?
        };
        Ok(Argument {
            span: self.since(start),
            name,
            value,
        })
    }
}

/// Whether type arguments may follow.
fn is_callable(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Member { .. })
}
