//! Building blocks for externs that architectures share, each with the arguments of a call. They return `None` if an
//! argument is not of the required kind.

use super::Compiler;
use super::expr::words;
use crate::Architecture;
use crate::code::*;
use crate::hash::Algorithm;
use p4_ir::{Arg, Expr, ExternCall, Location, Place, Scalar, StmtKind, Type};

impl<A: Architecture> Compiler<'_, A> {
    /// Translates a call by means of the architecture.
    pub(super) fn extern_call(&mut self, call: &ExternCall) {
        if A::lower(self, call).is_none() && self.errors.is_empty() {
            self.error(format!(
                "the arguments of this call of `{}` are not of a kind that {} declares",
                call.name,
                A::NAME
            ));
        }
    }

    /// Reads the values of `to` from the packet, then advances by `bits` from where they begin.
    pub fn unpack(&mut self, to: Vec<Place>, bits: u32) {
        let bits = Expr::constant(bits, Scalar::Bit(32));
        for step in [StmtKind::Lookahead(to), StmtKind::Advance(bits)] {
            self.parser_stmt(&step);
        }
    }

    /// The values that a variable of this type consists of, as places.
    pub fn places(&self, at: &Location, ty: &Type) -> Vec<Place> {
        if let Some(ty) = ty.scalar(self.program()) {
            return vec![Place { at: at.clone(), ty }];
        }
        let members = (0..).zip(ty.fields(self.program));
        members
            .flat_map(|(i, field)| self.places(&at.member(i), &field.ty))
            .collect()
    }

    /// Calls an extern that only the architecture has.
    pub fn own_call(&mut self, call: A::Call) {
        self.own.push(call);
        self.extern_op(ExternCode::Own(self.own.len() as u32 - 1));
    }

    /// Copies a word to a place in storage. Does nothing if the place is out of range.
    pub fn set_word(&mut self, (base, off): (Slot, Slot), word: Slot) {
        match off {
            NONE => self.copy(base, word, 1),
            _ => self.emit(Op::StoreX {
                base,
                off,
                a: word,
                n: 1,
            }),
        }
    }

    /// Executes `body` only if a word is not 0.
    pub fn if_set(&mut self, word: Slot, body: impl FnOnce(&mut Self)) {
        let end = self.label();
        self.emit(Op::JmpZ { a: word, to: end });
        body(self);
        self.place(end);
    }

    /// Sets words with a fixed slot to 0.
    pub fn clear_words(&mut self, at: Slot, words: u32) {
        self.emit(Op::ZeroW { d: at, n: words });
    }

    /// Copies words with fixed slots.
    pub fn copy_slots(&mut self, to: Slot, from: Slot, words: u32) {
        self.copy(to, from, words);
    }

    /// Copies words with a fixed slot to a location.
    pub fn copy_to(&mut self, to: &Location, from: Slot, words: u32) {
        let (base, off) = self.locate(to);
        match off {
            NONE => self.copy(base, from, words),
            _ => self.emit(Op::StoreX {
                base,
                off,
                a: from,
                n: words as u16,
            }),
        }
    }

    /// Reads a cell of a register.
    pub fn register_read(&mut self, register: u32, index: &Arg, to: &Arg) -> Option<()> {
        let index = self.input(index)?;
        let Arg::Out(place) = to else {
            return self.no_cell();
        };
        let target = self.target(place);
        self.emit(Op::RegRead {
            d: target.slot,
            index,
            register,
            n: words(place.ty) as u16,
        });
        self.store(target);
        Some(())
    }

    /// Writes a cell of a register.
    pub fn register_write(&mut self, register: u32, index: &Arg, value: &Arg) -> Option<()> {
        let index = self.input(index)?;
        let Arg::In(value) = value else {
            return self.no_cell();
        };
        let a = self.value(value);
        self.emit(Op::RegWrite {
            index,
            a,
            register,
            n: words(value.ty) as u16,
        });
        Some(())
    }

    /// Reports an error if the destination or source of a register access is not a single value.
    fn no_cell(&mut self) -> Option<()> {
        self.error(
            "a cell of a register holds one value: bit<W>, int<W>, bool or an enum, \
             no struct, header, tuple or array",
        );
        None
    }

    /// Counts the packet in a cell of a counter.
    pub fn count(&mut self, counter: u32, index: &Arg) -> Option<()> {
        let index = self.input(index)?;
        self.emit(Op::Count { counter, index });
        Some(())
    }

    /// Measures the packet in a cell of a meter, and stores the colour in `to`.
    pub fn meter(&mut self, meter: u32, index: &Arg, to: &Arg) -> Option<()> {
        let index = self.input(index)?;
        self.output(to, |d| ExternCode::MeterExecute { meter, index, d })
    }

    /// Stores the colour that the direct meter of the last entry hit returned.
    pub fn direct_colour(&mut self, to: &Arg) -> Option<()> {
        self.output(to, |d| ExternCode::DirectMeterRead { d })
    }

    /// Draws a random number from `low` to `high`, both included.
    pub fn random(&mut self, to: &Arg, low: &Arg, high: &Arg) -> Option<()> {
        let low = self.input_value(low)?;
        let high = self.input_value(high)?;
        self.output(to, |(d, width)| ExternCode::Random {
            d,
            low: low.0,
            high: high.0,
            width,
        })
    }

    /// Stores `base` plus the hash of `data` modulo `max`.
    pub fn hash(
        &mut self,
        algorithm: Algorithm,
        to: &Arg,
        base: &Arg,
        data: &Arg,
        max: &Arg,
    ) -> Option<()> {
        let base = self.input_value(base)?;
        let data = self.data(data)?;
        let max = self.input_value(max)?;
        self.output(to, |d| ExternCode::Hash {
            algorithm,
            d,
            base,
            max,
            data,
        })
    }

    /// Stores the Internet checksum of `data`. Only fields of valid headers are included.
    pub fn internet_checksum(&mut self, data: &Arg, to: &Place) -> Option<()> {
        let data = self.data(data)?;
        let target = self.target(to);
        self.extern_op(ExternCode::Get {
            data,
            d: target.slot,
        });
        self.store(target);
        Some(())
    }

    /// Updates or verifies the checksum `sum` of `data`, if the condition holds. With `payload`, the unparsed part of
    /// the packet is included.
    pub fn checksum(
        &mut self,
        algorithm: Algorithm,
        [condition, data, sum]: [&Arg; 3],
        verify: bool,
        payload: bool,
    ) -> Option<()> {
        let condition = self.input(condition)?;
        let data = self.data(data)?;
        let groups = match algorithm {
            Algorithm::Csum16 if !payload => sum_groups(&data),
            _ => None,
        };
        let code = |sum| ExternCode::Checksum {
            algorithm,
            verify,
            condition,
            data,
            groups,
            sum,
            payload,
        };
        match sum {
            Arg::In(value) if verify => {
                let sum = (self.value(value), value.ty.width());
                self.extern_op(code(sum));
            }
            Arg::Out(place) => {
                let target = self.target(place);
                self.extern_op(code((target.slot, place.ty.width())));
                self.store(target);
            }
            _ => return None,
        }
        Some(())
    }

    /// Sends a digest to a control plane.
    pub fn digest(&mut self, receiver: &Arg, data: &Arg, ty: Option<Type>) -> Option<()> {
        let receiver = self.input(receiver)?;
        let data = self.data(data)?;
        self.extern_op(ExternCode::Digest { receiver, ty, data });
        Some(())
    }

    /// Drops the packet, and reports it, unless the condition holds.
    pub fn assert(&mut self, condition: &Arg) -> Option<()> {
        let condition = self.input(condition)?;
        let loc = self.loc;
        self.extern_op(ExternCode::Assert { condition, loc });
        Some(())
    }

    /// Logs a message in which each `{}` stands for a value.
    pub fn log(&mut self, args: &[Arg]) -> Option<()> {
        let Arg::String(text) = args.first()? else {
            return None;
        };
        let mut values = Vec::new();
        if let Some(Arg::List(items)) = args.get(1) {
            for item in items {
                let slot = self.value(&item.value);
                values.push((slot, item.value.ty));
            }
        } else if let Some(Arg::In(value)) = args.get(1) {
            values.push((self.value(value), value.ty));
        }
        let mut parts = Vec::new();
        let mut values = values.into_iter();
        for (i, piece) in text.split("{}").enumerate() {
            if i > 0 {
                parts.push(match values.next() {
                    Some((slot, ty)) => LogPart::Value {
                        slot,
                        width: ty.width(),
                        signed: matches!(ty, Scalar::Int(_)),
                    },
                    None => LogPart::Text("{}".into()),
                });
            }
            parts.push(LogPart::Text(piece.into()));
        }
        let loc = self.loc;
        self.extern_op(ExternCode::Log { parts, loc });
        Some(())
    }

    fn extern_op(&mut self, code: ExternCode) {
        self.code.externs.push(code);
        let call = self.code.externs.len() as u32 - 1;
        self.emit(Op::Extern { call });
    }

    /// A call that stores its result in an argument.
    fn output(&mut self, arg: &Arg, code: impl FnOnce((Slot, u32)) -> ExternCode) -> Option<()> {
        let Arg::Out(place) = arg else { return None };
        let target = self.target(place);
        self.extern_op(code((target.slot, place.ty.width())));
        self.store(target);
        Some(())
    }
}

/// Groups the values by header, if the values of each header have a multiple of 16 bits. A `varbit` has its own group.
fn sum_groups(data: &[ListValue]) -> Option<Vec<SumGroup>> {
    let one_group =
        |a: &ListValue, b: &ListValue| (a.valid, a.length, b.length) == (b.valid, NONE, NONE);
    let mut groups = Vec::new();
    for values in data.chunk_by(one_group) {
        let mut group = SumGroup {
            valid: values[0].valid,
            lanes: Vec::new(),
            varbit: None,
        };
        if let [value] = values
            && value.length != NONE
        {
            group.varbit = Some((value.length, value.slot));
            groups.push(group);
            continue;
        }
        let mut bits = 0u32;
        for value in values {
            if value.width > 64 {
                return None;
            }
            bits += value.width;
            group.lanes.push(SumLane {
                slot: value.slot,
                width: value.width as u8,
                up: (bits.wrapping_neg() % 16) as u8,
            });
        }
        if !bits.is_multiple_of(16) {
            return None;
        }
        groups.push(group);
    }
    Some(groups)
}
