//! Calls of the externs that v1model declares.

use crate::V1Model;
use crate::calculations;
use p4_ir::{Arg, Expr, ExprKind, ExternCall, ExternId};
use p4_vm::{Algorithm, CallSite, Compiler, NONE, Slot};

type Lowering<'p> = Compiler<'p, V1Model>;

/// A call of an extern that only v1model has.
#[derive(Debug)]
pub enum Call {
    Clone { session: Slot, preserve: Preserve },
    Resubmit { preserve: Preserve },
    Recirculate { preserve: Preserve },
    Truncate { length: Slot },
}

/// The metadata to preserve when a packet starts over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preserve {
    Nothing,
    /// The fields with `@field_list(index)`. The slot holds the index.
    FieldList(Slot),
    /// These words.
    Words(Vec<(Slot, u32)>),
}

/// The last `clone` of a block.
#[derive(Clone, Copy, Debug)]
pub struct CloneRequest {
    pub session: u64,
    pub kept: Kept,
}

/// What a packet preserves when it starts over: the call that requested it, and the index of the field list.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub call: u32,
    pub list: u64,
}

/// Every function and method that this target supports, with its name in p4-ir.
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

/// Translates a call. Returns `None` if an argument does not match the declaration of v1model.
pub fn lower(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let args = &call.args[..];
    let arg = |at: usize| args.get(at);
    let object = call.object.map(|ExternId(object)| object);
    match call.name.as_str() {
        "mark_to_drop" => mark_to_drop(c, arg(0)),
        "register.read" => c.register_read(object?, arg(1)?, arg(0)?),
        "register.write" => c.register_write(object?, arg(0)?, arg(1)?),
        "counter.count" => c.count(object?, arg(0)?),
        // v1model counts every hit of a table with a direct counter, whether or not the action calls `count`.
        "direct_counter.count" | "static_assert" => Some(()),
        "meter.execute_meter" => c.meter(object?, arg(0)?, arg(1)?),
        "direct_meter.read" => c.direct_colour(arg(0)?),
        "random" => c.random(arg(0)?, arg(1)?, arg(2)?),
        "hash" => {
            let algorithm = algorithm(c, arg(1)?, arg(5))?;
            c.hash(algorithm, arg(0)?, arg(2)?, arg(3)?, arg(4)?)
        }
        "Checksum16.get" => c.internet_checksum(arg(0)?, call.result.as_ref()?),
        "verify_checksum" => checksum(c, args, true, false),
        "update_checksum" => checksum(c, args, false, false),
        "verify_checksum_with_payload" => checksum(c, args, true, true),
        "update_checksum_with_payload" => checksum(c, args, false, true),
        "digest" => c.digest(arg(0)?, arg(1)?, call.type_args.first().cloned()),
        "clone" | "clone3" | "clone_preserving_field_list" => {
            let session = c.input(arg(1)?)?;
            let preserve = preserve(c, arg(2), &call.name)?;
            c.own_call(Call::Clone { session, preserve });
            Some(())
        }
        "resubmit" | "resubmit_preserving_field_list" => {
            let preserve = preserve(c, arg(0), &call.name)?;
            c.own_call(Call::Resubmit { preserve });
            Some(())
        }
        "recirculate" | "recirculate_preserving_field_list" => {
            let preserve = preserve(c, arg(0), &call.name)?;
            c.own_call(Call::Recirculate { preserve });
            Some(())
        }
        "truncate" => {
            let length = c.input(arg(0)?)?;
            c.own_call(Call::Truncate { length });
            Some(())
        }
        "assert" | "assume" => c.assert(arg(0)?),
        "log_msg" => c.log(args),
        name => {
            c.error(format!(
                "`{name}` is not supported by this target; it has {}",
                SUPPORTED.join(", ")
            ));
            Some(())
        }
    }
}

/// Writes to the metadata that the argument names. Inside an action or function, this is a copy, which the caller
/// copies back. Without an argument, writes to the packet's own metadata.
fn mark_to_drop(c: &mut Lowering<'_>, metadata: Option<&Arg>) -> Option<()> {
    let ((egress_spec, mcast_grp), off) = match metadata {
        None => {
            let own = &c.layout.metadata;
            ((own.egress_spec.slot, own.mcast_grp.slot), NONE)
        }
        Some(Arg::Variable(at, ty)) => {
            let members = c.members(ty);
            let offset = |name: &str| Some(members.iter().find(|(_, f)| f.name == name)?.0);
            let (egress_spec, mcast_grp) = (offset("egress_spec")?, offset("mcast_grp")?);
            let (base, off) = c.location(at);
            ((base + egress_spec, base + mcast_grp), off)
        }
        Some(_) => return None,
    };
    let drop_port = c.layout.drop_port;
    let zero = c.number(0);
    for (slot, word) in [(egress_spec, drop_port), (mcast_grp, zero)] {
        if slot != NONE {
            c.set_word((slot, off), word);
        }
    }
    Some(())
}

/// The algorithm of a call, and its name if the program gives one.
fn algorithm(c: &mut Lowering<'_>, arg: &Arg, given: Option<&Arg>) -> Option<Algorithm> {
    let Some(name) = calculations::algorithm(c.program(), arg) else {
        c.error("the hash algorithm must be a constant");
        return None;
    };
    if let Some(number) = calculations::custom(c.calculations(), c.loc(), name, given) {
        return Some(Algorithm::Custom(number));
    }
    let algorithm = Algorithm::by_name(name);
    if algorithm.is_none() {
        let valid = p4_ir::HASH_ALGORITHMS.join(", ");
        c.error(format!(
            "the hash algorithm `{name}` is not supported; valid: {valid}"
        ));
    }
    algorithm
}

fn checksum(c: &mut Lowering<'_>, args: &[Arg], verify: bool, payload: bool) -> Option<()> {
    let [condition, data, sum, by, ..] = args else {
        return None;
    };
    let algorithm = algorithm(c, by, args.get(4))?;
    c.checksum(algorithm, [condition, data, sum], verify, payload)
}

/// The metadata that a packet preserves when it starts over: the index of a field list or, in the deprecated forms, the
/// fields themselves.
fn preserve(c: &mut Lowering<'_>, arg: Option<&Arg>, name: &str) -> Option<Preserve> {
    let Some(arg) = arg else {
        return Some(Preserve::Nothing);
    };
    if name.ends_with("_preserving_field_list") {
        return Some(Preserve::FieldList(c.input(arg)?));
    }
    let mut place = |value: &Expr| match &value.kind {
        ExprKind::Load(place) => c.own_words(&place.at),
        _ => None,
    };
    let fields: Option<Vec<_>> = match arg {
        Arg::List(items) => items.iter().map(|item| place(&item.value)).collect(),
        Arg::In(value) => place(value).map(|field| vec![field]),
        Arg::Variable(at, _) => c.own_words(at).map(|field| vec![field]),
        _ => Some(Vec::new()),
    };
    if fields.is_none() {
        c.error(format!(
                "`{name}` keeps fields of the packet's headers and metadata, and this is a computed value or \
                 a copy, as of an action's parameter; mark the fields with `@field_list` and call \
                 `{}_preserving_field_list`",
                name.trim_end_matches('3')
            ));
    }
    fields.map(Preserve::Words)
}

/// Records the request of a call.
pub fn call(requests: &mut V1Model, call: &Call, at: CallSite<'_>) {
    let words = at.words;
    let kept = |preserve: &Preserve| Kept {
        call: at.number,
        list: match preserve {
            Preserve::FieldList(index) => words[*index as usize],
            _ => 0,
        },
    };
    match call {
        Call::Clone { session, preserve } => {
            requests.clone = Some(CloneRequest {
                session: words[*session as usize],
                kept: kept(preserve),
            });
        }
        Call::Resubmit { preserve } => requests.resubmit = Some(kept(preserve)),
        Call::Recirculate { preserve } => requests.recirculate = Some(kept(preserve)),
        Call::Truncate { length } => {
            let length = words[*length as usize].min(u32::MAX as u64) as u32;
            let truncate = requests.truncate;
            requests.truncate = Some(truncate.map_or(length, |before| before.min(length)));
        }
    }
}
