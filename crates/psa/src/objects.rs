//! The extern objects that PSA declares.

use p4_ir::{CtorArg, ExternObject, Program};
use p4_vm::{Algorithm, Counted, MeterUnit, Object, member};

/// Creates the object in its initial state. An error states what its constructor requires.
pub fn new(program: &Program, object: &ExternObject) -> Result<Object, String> {
    let arg = |i: usize| object.args.get(i);
    match object.type_name.as_str() {
        "Register" => Object::register(program, object, arg(0), arg(1)),
        "Counter" => Object::counter(arg(0), counted(program, arg(1))?),
        "DirectCounter" => Ok(Object::DirectCounter(counted(program, arg(0))?)),
        "Meter" => Object::meter(arg(0), unit(program, arg(1))?),
        "DirectMeter" => Ok(Object::DirectMeter(unit(program, arg(0))?)),
        "ActionProfile" => Object::profile(arg(0), None),
        "ActionSelector" => Object::profile(arg(1), Some(algorithm(program, arg(0))?)),
        "Checksum" => match member(program, ALGORITHMS, arg(0)).as_deref() {
            Some("ONES_COMPLEMENT16") => Ok(Object::Stateless),
            _ => Err(
                "the only algorithm of a Checksum that is supported is ONES_COMPLEMENT16".into(),
            ),
        },
        "Hash"
        | "Random"
        | "InternetChecksum"
        | "Digest"
        | "PacketReplicationEngine"
        | "BufferingQueueingEngine" => Ok(Object::Stateless),
        other => Err(format!(
            "PSA has no extern `{other}`; it has ActionProfile, ActionSelector, Checksum, Counter, Digest, \
             DirectCounter, DirectMeter, Hash, InternetChecksum, Meter, Random, Register"
        )),
    }
}

const ALGORITHMS: &str = "PSA_HashAlgorithm_t";

/// The hash algorithm in a constructor's argument.
pub fn algorithm(program: &Program, arg: Option<&CtorArg>) -> Result<Algorithm, String> {
    let name = member(program, ALGORITHMS, arg);
    Ok(match name.as_deref() {
        Some("IDENTITY") => Algorithm::Identity,
        Some("CRC16" | "CRC16_CUSTOM") => Algorithm::Crc16,
        Some("CRC32" | "CRC32_CUSTOM" | "TARGET_DEFAULT") => Algorithm::Crc32,
        Some("ONES_COMPLEMENT16") => Algorithm::Csum16,
        _ => return Err(format!("expected a member of {ALGORITHMS}")),
    })
}

fn counted(program: &Program, arg: Option<&CtorArg>) -> Result<Counted, String> {
    let (packets, octets) = match member(program, "PSA_CounterType_t", arg).as_deref() {
        Some("PACKETS") => (true, false),
        Some("BYTES") => (false, true),
        Some("PACKETS_AND_BYTES") => (true, true),
        _ => return Err("a counter counts PACKETS, BYTES or PACKETS_AND_BYTES".into()),
    };
    Ok(Counted { packets, octets })
}

fn unit(program: &Program, arg: Option<&CtorArg>) -> Result<MeterUnit, String> {
    match member(program, "PSA_MeterType_t", arg).as_deref() {
        Some("PACKETS") => Ok(MeterUnit::Packets),
        Some("BYTES") => Ok(MeterUnit::Octets),
        _ => Err("a meter measures PACKETS or BYTES".into()),
    }
}
