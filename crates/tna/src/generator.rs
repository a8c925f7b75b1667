//! The packet generator of each pipe: valid applications, their triggers, and the header of their packets.

use crate::blocks::Layout;
use crate::generation::Generation;
use crate::requests::Request;
use crate::{Switch, ports, prefix};
use p4_vm::{ControlError, Packet};
use switch::{AppId, Generated, GeneratorApp, Part, Trigger};
use units::{Duration, Instant};

/// Octets of a generator's buffer, which holds the packets of applications, and octets per line of it.
const BUFFER: usize = 16 << 10;
const LINE: u64 = 16;

/// Delay from a packet to the burst that it triggers. It ensures that time passes if generated packets trigger the
/// generator again.
const AFTER_PACKET: Duration = Duration::from_nanos(1);

/// The maximum number of batches and packets, which have 16-bit numbers.
const MOST: u32 = 1 << 16;

/// Rejects an application that the hardware does not support.
pub fn check(layout: &Layout, id: AppId, app: &GeneratorApp) -> Result<(), ControlError> {
    let generation = layout.generation;
    let refused = |expected: String, found: String| {
        let AppId { pipe, number } = id;
        let at = format!("application {number} of the packet generator of pipe {pipe}");
        Err(ControlError::Invalid {
            at,
            expected,
            found,
        })
    };
    let (pipes, apps) = (ports::PIPES, generation.generator_apps());
    if usize::from(id.pipe) >= pipes || id.number >= apps {
        let valid = format!(
            "a pipe from 0 to {} and an application from 0 to {}",
            pipes - 1,
            apps - 1
        );
        let AppId { pipe, number } = id;
        return refused(valid, format!("pipe {pipe}, application {number}"));
    }
    let length = app.packet.len();
    if length == 0 || length > BUFFER {
        return refused(
            format!("a packet of 1 to {BUFFER} octets"),
            format!("one of {length}"),
        );
    }
    for (what, count) in [("batches", app.batches), ("packets per batch", app.packets)] {
        if count == 0 || count > MOST {
            return refused(format!("1 to {MOST} {what}"), count.to_string());
        }
    }
    match app.trigger {
        Trigger::Periodic { period } if period == Duration::ZERO || period < app.burst() => {
            refused(
                format!(
                    "a period of more than 0 that a burst ({}) fits into",
                    app.burst()
                ),
                period.to_string(),
            )
        }
        Trigger::Deparser { .. } if generation == Generation::Tofino1 => refused(
            "another trigger: a deparser of Tofino 1 cannot ask for packets".into(),
            "that of a deparser".into(),
        ),
        Trigger::Recirculated { value, mask }
            if (value | mask)
                .checked_shl(pattern_bits(generation))
                .is_some_and(|rest| rest != 0) =>
        {
            refused(
                format!("a pattern of {} octets", pattern_bits(generation) / 8),
                "a longer one".into(),
            )
        }
        _ => Ok(()),
    }
}

/// Prepends the generator's header to a packet. Returns the port through which it enters ingress.
pub fn prepend(switch: &Switch, generated: &Generated, packet: &mut Packet) -> u16 {
    let generation = switch.layout().generation;
    let AppId { pipe, number } = generated.id;
    let trigger = switch.generator.app(generated.id).map(|app| app.trigger);
    let (middle, context) = match (trigger, generation) {
        (Some(Trigger::PortDown), _) => (generated.cause as u32, false),
        (Some(Trigger::Recirculated { .. }), Generation::Tofino1) => {
            (generated.cause as u32, false)
        }
        (Some(Trigger::Recirculated { .. }), Generation::Tofino2)
        | (Some(Trigger::Deparser { .. }), _) => (generated.batch.into(), true),
        _ => (generated.batch.into(), false),
    };
    let mut header = [0; 22];
    header[..4].copy_from_slice(&middle.to_be_bytes());
    header[0] = pipe << generation.generator_app_bits() | number;
    header[4..6].copy_from_slice(&generated.packet.to_be_bytes());
    header[6..].copy_from_slice(&generated.cause.to_be_bytes());
    let octets = if context { 22 } else { 6 };
    prefix::prepend(packet, &header[..octets]);
    ports::of_pipe(pipe.into(), generation.recirculation_port())
}

/// Starts the bursts of applications that are triggered by a port of their pipe going down.
pub fn port_down(switch: &mut Switch, now: Instant, port: u16) {
    let pipe = ports::pipe(port) as u8;
    let waits = |trigger: &Trigger| matches!(trigger, Trigger::PortDown);
    switch
        .generator
        .trigger(now, pipe, port.into(), None, waits);
}

/// Starts the bursts of applications that are triggered by recirculated packets such as this one, at a port of their pipe.
pub fn recirculated(switch: &mut Switch, now: Instant, port: u16, packet: &Packet) {
    let bits = pattern_bits(switch.layout().generation);
    let Some(first) = packet.octets.get(..bits as usize / 8) else {
        return;
    };
    let first = first
        .iter()
        .fold(0, |value, octet| value << 8 | u128::from(*octet));
    let aligned = first << (128 - bits);
    let waits = |trigger: &Trigger| match *trigger {
        Trigger::Recirculated { value, mask } => aligned & mask == value & mask,
        _ => false,
    };
    let (at, pipe) = (now + AFTER_PACKET, ports::pipe(port) as u8);
    switch.generator.trigger(at, pipe, first, None, waits);
}

/// Starts the bursts of applications that are triggered by a context like this one from a deparser of their pipe. Its
/// packet determines the first line of the buffer and the number of octets to send. If that number is 0, there is no
/// burst.
pub fn asked(
    switch: &mut Switch,
    now: Instant,
    port: u16,
    context: &Request,
    (line, octets): (u64, u64),
) {
    let part = Part {
        first: (line * LINE % BUFFER as u64) as u16,
        octets: octets as u16,
    };
    if part.octets == 0 {
        return;
    }
    let mut given = [0; 16];
    given[..context.header().len()].copy_from_slice(context.header());
    let given = u128::from_be_bytes(given);
    let waits = |trigger: &Trigger| match *trigger {
        Trigger::Deparser { value, mask } => given & mask == value & mask,
        _ => false,
    };
    let (at, pipe) = (now + AFTER_PACKET, ports::pipe(port) as u8);
    switch.generator.trigger(at, pipe, given, Some(part), waits);
}

/// Number of bits at the beginning of a packet that a generator compares.
fn pattern_bits(generation: Generation) -> u32 {
    match generation {
        Generation::Tofino1 => 32,
        Generation::Tofino2 => 128,
    }
}
