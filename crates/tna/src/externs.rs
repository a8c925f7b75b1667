//! Calls of the externs that TNA declares. Each is translated to steps, with one module per kind of
//! extern.

mod checksum;
mod counters;
mod filters;
mod hash;
mod limits;
mod math;
mod parser_counter;
mod registers;
mod values;

pub use checksum::deposit;

use crate::Tna;
use crate::blocks::Layout;
use crate::requests::{self, Asks};
use p4_ir::{Arg, BlockParam, Expr, ExprKind, ExternCall, Scalar, Type};
use p4_vm::{Access, CallSite, Compiler, Slot};

type Lowering<'p> = Compiler<'p, Tna>;

/// A call that only TNA has.
#[derive(Debug)]
pub enum Call {
    Checksum(checksum::Step),
    Counter(counters::Step),
    Filter(filters::Step),
    Hash(hash::Step),
    Limit(limits::Step),
    Math(math::Step),
    /// Requests packets of the packet generator.
    Generate(Asks),
    /// Requests a mirrored packet.
    Mirror(Asks),
    ParserCounter(parser_counter::Step),
    Register(registers::Step),
    /// Requests to resubmit the packet.
    Resubmit(Asks),
}

macro_rules! steps {
    ($($kind:ident: $step:ty;)*) => {$(
        impl From<$step> for Call {
            fn from(step: $step) -> Self {
                Call::$kind(step)
            }
        }
    )*};
}

steps! {
    Checksum: checksum::Step;
    Counter: counters::Step;
    Filter: filters::Step;
    Hash: hash::Step;
    Limit: limits::Step;
    Math: math::Step;
    ParserCounter: parser_counter::Step;
    Register: registers::Step;
}

/// Executes a call.
pub fn call(tna: &mut Tna, call: &Call, mut at: CallSite<'_>) {
    match call {
        Call::Checksum(step) => checksum::step(step, at),
        Call::Counter(step) => counters::step(step, at),
        Call::Filter(step) => filters::step(step, at),
        Call::Generate(asks) => tna.generate = Some(asks.request(&mut at)),
        Call::Hash(step) => hash::step(step, at),
        Call::Limit(step) => limits::step(step, at.words),
        Call::Math(step) => math::step(step, at.words),
        Call::Mirror(asks) => tna.mirror = Some(asks.request(&mut at)),
        Call::ParserCounter(step) => parser_counter::step(step, at),
        Call::Register(step) => registers::step(step, at),
        Call::Resubmit(asks) => tna.resubmit = Some(asks.request(&mut at)),
    }
}

/// Initialises the words of parser externs for a packet.
#[inline]
pub fn begin(layout: &Layout, words: &mut [u64]) {
    for &word in &layout.cleared {
        words[word as usize] = 0;
    }
}

/// Every supported function and method, with its name in p4-ir. `RegisterAction` also stands for
/// `RegisterAction2` to `RegisterAction4`; the same applies to the other register actions.
const SUPPORTED: [&str; 58] = [
    "Checksum.add",
    "Checksum.get",
    "Checksum.subtract",
    "Checksum.subtract_all_and_deposit",
    "Checksum.update",
    "Checksum.verify",
    "Counter.count",
    "Digest.pack",
    "DirectCounter.count",
    "DirectLpf.execute",
    "DirectMeter.execute",
    "DirectRegister.read",
    "DirectRegister.write",
    "DirectRegisterAction.execute",
    "DirectRegisterAction.predicate",
    "DirectWred.execute",
    "Hash.get",
    "Lpf.execute",
    "MathUnit.execute",
    "Meter.execute",
    "MinMaxAction.execute",
    "MinMaxAction.max16",
    "MinMaxAction.max8",
    "MinMaxAction.min16",
    "MinMaxAction.min8",
    "Mirror.emit",
    "ParserCounter.decrement",
    "ParserCounter.increment",
    "ParserCounter.is_negative",
    "ParserCounter.is_zero",
    "ParserCounter.pop",
    "ParserCounter.push",
    "ParserCounter.set",
    "ParserPriority.set",
    "Pktgen.emit",
    "Random.get",
    "Register.clear",
    "Register.read",
    "Register.write",
    "RegisterAction.dequeue",
    "RegisterAction.enqueue",
    "RegisterAction.execute",
    "RegisterAction.execute_log",
    "RegisterAction.pop",
    "RegisterAction.predicate",
    "RegisterAction.push",
    "RegisterParam.read",
    "Resubmit.emit",
    "Wred.execute",
    "funnel_shift_right",
    "invalidate",
    "is_validated",
    "max",
    "min",
    "port_metadata_unpack",
    "sizeInBits",
    "sizeInBytes",
    "static_assert",
];

/// Externs that are declared and rejected, with the reason, and what to write instead.
const REFUSED: [(&str, &str); 5] = [
    (
        "LearnAction",
        "the source of `digest` and `learn` of `apply` is not documented publicly; keep the digest in a `Register`, and compare it \
         in a `RegisterAction`",
    ),
    (
        "SelectorAction",
        "Tofino's driver chooses which bit of the selector's memory stands for a member, so that no index is known; keep a \
         bit for each port in a `Register`, and apply a second selector where it is set",
    ),
    (
        "RegisterAction.sweep",
        "what `apply` reads of a packet during a sweep, and when it reaches a cell, is not documented publicly; use \
         `Register.clear`, or `execute` with the index that a packet of the packet generator gives",
    ),
    ("RegisterAction.address", ADDRESS),
    ("MinMaxAction.address", ADDRESS),
];

const ADDRESS: &str = "the compiler for Tofino chooses where in a stage's memory a cell lies; use the index that \
                       `execute` takes";

/// Translates a call. Returns `None` if an argument does not match TNA's declaration.
pub fn lower(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    // A result that is not a scalar is in an additional argument.
    let args = match call.args.split_last() {
        Some((_, args)) if has_composite_result(call) => args,
        _ => &call.args[..],
    };
    let (object, method) = call.name.split_once('.').unwrap_or(("", &call.name));
    let object = object.trim_end_matches(['2', '3', '4']);
    match (object, method, args) {
        ("Checksum", "add", [data]) => checksum::change(c, call, data, false),
        ("Checksum", "subtract", [data]) => checksum::change(c, call, data, true),
        ("Checksum", "verify", []) => checksum::verify(c, call),
        ("Checksum", "get", []) => checksum::get(c, call),
        ("Checksum", "subtract_all_and_deposit", [to]) => checksum::residual(c, call, to),
        ("Checksum", "update", [data]) => checksum::update(c, call, data, &Arg::None),
        ("Checksum", "update", [data, ones]) => checksum::update(c, call, data, ones),
        ("Counter", "count", [index, less]) => counters::count(c, call, Some(index), less),
        ("DirectCounter", "count", [less]) => counters::count(c, call, None, less),
        ("Digest", "pack", [data]) => {
            let receiver = Arg::In(Expr::constant(0_u8, Scalar::Bit(32)));
            let ty = c.program()[call.object?].type_args.first().cloned();
            c.digest(&receiver, data, ty)
        }
        ("Lpf" | "Wred", "execute", [value, index]) => {
            filters::execute(c, call, value, Some(index))
        }
        ("DirectLpf" | "DirectWred", "execute", [value]) => filters::execute(c, call, value, None),
        ("Hash", "get", [data]) => hash::get(c, call, data),
        ("MathUnit", "execute", [x]) => math::execute(c, call, x),
        ("Meter", "execute", [index, less]) => {
            counters::measure(c, call, Some(index), &Arg::None, less)
        }
        ("Meter", "execute", [index, before, less]) => {
            counters::measure(c, call, Some(index), before, less)
        }
        ("DirectMeter", "execute", [less]) => counters::measure(c, call, None, &Arg::None, less),
        ("DirectMeter", "execute", [before, less]) => {
            counters::measure(c, call, None, before, less)
        }
        ("Mirror", "emit", [session, header @ ..]) => {
            let asks = requests::mirror(c, session, header.first().unwrap_or(&Arg::None))?;
            c.own_call(Call::Mirror(asks));
            Some(())
        }
        ("Pktgen", "emit", [context]) => {
            let asks = requests::generate(c, context)?;
            c.own_call(Call::Generate(asks));
            Some(())
        }
        ("Resubmit", "emit", header) => {
            let asks = requests::resubmit(c, header.first().unwrap_or(&Arg::None))?;
            c.own_call(Call::Resubmit(asks));
            Some(())
        }
        ("", "port_metadata_unpack", _) => requests::unpack_port_metadata(c, call),
        ("ParserCounter", "set", [value]) => parser_counter::set(c, call, value),
        ("ParserCounter", "set", [field, max, rotate, mask, add]) => {
            parser_counter::set_part(c, call, field, [max, rotate, mask, add])
        }
        ("ParserCounter", "push", [value, update]) => {
            parser_counter::push(c, call, update)?;
            parser_counter::set(c, call, value)
        }
        ("ParserCounter", "push", [field, max, rotate, mask, add, update]) => {
            parser_counter::push(c, call, update)?;
            parser_counter::set_part(c, call, field, [max, rotate, mask, add])
        }
        ("ParserCounter", "pop", []) => parser_counter::pop(c, call),
        ("ParserCounter", "increment", [by]) => parser_counter::change(c, call, by, false),
        ("ParserCounter", "decrement", [by]) => parser_counter::change(c, call, by, true),
        ("ParserCounter", "is_zero", []) => parser_counter::test(c, call, false),
        ("ParserCounter", "is_negative", []) => parser_counter::test(c, call, true),
        // The priority determines which packets a congested input buffer drops; the engine's buffer
        // is never congested.
        ("ParserPriority", "set", [_]) | ("", "static_assert", _) => Some(()),
        ("Random", "get", []) => values::random(c, call),
        ("Register", "read", [index]) => registers::read(c, call, Some(index)),
        ("Register", "write", [index, value]) => registers::write(c, call, Some(index), value),
        ("Register", "clear", [value, ..]) => registers::clear(c, call, value),
        ("DirectRegister" | "RegisterParam", "read", []) => registers::read(c, call, None),
        ("DirectRegister", "write", [value]) => registers::write(c, call, None, value),
        ("RegisterAction" | "MinMaxAction", "execute", [index, ..]) => {
            registers::execute(c, call, Some(index))
        }
        ("DirectRegisterAction", "execute", _) => registers::execute(c, call, None),
        ("RegisterAction", "execute_log", _) => registers::access(c, call, Access::Next, ""),
        ("RegisterAction", "enqueue", _) => registers::access(c, call, Access::Enqueue, "overflow"),
        ("RegisterAction", "push", _) => registers::access(c, call, Access::Push, "overflow"),
        ("RegisterAction", "dequeue", _) => {
            registers::access(c, call, Access::Dequeue, "underflow")
        }
        ("RegisterAction", "pop", _) => registers::access(c, call, Access::Pop, "underflow"),
        ("RegisterAction" | "DirectRegisterAction" | "MinMaxAction", "predicate", _) => {
            registers::predicate(c, call)
        }
        (_, "min8" | "max8" | "min16" | "max16", [value, mask, more @ ..]) => {
            limits::limit(c, call, method, [value, mask], more)
        }
        ("", "max", [a, b]) => values::limit(c, call, [a, b], true),
        ("", "min", [a, b]) => values::limit(c, call, [a, b], false),
        ("", "funnel_shift_right", [to, high, low, by]) => {
            values::funnel_shift(c, to, [high, low, by])
        }
        ("", "sizeInBits", [of]) => values::size(c, call, of, false),
        ("", "sizeInBytes", [of]) => values::size(c, call, of, true),
        ("", "is_validated", [field]) => values::is_validated(c, call, field),
        ("", "invalidate", [field]) => values::invalidate(c, field),
        _ => {
            refuse(c, object, method, args.len());
            Some(())
        }
    }
}

fn refuse(c: &mut Lowering<'_>, object: &str, method: &str, args: usize) {
    let name = match object {
        "" => method.to_string(),
        object => format!("{object}.{method}"),
    };
    let mut refused = REFUSED.iter();
    c.error(
        match refused.find(|(refused, _)| *refused == name || *refused == object) {
            Some((_, reason)) => format!("`{name}` is not supported: {reason}"),
            None => format!(
                "`{name}` with {args} arguments is not supported by TNA; it has {}",
                SUPPORTED.join(", ")
            ),
        },
    );
}

/// Whether the last argument is the destination of the call's result.
fn has_composite_result(call: &ExternCall) -> bool {
    let (object, method) = call.name.split_once('.').unwrap_or_default();
    let gives = object.contains("Action") || ["read", "write"].contains(&method);
    gives && call.result.is_none() && matches!(call.args.last(), Some(Arg::Variable(..)))
}

/// Adds a step.
fn own(c: &mut Lowering<'_>, step: impl Into<Call>) {
    c.own_call(step.into());
}

/// Copies words to the destination of a call's result, unless it is unused.
fn give(c: &mut Lowering<'_>, call: &ExternCall, from: Slot, words: u32) -> Option<()> {
    match (&call.result, call.args.last()) {
        (Some(place), _) => c.copy_to(&place.at, from, place.ty.width().div_ceil(64).min(words)),
        (None, Some(Arg::Variable(at, ty))) if has_composite_result(call) => {
            let count = words_of(c, ty).min(words);
            c.copy_to(at, from, count);
        }
        _ => {}
    }
    Some(())
}

/// Copies words to an argument, unless it is omitted.
fn put(c: &mut Lowering<'_>, arg: &Arg, from: Slot, words: u32) -> Option<()> {
    match arg {
        Arg::Out(place) => c.copy_to(&place.at, from, place.ty.width().div_ceil(64).min(words)),
        Arg::Variable(at, ty) => {
            let count = words_of(c, ty).min(words);
            c.copy_to(at, from, count);
        }
        Arg::None => {}
        _ => return None,
    }
    Some(())
}

/// An argument's words, contiguous.
fn take(c: &mut Lowering<'_>, arg: &Arg, words: u32) -> Option<Slot> {
    match arg {
        Arg::In(_) => Some(c.input_value(arg)?.0),
        Arg::List(items) => {
            let block = setting(c, words);
            let mut at = block;
            for item in items {
                let (slot, width) = c.input_value(&Arg::In(item.value.clone()))?;
                let count = width.div_ceil(64);
                c.copy_slots(at, slot, count);
                at += count;
            }
            Some(block)
        }
        _ => None,
    }
}

/// A parameter's first word, and its number of words.
fn words_of_param(c: &Lowering<'_>, param: &BlockParam) -> (Slot, u32) {
    (c.slot(param.variable), words_of(c, &param.ty))
}

/// Words of a variable of some type.
fn words_of(c: &Lowering<'_>, ty: &Type) -> u32 {
    c.words_of(ty)
}

/// Scratch words between two steps of a call.
fn setting(c: &mut Lowering<'_>, words: u32) -> Slot {
    let first = c.setting();
    for _ in 1..words {
        c.setting();
    }
    first
}

/// A word that is 0 when a packet arrives at a parser.
fn packet_word(c: &mut Lowering<'_>) -> Slot {
    let word = c.setting();
    c.layout.cleared.push(word);
    word
}

/// The word of an object. It is 0 when a packet arrives at a parser.
fn word_of(c: &mut Lowering<'_>, object: u32) -> Slot {
    if let Some(word) = known_word(c, object) {
        return word;
    }
    let word = packet_word(c);
    c.layout.object_words.push((object, word));
    word
}

fn known_word(c: &Lowering<'_>, object: u32) -> Option<Slot> {
    let mut words = c.layout.object_words.iter();
    words.find(|(of, _)| *of == object).map(|(_, word)| *word)
}

/// The value of a constant.
fn constant(value: &Expr) -> Option<u64> {
    match &value.kind {
        ExprKind::Const(value) => u64::try_from(value).ok(),
        _ => None,
    }
}
