//! Expressions, by precedence climbing.

use super::{Parse, Parser, is_name};
use crate::ast::{
    Argument, BinaryOp, Expr, ExprKind, FieldValue, ListExpr, Operation, StructExpr, TypeKind,
    UnaryOp,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, TokenKind};
use crate::span::Span;

impl Parser {
    /// expression: { binary "?" expression ":" } binary
    pub fn expression(&mut self) -> Parse<Expr> {
        self.enter()?;
        let mut last = self.binary(0)?;
        let mut arms = Vec::new();
        while self.take(TokenKind::Question) {
            let then = self.expression()?;
            self.expect(TokenKind::Colon)?;
            arms.push((last, then));
            last = self.binary(0)?;
        }
        self.depth -= 1;
        let Some((first, _)) = arms.first() else {
            return Ok(last);
        };
        let span = first.span.to(last.span);
        let otherwise = Box::new(last);
        Ok(self.make(span, ExprKind::Conditional { arms, otherwise }))
    }

    /// unary { operator unary }, with operators that have a higher precedence than `least`
    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let first = self.unary()?;
        let mut rest = Vec::new();
        while let Some((op, strength, tokens)) = self.operator() {
            if strength <= least {
                break;
            }
            self.at += tokens;
            let right = self.nested(|parser| parser.binary(strength))?;
            rest.push(Operation { op, right });
        }
        let Some(last) = rest.last() else {
            return Ok(first);
        };
        let span = first.span.to(last.right.span);
        let first = Box::new(first);
        Ok(self.make(span, ExprKind::Binary { first, rest }))
    }

    /// The next binary operator, its precedence, and its number of tokens.
    fn operator(&self) -> Option<(BinaryOp, u8, usize)> {
        let (op, strength) = match self.kind() {
            TokenKind::RAngle | TokenKind::Ge if self.in_angles => return None,
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

    /// Whether two adjacent `>` come next.
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
        self.prefixed(op)
    }

    fn prefixed(&mut self, op: UnaryOp) -> Parse<Expr> {
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
        while self.is_at_suffix(&expr) {
            self.enter()?;
            let kind = self.suffix(start, expr)?;
            let span = self.since(start);
            expr = self.make(span, kind);
        }
        self.depth = depth;
        Ok(expr)
    }

    fn is_at_suffix(&self, expr: &Expr) -> bool {
        match self.kind() {
            TokenKind::Dot | TokenKind::LBracket | TokenKind::LParen => true,
            TokenKind::LAngle => is_callable(expr) && self.is_at_type_args(),
            _ => false,
        }
    }

    fn suffix(&mut self, start: Span, expr: Expr) -> Parse<ExprKind> {
        match self.kind() {
            TokenKind::Dot => {
                self.bump();
                Ok(ExprKind::Member {
                    base: Box::new(expr),
                    name: self.name("a member's name")?,
                })
            }
            TokenKind::LBracket => self.bracketed(|parser| parser.index(expr)),
            TokenKind::LAngle => self.specialized(start, expr),
            _ => Ok(ExprKind::Call {
                callee: Box::new(expr),
                type_args: Vec::new(),
                args: self.arguments()?,
            }),
        }
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

    /// "<" types ">" and the call, or nothing else for a type before a dot
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
        if self.is_at(TokenKind::LParen) {
            return self.parenthesized();
        }
        let start = self.span();
        let kind = self.primary_kind()?;
        let span = self.since(start);
        Ok(self.make(span, kind))
    }

    /// "(" expression ")"
    fn parenthesized(&mut self) -> Parse<Expr> {
        let start = self.expect(TokenKind::LParen)?;
        let mut inner = self.bracketed(Parser::expression)?;
        self.expect(TokenKind::RParen)?;
        inner.span = self.since(start);
        Ok(inner)
    }

    fn primary_kind(&mut self) -> Parse<ExprKind> {
        match self.kind() {
            TokenKind::Number => self.integer(),
            TokenKind::String => {
                let text = self.bump().text;
                Ok(ExprKind::String(lexer::string(&text).into()))
            }
            TokenKind::True => self.keyword(ExprKind::Bool(true)),
            TokenKind::False => self.keyword(ExprKind::Bool(false)),
            TokenKind::This => self.keyword(ExprKind::This),
            TokenKind::InvalidHeader => self.keyword(ExprKind::Invalid),
            TokenKind::Dots => self.keyword(ExprKind::Defaults),
            TokenKind::LBrace => self.bracketed(|parser| parser.nested(Parser::braces)),
            TokenKind::Error => Ok(ExprKind::Type(self.type_ref()?)),
            TokenKind::Underscore => {
                let diagnostic = Diagnostic::error("syntax", "`_` is not a value")
                    .label(self.span(), "expected an expression")
                    .note("`_` stands for an argument, a type argument or a keyset as a whole");
                Err(self.report(diagnostic))
            }
            kind if is_name(kind) || kind == TokenKind::Dot => {
                Ok(ExprKind::Name(self.path("a name")?))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn keyword(&mut self, kind: ExprKind) -> Parse<ExprKind> {
        self.bump();
        Ok(kind)
    }

    fn integer(&mut self) -> Parse<ExprKind> {
        match lexer::number(self.text()) {
            Ok(literal) => {
                self.bump();
                Ok(ExprKind::Int(literal))
            }
            Err(message) => {
                let diagnostic = Diagnostic::error("bad-number", message)
                    .label(self.span(), "not a valid number")
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
        let args =
            self.bracketed(|parser| parser.separated(TokenKind::RParen, Parser::argument))?;
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
