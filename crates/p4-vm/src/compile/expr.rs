//! Expressions, places, conditions.

use super::{Compiler, Label};
use crate::Architecture;
use crate::code::*;
use crate::wide::{self, limbs_of, words_of_value};
use num_bigint::BigUint;
use p4_ir::{BinaryOp, Expr, ExprKind, Location, Place, Program, Scalar, Step, UnaryOp};

/// `64 − width`, for values of one word.
pub(super) fn sh(width: u32) -> u8 {
    (64 - width.clamp(1, 64)) as u8
}

fn signed(ty: Scalar) -> bool {
    matches!(ty, Scalar::Int(_))
}

/// Words that a value takes in storage. A value without bits takes one.
pub(super) fn words(ty: Scalar) -> u32 {
    words_of_value(ty).max(1)
}

/// Where a result is written first, and the place to which it is then stored.
#[derive(Clone, Copy)]
pub(super) struct TargetPlace {
    pub slot: Slot,
    base: Slot,
    off: Slot,
    words: u32,
}

impl<'p, A: Architecture> Compiler<'p, A> {
    /// Copies words that are known at compile time.
    pub(super) fn copy(&mut self, d: Slot, a: Slot, n: u32) {
        match n {
            _ if d == a => {}
            0 => {}
            1 => self.emit(Op::Mov { d, a }),
            _ => self.emit(Op::MovW { d, a, n }),
        }
    }

    /// The address of a location: its first word, and the slot of an offset or `NONE`.
    pub(super) fn locate(&mut self, at: &Location) -> (Slot, Slot) {
        let mut base = self.storage.slot(at.variable);
        let mut off = NONE;
        if at.path.is_empty() {
            return (base, off);
        }
        let program: &'p Program = self.program;
        let mut ty = &program[at.variable].ty;
        for step in &at.path {
            let part = self.storage.step(ty, step);
            base += part.offset;
            ty = part.ty;
            let (Step::Element(index), Some((stride, len))) = (step, part.elements) else {
                continue;
            };
            if let ExprKind::Const(value) = &index.kind {
                match u32::try_from(value.clone()) {
                    Ok(i) if i < len => {
                        base += i * stride;
                        continue;
                    }
                    _ => return (base, self.number(OUT_OF_RANGE)),
                }
            }
            let a = self.one_word(index);
            let first = off == NONE;
            if first {
                off = self.temp(1);
            }
            self.code.indices.push(IndexStep { stride, len });
            let index = self.code.indices.len() as u32 - 1;
            self.emit(Op::Index {
                d: off,
                a,
                index,
                first,
            });
        }
        (base, off)
    }

    /// The first word of a variable's words. They are copied to temporaries if the location is found at run time.
    pub(super) fn fixed(&mut self, at: &Location, words: u32) -> Slot {
        let (base, off) = self.locate(at);
        if off == NONE {
            return base;
        }
        let d = self.temp(words);
        self.load_x(d, base, off, words);
        d
    }

    fn load_x(&mut self, d: Slot, base: Slot, off: Slot, words: u32) {
        if let Ok(n) = u16::try_from(words) {
            return self.emit(Op::LoadX { d, base, off, n });
        }
        let copy = CopyStep {
            to: (d, NONE),
            from: (base, off),
            words,
        };
        self.code.copies.push(copy);
        let copy = self.code.copies.len() as u32 - 1;
        self.emit(Op::CopyX { copy });
    }

    /// Where to write a result; [`Self::store`] then moves it to the place. The target initially holds the place's
    /// value, because some instructions produce no result for some packets.
    pub(super) fn target(&mut self, place: &Place) -> TargetPlace {
        let (base, off) = self.locate(&place.at);
        let words = words(place.ty);
        let mut slot = base;
        if off != NONE {
            slot = self.temp(words);
            self.load_x(slot, base, off, words);
        }
        TargetPlace {
            slot,
            base,
            off,
            words,
        }
    }

    /// Moves a result to its place.
    pub(super) fn store(&mut self, target: TargetPlace) {
        let TargetPlace {
            slot,
            base,
            off,
            words,
        } = target;
        if off != NONE {
            self.emit(Op::StoreX {
                base,
                off,
                a: slot,
                n: words as u16,
            });
        }
    }

    /// The slot of a value: its own place, a constant, or a temporary.
    pub(super) fn value(&mut self, e: &Expr) -> Slot {
        self.expr(e, None)
    }

    /// Evaluates an expression into slot `d`.
    pub(super) fn value_into(&mut self, e: &Expr, d: Slot) {
        let a = self.expr(e, Some(d));
        self.copy(d, a, words_of_value(e.ty));
    }

    /// A value as one word. A value that needs more becomes the largest number.
    pub(super) fn one_word(&mut self, e: &Expr) -> Slot {
        let a = self.value(e);
        let n = words(e.ty);
        if n == 1 {
            return a;
        }
        let d = self.temp(1);
        self.emit(Op::Clamp { d, a, n });
        d
    }

    /// Evaluates an expression, into `want` if it must be computed. Returns the slot of the value. All operands are
    /// read before `want` is written.
    fn expr(&mut self, e: &Expr, want: Option<Slot>) -> Slot {
        let width = e.ty.width();
        self.check_width(e.ty);
        if width == 0 {
            return self.number(0);
        }
        let n = words(e.ty);
        match &e.kind {
            ExprKind::Const(value) => {
                let mut limbs = limbs_of(value, n);
                if !matches!(e.ty, Scalar::Varbit(_)) {
                    limbs[n as usize - 1] &= u64::MAX >> ((64 - width % 64) % 64);
                }
                self.constant(limbs)
            }
            ExprKind::Load(place) => {
                let (base, off) = self.locate(&place.at);
                if off == NONE {
                    return base;
                }
                let d = want.unwrap_or_else(|| self.temp(n));
                self.load_x(d, base, off, n);
                d
            }
            ExprKind::Unary(op, of) => self.unary(*op, of, want),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, width, want),
            ExprKind::Slice { of, hi, lo } => {
                let a = self.value(of);
                self.slice(a, *lo, hi - lo + 1, of.ty.width(), want)
            }
            ExprKind::Cast(of) => self.cast(of, width, want),
            ExprKind::Mux(cond, yes, no)
                if small_constant(yes) == Some(1) && small_constant(no) == Some(0) =>
            {
                self.expr(cond, want)
            }
            ExprKind::Mux(cond, yes, no) => {
                let c = self.value(cond);
                let a = self.value(yes);
                let d = match want {
                    Some(d) if d != a && d != c => d,
                    _ => self.temp(n),
                };
                self.value_into(no, d);
                match n {
                    1 => self.emit(Op::CMov { d, c, a }),
                    _ => self.emit(Op::CMovW {
                        d,
                        c,
                        a,
                        n: n as u16,
                    }),
                }
                d
            }
            ExprKind::PacketLength => {
                let d = want.unwrap_or_else(|| self.temp(1));
                self.emit(Op::PacketLength { d });
                d
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, of: &Expr, want: Option<Slot>) -> Slot {
        let width = of.ty.width();
        let a = self.value(of);
        let d = want.unwrap_or_else(|| self.temp(words(of.ty)));
        let (sh, w) = (sh(width), width as u16);
        self.emit(match (op, width <= 64) {
            (UnaryOp::Neg, true) => Op::Neg { d, a, sh },
            (UnaryOp::Neg, false) => Op::NegW { d, a, w },
            (UnaryOp::BitNot | UnaryOp::Not, true) => Op::Not { d, a, sh },
            (UnaryOp::BitNot | UnaryOp::Not, false) => Op::NotW { d, a, w },
        });
        d
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        width: u32,
        want: Option<Slot>,
    ) -> Slot {
        use BinaryOp::*;
        match op {
            Concat => return self.concat(left, right, want),
            Eq | Ne | Lt | Le | Gt | Ge => return self.compare(op, left, right, want),
            _ => {}
        }
        let a = self.value(left);
        let b = match op {
            Shl | Shr => self.one_word(right),
            _ => self.value(right),
        };
        let d = want.unwrap_or_else(|| self.temp(width.div_ceil(64)));
        let signed = signed(left.ty);
        let (sh, w) = (sh(width), width as u16);
        self.emit(match (op, width <= 64) {
            (Add, true) => Op::Add { d, a, b, sh },
            (Add, false) => Op::AddW { d, a, b, w },
            (Sub, true) => Op::Sub { d, a, b, sh },
            (Sub, false) => Op::SubW { d, a, b, w },
            (Mul, true) => Op::Mul { d, a, b, sh },
            (Mul, false) => Op::MulW { d, a, b, w },
            (Div, true) => Op::Div { d, a, b },
            (Div, false) => Op::DivW { d, a, b, w },
            (Mod, true) => Op::Mod { d, a, b },
            (Mod, false) => Op::ModW { d, a, b, w },
            (SatAdd, true) => Op::SatAdd {
                d,
                a,
                b,
                sh,
                signed,
            },
            (SatAdd, false) => Op::SatAddW { d, a, b, w, signed },
            (SatSub, true) => Op::SatSub {
                d,
                a,
                b,
                sh,
                signed,
            },
            (SatSub, false) => Op::SatSubW { d, a, b, w, signed },
            (BitAnd | And, true) => Op::And { d, a, b },
            (BitAnd | And, false) => Op::AndW { d, a, b, w },
            (BitOr | Or, true) => Op::Or { d, a, b },
            (BitOr | Or, false) => Op::OrW { d, a, b, w },
            (BitXor, true) => Op::Xor { d, a, b },
            (BitXor, false) => Op::XorW { d, a, b, w },
            (Shl, true) => Op::Shl { d, a, b, sh },
            (Shl, false) => Op::ShlW { d, a, b, w },
            (Shr, true) if signed => Op::Sar { d, a, b, sh },
            (Shr, true) => Op::Shr { d, a, b },
            (Shr, false) => Op::ShrW { d, a, b, w, signed },
            (Eq | Ne | Lt | Le | Gt | Ge | Concat, _) => unreachable!("handled above"),
        });
        d
    }

    fn concat(&mut self, left: &Expr, right: &Expr, want: Option<Slot>) -> Slot {
        let (above, below) = (left.ty.width(), right.ty.width());
        if below == 0 {
            return self.value(left);
        }
        if above == 0 {
            return self.value(right);
        }
        let a = self.value(left);
        let b = self.value(right);
        let width = above + below;
        if width <= 64 {
            let d = want.unwrap_or_else(|| self.temp(1));
            self.emit(Op::Concat {
                d,
                a,
                b,
                by: below as u8,
            });
            return d;
        }
        let d = self.temp(width.div_ceil(64));
        self.emit(Op::ResizeW {
            d,
            a: b,
            from: below as u16,
            to: width as u16,
            signed: false,
        });
        self.emit(Op::InsertW {
            d,
            a,
            lo: below,
            w: above as u16,
        });
        d
    }

    fn compare(&mut self, op: BinaryOp, left: &Expr, right: &Expr, want: Option<Slot>) -> Slot {
        use BinaryOp::*;
        let (op, left, right) = match op {
            Gt => (Lt, right, left),
            Ge => (Le, right, left),
            _ => (op, left, right),
        };
        let ty = left.ty;
        let mut a = self.value(left);
        let mut b = self.value(right);
        let d = want.unwrap_or_else(|| self.temp(1));
        if words(ty) == 1 {
            let sh = sh(ty.width());
            self.emit(match op {
                Eq => Op::Eq { d, a, b },
                Ne => Op::Ne { d, a, b },
                Lt if signed(ty) => Op::LtS { d, a, b, sh },
                Lt => Op::Lt { d, a, b },
                _ if signed(ty) => Op::LeS { d, a, b, sh },
                _ => Op::Le { d, a, b },
            });
            return d;
        }
        // A varbit consists of its length and its value. Two are equal if all their words are equal.
        let w = match ty {
            Scalar::Varbit(_) => words(ty) * 64,
            _ => ty.width(),
        } as u16;
        let negate = matches!(op, Ne | Le);
        if op == Le {
            std::mem::swap(&mut a, &mut b);
        }
        self.emit(match op {
            Eq | Ne => Op::EqW { d, a, b, w },
            _ => Op::LtW {
                d,
                a,
                b,
                w,
                signed: signed(ty),
            },
        });
        if negate {
            self.emit(Op::Not { d, a: d, sh: 63 });
        }
        d
    }

    /// Bits from `lo` up, `width` of them, of the value at `a`, which has `of` bits.
    pub(super) fn slice(
        &mut self,
        a: Slot,
        lo: u32,
        width: u32,
        of: u32,
        want: Option<Slot>,
    ) -> Slot {
        if lo == 0 && width == of {
            return a;
        }
        let (word, bit) = (a + lo / 64, lo % 64);
        if width == 64 && bit == 0 {
            return word;
        }
        let d = want.unwrap_or_else(|| self.temp(width.div_ceil(64)));
        let sh = sh(width);
        self.emit(if width > 64 {
            Op::SliceW {
                d,
                a,
                lo,
                w: width as u16,
            }
        } else if bit + width <= 64 {
            Op::Slice {
                d,
                a: word,
                lo: bit as u8,
                sh,
            }
        } else {
            Op::Slice2 {
                d,
                a: word,
                lo: bit as u8,
                sh,
            }
        });
        d
    }

    fn cast(&mut self, of: &Expr, to: u32, want: Option<Slot>) -> Slot {
        let from = of.ty.width();
        if from == 0 {
            return self.constant(vec![0; wide::limbs(to)]);
        }
        let signed = signed(of.ty);
        if from < to && to <= 64 && !signed {
            return self.expr(of, want);
        }
        let a = self.value(of);
        if to <= from && (to <= 64 || to == from) {
            return self.slice(a, 0, to, from, want);
        }
        let d = want.unwrap_or_else(|| self.temp(to.div_ceil(64)));
        self.emit(if to <= 64 {
            Op::Sext {
                d,
                a,
                from: sh(from),
                sh: sh(to),
            }
        } else {
            Op::ResizeW {
                d,
                a,
                from: from as u16,
                to: to as u16,
                signed,
            }
        });
        d
    }

    /// Jumps to `to` if the condition evaluates to `when`.
    pub(super) fn branch(&mut self, cond: &Expr, to: Label, when: bool) {
        use BinaryOp::*;
        if let ExprKind::Binary(op @ (Eq | Ne), of, value) = &cond.kind
            && of.ty == Scalar::Bool
            && let Some(value) = small_constant(value)
        {
            return self.branch(of, to, (value != 0) == ((*op == Eq) == when));
        }
        match &cond.kind {
            ExprKind::Const(value) => {
                if (*value != BigUint::ZERO) == when {
                    self.emit(Op::Jmp { to });
                }
            }
            ExprKind::Unary(UnaryOp::Not, of) => self.branch(of, to, !when),
            // Short-circuit evaluation: `a && b` is false, or `a || b` is true, as soon as one operand decides it.
            ExprKind::Binary(op @ (And | Or), a, b) if (*op == Or) == when => {
                self.branch(a, to, when);
                self.branch(b, to, when);
            }
            ExprKind::Binary(And | Or, a, b) => {
                let past = self.label();
                self.branch(a, past, !when);
                self.branch(b, to, when);
                self.place(past);
            }
            ExprKind::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), left, right)
                if words(left.ty) == 1
                    && left.ty.width() > 0
                    && (!signed(left.ty) || matches!(op, Eq | Ne)) =>
            {
                let a = self.value(left);
                let b = self.value(right);
                self.emit(match (op, when) {
                    (Eq, true) | (Ne, false) => Op::JmpEq { a, b, to },
                    (Eq, false) | (Ne, true) => Op::JmpNe { a, b, to },
                    (Lt, true) | (Ge, false) => Op::JmpLt { a, b, to },
                    (Lt, false) | (Ge, true) => Op::JmpLe { a: b, b: a, to },
                    (Gt, true) | (Le, false) => Op::JmpLt { a: b, b: a, to },
                    _ => Op::JmpLe { a, b, to },
                });
            }
            _ => {
                let a = self.value(cond);
                self.emit(match when {
                    true => Op::JmpNz { a, to },
                    false => Op::JmpZ { a, to },
                });
            }
        }
    }
}

/// The value of a constant that fits into one word.
pub(super) fn small_constant(e: &Expr) -> Option<u64> {
    match &e.kind {
        ExprKind::Const(value) if words(e.ty) == 1 => u64::try_from(value).ok(),
        _ => None,
    }
}
