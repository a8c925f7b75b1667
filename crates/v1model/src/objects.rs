//! The extern objects that v1model declares.

use p4_ir::{CtorArg, ExternObject, Program};
use p4_vm::{Algorithm, Counted, MeterUnit, Object, member};

/// Creates the object in its initial state. An error states what the constructor requires.
pub fn new(program: &Program, object: &ExternObject) -> Result<Object, String> {
    let arg = |i: usize| object.args.get(i);
    match object.type_name.as_str() {
        "register" => Object::register(program, object, arg(0), None),
        "counter" => Object::counter(arg(0), counted(program, arg(1))?),
        "meter" => Object::meter(arg(0), unit(program, arg(1))?),
        "direct_meter" => Ok(Object::DirectMeter(unit(program, arg(0))?)),
        "direct_counter" => Ok(Object::DirectCounter(counted(program, arg(0))?)),
        "Checksum16" => Ok(Object::Stateless),
        "action_profile" => Object::profile(arg(0), None),
        "action_selector" => {
            let name = member(program, "HashAlgorithm", arg(0));
            let name = name.ok_or("an action selector needs a hash algorithm")?;
            let algorithm = Algorithm::by_name(&name).ok_or_else(|| {
                let valid = p4_ir::HASH_ALGORITHMS.join(", ");
                format!("the hash algorithm `{name}` is not supported; valid: {valid}")
            })?;
            Object::profile(arg(1), Some(algorithm))
        }
        other => Err(format!(
            "extern `{other}` is not supported by this target; it has action_profile, \
             action_selector, Checksum16, counter, direct_counter, direct_meter, meter, register"
        )),
    }
}

fn counted(program: &Program, arg: Option<&CtorArg>) -> Result<Counted, String> {
    let (packets, octets) = match member(program, "CounterType", arg).as_deref() {
        Some("packets") => (true, false),
        Some("bytes") => (false, true),
        Some("packets_and_bytes") => (true, true),
        _ => return Err("a counter counts packets, bytes or packets_and_bytes".into()),
    };
    Ok(Counted { packets, octets })
}

fn unit(program: &Program, arg: Option<&CtorArg>) -> Result<MeterUnit, String> {
    match member(program, "MeterType", arg).as_deref() {
        Some("packets") => Ok(MeterUnit::Packets),
        Some("bytes") => Ok(MeterUnit::Octets),
        _ => Err("a meter measures packets or bytes".into()),
    }
}
