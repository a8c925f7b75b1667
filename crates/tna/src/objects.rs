//! The extern objects that TNA declares.

use p4_ir::{CtorArg, ExternId, ExternObject, Program};
use p4_vm::{Algorithm, Counted, FilterKind, MeterUnit, Object, member};

/// Creates the object in its initial state. An error states what its constructor requires.
pub fn new(program: &Program, object: &ExternObject) -> Result<Object, String> {
    let arg = |i: usize| object.args.get(i);
    let one = CtorArg::Int(1.into());
    match object.type_name.trim_end_matches(['2', '3', '4']) {
        "Register" => Object::register(program, object, arg(0), arg(1)),
        "RegisterParam" => Object::register(program, object, Some(&one), arg(0)),
        "DirectRegister" => Object::direct_register(program, object, arg(0)),
        "Counter" => Object::counter(arg(0), counted(program, arg(1))?),
        "DirectCounter" => Ok(Object::DirectCounter(counted(program, arg(0))?)),
        "Meter" => Object::meter(arg(0), unit(program, arg(1))?),
        "DirectMeter" => Ok(Object::DirectMeter(unit(program, arg(0))?)),
        "Lpf" => Object::filters(arg(0), FilterKind::LowPass),
        "Wred" => Object::filters(arg(0), FilterKind::EarlyDrop),
        "DirectLpf" => Ok(Object::DirectFilter(FilterKind::LowPass)),
        "DirectWred" => Ok(Object::DirectFilter(FilterKind::EarlyDrop)),
        "ActionProfile" => Object::profile(arg(0), selector_hash(program, object)?),
        "ActionSelector" => match arg(0) {
            // Its members and groups are stored in the profile.
            Some(CtorArg::Object(_)) => Ok(Object::Stateless),
            size => Object::profile(size, Some(hash(program, arg(1))?)),
        },
        "Alpm"
        | "Atcam"
        | "CRCPolynomial"
        | "Checksum"
        | "Digest"
        | "DirectRegisterAction"
        | "Hash"
        | "IdleTimeout"
        | "LearnAction"
        | "MathUnit"
        | "MinMaxAction"
        | "Mirror"
        | "ParserCounter"
        | "ParserPriority"
        | "Pktgen"
        | "Random"
        | "RegisterAction"
        | "Resubmit"
        | "SelectorAction" => Ok(Object::Stateless),
        other => Err(format!("TNA has no extern `{other}`")),
    }
}

/// The hash of the selector that chooses from a profile, if there is one.
fn selector_hash(program: &Program, profile: &ExternObject) -> Result<Option<Algorithm>, String> {
    let mut objects = program.externs.iter();
    let number = objects.position(|object| std::ptr::eq(object, profile));
    let number = number.map(|number| ExternId(number as u32));
    let mut selectors = program.externs.iter().filter(|object| {
        object.type_name == "ActionSelector"
            && matches!(object.args.first(), Some(CtorArg::Object(of)) if Some(*of) == number)
    });
    let hash_of = |selector: &ExternObject| hash(program, selector.args.get(1));
    selectors.next().map(hash_of).transpose()
}

/// The algorithm of a selector's hash.
fn hash(program: &Program, arg: Option<&CtorArg>) -> Result<Algorithm, String> {
    let algorithm = match arg {
        Some(CtorArg::Object(hash)) => program[*hash].args.first(),
        _ => None,
    };
    Ok(
        match member(program, "HashAlgorithm_t", algorithm).as_deref() {
            Some("IDENTITY") => Algorithm::Identity,
            Some("XOR16") => Algorithm::Xor16,
            Some("CRC16") => Algorithm::Crc16,
            Some("CRC32" | "RANDOM") => Algorithm::Crc32,
            _ => {
                return Err(
                    "the hash of a selector is IDENTITY, RANDOM, XOR16, CRC16 or CRC32".into(),
                );
            }
        },
    )
}

fn counted(program: &Program, arg: Option<&CtorArg>) -> Result<Counted, String> {
    let (packets, octets) = match member(program, "CounterType_t", arg).as_deref() {
        Some("PACKETS") => (true, false),
        Some("BYTES") => (false, true),
        Some("PACKETS_AND_BYTES") => (true, true),
        _ => return Err("a counter counts PACKETS, BYTES or PACKETS_AND_BYTES".into()),
    };
    Ok(Counted { packets, octets })
}

fn unit(program: &Program, arg: Option<&CtorArg>) -> Result<MeterUnit, String> {
    match member(program, "MeterType_t", arg).as_deref() {
        Some("PACKETS") => Ok(MeterUnit::Packets),
        Some("BYTES") => Ok(MeterUnit::Octets),
        _ => Err("a meter measures PACKETS or BYTES".into()),
    }
}
