//! Calls of the externs that PSA declares.

use crate::{Psa, objects, ports};
use internet_checksum::Sum;
use p4_ir::{
    Arg, BinaryOp, CtorArg, Expr, ExprKind, ExternCall, ExternId, ListItem, Place, Scalar, UnaryOp,
};
use p4_vm::{Compiler, Slot, enum_member};

type Lowering<'p> = Compiler<'p, Psa>;

/// A call that only PSA has. Sums are those of RFC 1624: ones' complement sums of 16-bit words.
#[derive(Debug)]
pub enum Call {
    /// Adds the sum of the data whose checksum is in `of` to a sum, or subtracts it.
    Sum { sum: Slot, of: Slot, add: bool },
    /// The complement of a sum.
    Complement { sum: Slot, to: Slot },
    /// Copies a sum from or to the word in which it is stored.
    Copy { from: Slot, to: Slot },
    /// Converts a colour from a meter to PSA's number, in place.
    Colour { at: Slot },
}

/// Executes a call.
pub fn call(call: &Call, words: &mut [u64]) {
    match *call {
        Call::Sum { sum, of, add } => {
            // The engine computes a checksum, which is the complement of the sum.
            let checksum = Sum::from(words[of as usize]);
            let sum = &mut words[sum as usize];
            let total = match add {
                true => Sum::from(*sum) - checksum,
                false => Sum::from(*sum) + checksum,
            };
            *sum = total.value().into();
        }
        Call::Complement { sum, to } => {
            words[to as usize] = Sum::from(words[sum as usize]).checksum().into();
        }
        Call::Copy { from, to } => words[to as usize] = words[from as usize],
        // The engine numbers green, yellow, red; PSA declares RED, GREEN, YELLOW.
        Call::Colour { at } => words[at as usize] = (words[at as usize] + 1) % 3,
    }
}

/// Every supported function and method, with its name in p4-ir.
const SUPPORTED: [&str; 26] = [
    "Checksum.clear",
    "Checksum.get",
    "Checksum.update",
    "Counter.count(index)",
    "Digest.pack",
    "DirectCounter.count()",
    "DirectMeter.execute",
    "Hash.get_hash",
    "InternetChecksum.add",
    "InternetChecksum.clear",
    "InternetChecksum.get",
    "InternetChecksum.get_state",
    "InternetChecksum.set_state",
    "InternetChecksum.subtract",
    "Meter.execute",
    "Random.read",
    "Register.read",
    "Register.write",
    "assert",
    "assume",
    "psa_clone_e2e",
    "psa_clone_i2e",
    "psa_normal",
    "psa_recirculate",
    "psa_resubmit",
    "static_assert",
];

/// Translates a call. Returns `None` if an argument does not match PSA's declaration.
pub fn lower(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let args = &call.args[..];
    let object = call.object.map(|ExternId(object)| object);
    match (call.name.as_str(), args) {
        ("Register.read", [index]) => match result(call) {
            Some(to) => c.register_read(object?, index, &to),
            None => Some(()),
        },
        ("Register.write", [index, value]) => c.register_write(object?, index, value),
        ("Counter.count", [index]) => c.count(object?, index),
        // Every hit of a table with a direct counter is counted, even if the action does not call `count`, as in BMv2.
        ("DirectCounter.count", []) | ("static_assert", _) => Some(()),
        ("Meter.execute", [index]) => {
            let scratch = scratch(c);
            c.meter(object?, index, &Arg::Out(scratch))?;
            colour(c, call)
        }
        ("Meter.execute", [index, before]) => {
            green(c, before)?;
            let scratch = scratch(c);
            c.meter(object?, index, &Arg::Out(scratch))?;
            colour(c, call)
        }
        ("DirectMeter.execute", before) => {
            if let [before] = before {
                green(c, before)?;
            }
            let scratch = scratch(c);
            c.direct_colour(&Arg::Out(scratch))?;
            colour(c, call)
        }
        ("Hash.get_hash", [data]) => {
            let zero = Arg::In(Expr::constant(0u8, Scalar::Bit(1)));
            // Larger than any hash: the remainder is the hash itself.
            let beyond = Arg::In(Expr::constant(1u128 << 64, Scalar::Bit(65)));
            hash(c, call, &zero, data, &beyond)
        }
        ("Hash.get_hash", [base, data, max]) => hash(c, call, base, data, max),
        ("Random.read", []) => random(c, call),
        ("InternetChecksum.clear" | "Checksum.clear", []) => {
            let (from, to) = (c.number(0), sum(c, object)?);
            c.own_call(Call::Copy { from, to });
            Some(())
        }
        ("InternetChecksum.add" | "Checksum.update", [data]) => add(c, object, data, true),
        ("InternetChecksum.subtract", [data]) => add(c, object, data, false),
        ("InternetChecksum.get" | "Checksum.get", []) => {
            let (sum, to) = (sum(c, object)?, c.layout.scratch);
            c.own_call(Call::Complement { sum, to });
            give(c, call, to)
        }
        ("InternetChecksum.get_state", []) => {
            let (from, to) = (sum(c, object)?, c.layout.scratch);
            c.own_call(Call::Copy { from, to });
            give(c, call, to)
        }
        ("InternetChecksum.set_state", [state]) => {
            let (from, to) = (c.input(state)?, sum(c, object)?);
            c.own_call(Call::Copy { from, to });
            Some(())
        }
        ("Digest.pack", [data]) => {
            let receiver = Arg::In(Expr::constant(0u8, Scalar::Bit(32)));
            let ty = c.program()[call.object?].type_args.first().cloned();
            c.digest(&receiver, data, ty)
        }
        ("psa_clone_i2e", [istd]) => decide(c, call, field(istd, 1)?),
        ("psa_resubmit", [istd]) => {
            let resubmitted = both(not(field(istd, 3)?), field(istd, 4)?);
            decide(c, call, resubmitted)
        }
        ("psa_normal", [istd]) => {
            let normal = both(not(field(istd, 3)?), not(field(istd, 4)?));
            decide(c, call, normal)
        }
        ("psa_clone_e2e", [istd]) => decide(c, call, field(istd, 0)?),
        ("psa_recirculate", [istd, edstd]) => {
            let port = match edstd {
                Arg::In(port) => port.clone(),
                _ => field(edstd, 0)?,
            };
            let port_of_it = Expr::constant(ports::RECIRCULATE, port.ty);
            let there = binary(BinaryOp::Eq, port, port_of_it);
            let recirculated = both(not(field(istd, 2)?), there);
            decide(c, call, recirculated)
        }
        ("assert" | "assume", [check]) => c.assert(check),
        (name, _) => {
            c.error(format!(
                "`{name}` with {} arguments is not supported by PSA; it has {}",
                args.len(),
                SUPPORTED.join(", ")
            ));
            Some(())
        }
    }
}

/// The destination of a call's result, as an argument.
fn result(call: &ExternCall) -> Option<Arg> {
    call.result.clone().map(Arg::Out)
}

/// A scratch word between two steps of a call.
fn scratch(c: &mut Lowering<'_>) -> Place {
    c.place_at(c.layout.scratch, Scalar::Bit(16))
}

/// Copies a word to the destination of the call's result.
fn give(c: &mut Lowering<'_>, call: &ExternCall, word: Slot) -> Option<()> {
    if let Some(place) = &call.result {
        let to = c.location(&place.at);
        c.set_word(to, word);
    }
    Some(())
}

fn colour(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let at = c.layout.scratch;
    c.own_call(Call::Colour { at });
    give(c, call, at)
}

/// Rejects a colour other than green: with green, a colour-aware meter is colour-blind (RFC 2698).
fn green(c: &mut Lowering<'_>, before: &Arg) -> Option<()> {
    if enum_member(c.program(), "PSA_MeterColor_t", before) != Some("GREEN") {
        c.error("a meter takes no colour but the constant PSA_MeterColor_t.GREEN, or none");
    }
    Some(())
}

fn hash(c: &mut Lowering<'_>, call: &ExternCall, base: &Arg, data: &Arg, max: &Arg) -> Option<()> {
    let Some(to) = result(call) else {
        return Some(());
    };
    let program = c.program();
    let object = &program[call.object?];
    match objects::algorithm(program, object.args.first()) {
        Ok(algorithm) => c.hash(algorithm, &to, base, &in_octets(data), max),
        Err(message) => {
            c.error(message);
            Some(())
        }
    }
}

/// The data to hash, padded in front with zeros to whole octets, as in BMv2. The specification does not define this.
fn in_octets(data: &Arg) -> Arg {
    let mut items = match data {
        Arg::List(items) => items.clone(),
        Arg::In(value) => vec![item(value.clone())],
        other => return other.clone(),
    };
    let bits: u32 = items.iter().map(|item| item.value.ty.width()).sum();
    if !bits.is_multiple_of(8) {
        let front = Expr::constant(0u8, Scalar::Bit(8 - bits % 8));
        items.insert(0, item(front));
    }
    Arg::List(items)
}

fn item(value: Expr) -> ListItem {
    ListItem {
        value,
        valid: None,
        name: String::new(),
    }
}

fn random(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let Some(place) = &call.result else {
        return Some(());
    };
    let limits = &c.program()[call.object?].args;
    let limit = |at: usize| match limits.get(at) {
        Some(CtorArg::Int(value)) => {
            let value = value.to_biguint()?;
            Some(Arg::In(Expr::constant(value, place.ty)))
        }
        _ => None,
    };
    let (low, high) = (limit(0)?, limit(1)?);
    c.random(&Arg::Out(place.clone()), &low, &high)
}

/// The word of a checksum object's sum.
fn sum(c: &Lowering<'_>, object: Option<u32>) -> Option<Slot> {
    let object = object?;
    let mut sums = c.layout.sums.iter();
    sums.find(|(of, _)| *of == object).map(|(_, sum)| *sum)
}

fn add(c: &mut Lowering<'_>, object: Option<u32>, data: &Arg, add: bool) -> Option<()> {
    let (sum, of) = (sum(c, object)?, c.layout.scratch);
    let scratch = scratch(c);
    c.internet_checksum(data, &scratch)?;
    c.own_call(Call::Sum { sum, of, add });
    Some(())
}

/// The value of a field, for an argument that is a struct.
fn field(arg: &Arg, at: usize) -> Option<Expr> {
    match arg {
        Arg::List(items) => items.get(at).map(|item| item.value.clone()),
        _ => None,
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr {
        kind: ExprKind::Binary(op, left.into(), right.into()),
        ty: Scalar::Bool,
    }
}

fn both(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::And, left, right)
}

fn not(value: Expr) -> Expr {
    Expr {
        kind: ExprKind::Unary(UnaryOp::Not, value.into()),
        ty: Scalar::Bool,
    }
}

fn decide(c: &mut Lowering<'_>, call: &ExternCall, value: Expr) -> Option<()> {
    let word = c.input(&Arg::In(value))?;
    give(c, call, word)
}
