//! The extern objects that PSA declares.

use p4_ir::{CtorArg, ExternObject, Program};
use p4_vm::{Algorithm, Counted, MeterUnit, Object, member};

/// The object as it is when the switch starts; an error says what its constructor needs.
pub fn new(program: &Program, object: &ExternObject) -> Result<Object, String> {
    let arg = |i: usize| object.args.get(i);
    match object.type_name.as_str() {
        "Register" => register(program, object),
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

/// The hash that a constructor names.
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

/// A register, each cell with the initial value that the second argument gives.
fn register(program: &Program, object: &ExternObject) -> Result<Object, String> {
    let mut made = Object::register(program, object, object.args.first())?;
    if let (Object::Register(register), Some(CtorArg::Int(value))) = (&mut made, object.args.get(1))
    {
        // Two's complement: ones above a negative number.
        let above = if value.sign() == num_bigint::Sign::Minus {
            u64::MAX
        } else {
            0
        };
        let octets = value.to_signed_bytes_le();
        let limbs = register.limbs.max(1);
        let mut cell = vec![above; limbs];
        for (i, octet) in octets.iter().enumerate().take(8 * limbs) {
            let shift = 8 * (i % 8);
            cell[i / 8] = cell[i / 8] & !(0xff << shift) | u64::from(*octet) << shift;
        }
        let top = register.width.clamp(1, 64 * limbs as u32) - 64 * (limbs as u32 - 1);
        if let Some(last) = cell.last_mut() {
            *last &= u64::MAX >> (64 - top);
        }
        for target in register.cells.chunks_mut(limbs) {
            target.copy_from_slice(&cell);
        }
    }
    Ok(made)
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
