//! Calls of what v1model declares `extern`.

use super::{Compiler, calculations};
use crate::code::*;
use crate::hash::Algorithm;
use p4_ir::{
    Arg, BlockParam, Expr, ExprKind, ExternCall, ExternId, ListItem, Location, Scalar, Type,
    TypeKind,
};

/// Every function and method that this target has, as p4-ir names them.
const SUPPORTED: [&str; 27] = [
    "Checksum16.get",
    "assert",
    "assume",
    "clone",
    "clone3",
    "clone_preserving_field_list",
    "counter.count",
    "digest",
    "direct_counter.count",
    "direct_meter.read",
    "hash",
    "log_msg",
    "mark_to_drop",
    "meter.execute_meter",
    "random",
    "recirculate",
    "recirculate_preserving_field_list",
    "register.read",
    "register.write",
    "resubmit",
    "resubmit_preserving_field_list",
    "static_assert",
    "truncate",
    "update_checksum",
    "update_checksum_with_payload",
    "verify_checksum",
    "verify_checksum_with_payload",
];

impl Compiler<'_> {
    pub(super) fn extern_call(&mut self, call: &ExternCall) {
        if self.try_extern(call).is_none() && self.errors.is_empty() {
            self.error(format!(
                "the arguments of this call of `{}` are not of a kind that v1model declares",
                call.name
            ));
        }
    }

    /// `None`: an argument is not what v1model declares there.
    fn try_extern(&mut self, call: &ExternCall) -> Option<()> {
        let args = &call.args[..];
        let object = call.object.map(|ExternId(object)| object);
        match call.name.as_str() {
            "mark_to_drop" => self.mark_to_drop(args.first())?,
            "register.read" => {
                let index = self.input(args.get(1)?)?;
                let Arg::Out(place) = args.first()? else {
                    return self.no_cell();
                };
                let target = self.target(place);
                self.emit(Op::RegRead {
                    d: target.slot,
                    index,
                    register: object?,
                });
                self.store(target);
            }
            "register.write" => {
                let index = self.input(args.first()?)?;
                let a = match args.get(1)? {
                    Arg::In(value) => self.value(value),
                    _ => return self.no_cell(),
                };
                self.emit(Op::RegWrite {
                    index,
                    a,
                    register: object?,
                });
            }
            "counter.count" => {
                let index = self.input(args.first()?)?;
                self.emit(Op::Count {
                    counter: object?,
                    index,
                });
            }
            // v1model counts every hit of a table with a direct counter, called or not.
            "direct_counter.count" | "static_assert" => {}
            "meter.execute_meter" => {
                let index = self.input(args.first()?)?;
                let meter = object?;
                self.output(args.get(1)?, |d| ExternCode::MeterExecute {
                    meter,
                    index,
                    d,
                })?;
            }
            "direct_meter.read" => {
                self.output(args.first()?, |d| ExternCode::DirectMeterRead { d })?;
            }
            "random" => {
                let low = self.input_value(args.get(1)?)?;
                let high = self.input_value(args.get(2)?)?;
                self.output(args.first()?, |(d, width)| ExternCode::Random {
                    d,
                    low: low.0,
                    high: high.0,
                    width,
                })?;
            }
            "hash" => {
                let algorithm = self.algorithm(args.get(1)?, args.get(5))?;
                let base = self.input_value(args.get(2)?)?;
                let data = self.data(args.get(3)?)?;
                let max = self.input_value(args.get(4)?)?;
                self.output(args.first()?, |d| ExternCode::Hash {
                    algorithm,
                    d,
                    base,
                    max,
                    data,
                })?;
            }
            "Checksum16.get" => {
                let data = self.data(args.first()?)?;
                let place = call.result.as_ref()?;
                let target = self.target(place);
                self.extern_op(ExternCode::Get {
                    data,
                    d: target.slot,
                });
                self.store(target);
            }
            "verify_checksum" => self.checksum(args, true, false)?,
            "update_checksum" => self.checksum(args, false, false)?,
            "verify_checksum_with_payload" => self.checksum(args, true, true)?,
            "update_checksum_with_payload" => self.checksum(args, false, true)?,
            "digest" => {
                let receiver = self.input(args.first()?)?;
                let data = self.data(args.get(1)?)?;
                let ty = call.type_args.first().cloned();
                self.extern_op(ExternCode::Digest { receiver, ty, data });
            }
            "clone" | "clone3" | "clone_preserving_field_list" => {
                let session = self.input(args.get(1)?)?;
                let preserve = self.preserve(args.get(2), &call.name)?;
                self.extern_op(ExternCode::Clone { session, preserve });
            }
            "resubmit" | "resubmit_preserving_field_list" => {
                let preserve = self.preserve(args.first(), &call.name)?;
                self.extern_op(ExternCode::Resubmit { preserve });
            }
            "recirculate" | "recirculate_preserving_field_list" => {
                let preserve = self.preserve(args.first(), &call.name)?;
                self.extern_op(ExternCode::Recirculate { preserve });
            }
            "truncate" => {
                let length = self.input(args.first()?)?;
                self.extern_op(ExternCode::Truncate { length });
            }
            "assert" | "assume" => {
                let condition = self.input(args.first()?)?;
                let loc = self.loc;
                self.extern_op(ExternCode::Assert { condition, loc });
            }
            "log_msg" => self.log(args)?,
            name => self.error(format!(
                "`{name}` is not supported by this target; it has {}",
                SUPPORTED.join(", ")
            )),
        }
        Some(())
    }

    /// Refuses what a register is read into or written from, where that is no single value.
    fn no_cell(&mut self) -> Option<()> {
        self.error(
            "a cell of a register holds one value: bit<W>, int<W>, bool or an enum, \
             no struct, header, tuple or array",
        );
        None
    }

    /// Writes to the metadata that the argument names: inside an action or a function that is a copy, which the
    /// caller copies back. Without an argument, writes to the packet's own.
    fn mark_to_drop(&mut self, metadata: Option<&Arg>) -> Option<()> {
        let (egress_spec, mcast_grp, off) = match metadata {
            None => {
                let own = &self.code.metadata;
                (own.egress_spec.slot, own.mcast_grp.slot, NONE)
            }
            Some(Arg::Variable(at, ty)) => {
                let members = ty.members(self.program);
                let offset = |name: &str| Some(members.iter().find(|(_, f)| f.name == name)?.0);
                let (egress_spec, mcast_grp) = (offset("egress_spec")?, offset("mcast_grp")?);
                let (base, off) = self.locate(at);
                (base + egress_spec, base + mcast_grp, off)
            }
            Some(_) => return None,
        };
        self.emit(Op::MarkToDrop {
            egress_spec,
            mcast_grp,
            off,
        });
        Some(())
    }

    fn extern_op(&mut self, code: ExternCode) {
        self.code.externs.push(code);
        let call = self.code.externs.len() as u32 - 1;
        self.emit(Op::Extern { call });
    }

    /// A call whose result goes to an argument.
    fn output(&mut self, arg: &Arg, code: impl FnOnce((Slot, u32)) -> ExternCode) -> Option<()> {
        let Arg::Out(place) = arg else { return None };
        let target = self.target(place);
        self.extern_op(code((target.slot, place.ty.width())));
        self.store(target);
        Some(())
    }

    /// A value as one word: indices, lengths, numbers of sessions.
    fn input(&mut self, arg: &Arg) -> Option<Slot> {
        match arg {
            Arg::In(value) => Some(self.one_word(value)),
            _ => None,
        }
    }

    /// A value of any width, with that width.
    fn input_value(&mut self, arg: &Arg) -> Option<(Slot, u32)> {
        match arg {
            Arg::In(value) => Some((self.value(value), value.ty.width())),
            _ => None,
        }
    }

    /// The algorithm of a call, and the name that the program gives the call if it does.
    fn algorithm(&mut self, arg: &Arg, given: Option<&Arg>) -> Option<Algorithm> {
        let Some(name) = calculations::algorithm(self.program, arg) else {
            self.error("the hash algorithm must be a constant");
            return None;
        };
        if let Some(number) = calculations::custom(&self.code, self.loc, name, given) {
            return Some(Algorithm::Custom(number));
        }
        let algorithm = Algorithm::by_name(name);
        if algorithm.is_none() {
            let valid = Algorithm::NAMES.join(", ");
            self.error(format!(
                "the hash algorithm `{name}` is not supported; there are {valid}"
            ));
        }
        algorithm
    }

    fn checksum(&mut self, args: &[Arg], verify: bool, payload: bool) -> Option<()> {
        let condition = self.input(args.first()?)?;
        let data = self.data(args.get(1)?)?;
        let algorithm = self.algorithm(args.get(3)?, args.get(4))?;
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
        match args.get(2)? {
            Arg::In(value) if verify => {
                let sum = (self.value(value), value.ty.width());
                self.extern_op(code(sum));
            }
            Arg::Out(place) => {
                // The place keeps its value where the condition does not hold.
                let sum = self.value(&Expr::load(place.clone()));
                let target = self.target(place);
                self.copy(target.slot, sum, place.ty.words());
                self.extern_op(code((target.slot, place.ty.width())));
                self.store(target);
            }
            _ => return None,
        }
        Some(())
    }

    /// What a packet that starts over keeps: a field list's index, or (in the deprecated forms) the
    /// fields themselves.
    fn preserve(&mut self, arg: Option<&Arg>, name: &str) -> Option<Preserve> {
        let Some(arg) = arg else {
            return Some(Preserve::Nothing);
        };
        if name.ends_with("_preserving_field_list") {
            return Some(Preserve::FieldList(self.input(arg)?));
        }
        let place = |value: &Expr| match &value.kind {
            ExprKind::Load(place) => self.own_words(&place.at, place.ty.words()),
            _ => None,
        };
        let fields: Option<Vec<_>> = match arg {
            Arg::List(items) => items.iter().map(|item| place(&item.value)).collect(),
            Arg::In(value) => place(value).map(|field| vec![field]),
            Arg::Variable(at, ty) => {
                let field = self.own_words(at, ty.words(self.program));
                field.map(|field| vec![field])
            }
            _ => Some(Vec::new()),
        };
        if fields.is_none() {
            self.error(format!(
                "`{name}` keeps fields of the packet's headers and metadata, and this is a computed value or \
                 a copy, as of an action's parameter; mark the fields with `@field_list` and call \
                 `{}_preserving_field_list`",
                name.trim_end_matches('3')
            ));
        }
        fields.map(Preserve::Words)
    }

    /// The words at a location, if they belong to the packet's own headers or metadata.
    fn own_words(&self, at: &Location, words: u32) -> Option<(Slot, u32)> {
        let own = self.program.blocks.iter().flat_map(|block| &block.params);
        let within = |param: &BlockParam| {
            let end = param.base + param.ty.words(self.program);
            param.base <= at.base && at.base + words <= end
        };
        let found = at.indices.is_empty() && own.into_iter().any(within);
        found.then_some((at.base, words))
    }

    /// The values of an argument, flattened.
    fn data(&mut self, arg: &Arg) -> Option<Vec<ListValue>> {
        let mut data = Vec::new();
        match arg {
            Arg::In(value) => data.push(self.list_value(value, NONE)),
            Arg::List(items) => {
                for item in items {
                    data.push(self.list_item(item));
                }
            }
            Arg::Variable(at, ty) => {
                let base = self.fixed(at, ty.words(self.program));
                self.flatten(base, ty, NONE, &mut data);
            }
            Arg::None => {}
            _ => return None,
        }
        data.retain(|value| value.width > 0);
        Some(data)
    }

    fn list_item(&mut self, item: &ListItem) -> ListValue {
        let valid = item.valid.as_ref();
        let valid = valid.map_or(NONE, |place| self.fixed(&place.at, 1));
        self.list_value(&item.value, valid)
    }

    fn list_value(&mut self, value: &Expr, valid: Slot) -> ListValue {
        let slot = self.value(value);
        Self::scalar_value(slot, value.ty, valid)
    }

    fn scalar_value(slot: Slot, ty: Scalar, valid: Slot) -> ListValue {
        let (slot, length) = match ty {
            Scalar::Varbit(_) => (slot + 1, slot),
            _ => (slot, NONE),
        };
        ListValue {
            slot,
            width: ty.width(),
            length,
            valid,
        }
    }

    fn flatten(&mut self, base: Slot, ty: &Type, valid: Slot, data: &mut Vec<ListValue>) {
        let program = self.program;
        if let Some(scalar) = ty.scalar(program) {
            return data.push(Self::scalar_value(base, scalar, valid));
        }
        match ty {
            Type::Tuple(members) => {
                let mut at = base;
                for member in members {
                    self.flatten(at, member, valid, data);
                    at += member.words(program);
                }
            }
            Type::Stack(element, len) => self.elements(base + 1, element, *len, valid, data),
            Type::Array(element, len) => self.elements(base, element, *len, valid, data),
            Type::Named(id) => {
                let header = matches!(program[*id].kind, TypeKind::Header(_));
                let valid = if header { base } else { valid };
                for (offset, field) in ty.members(program) {
                    self.flatten(base + offset, &field.ty, valid, data);
                }
            }
            Type::Scalar(_) => {}
        }
    }

    fn elements(
        &mut self,
        first: Slot,
        element: &Type,
        len: u32,
        valid: Slot,
        data: &mut Vec<ListValue>,
    ) {
        let stride = element.words(self.program);
        for i in 0..len {
            self.flatten(first + i * stride, element, valid, data);
        }
    }

    fn log(&mut self, args: &[Arg]) -> Option<()> {
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
}

/// The values header by header, if each header's take a multiple of 16 bits. A `varbit` stands alone.
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
            bits += value.width;
            let up = bits.wrapping_neg() % 16;
            group.lanes.push((value.slot, up as u8));
            if value.width > 64 {
                return None;
            }
        }
        if !bits.is_multiple_of(16) {
            return None;
        }
        groups.push(group);
    }
    Some(groups)
}
