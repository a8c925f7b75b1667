//! What a program keeps from packet to packet: registers, counters, meters, action profiles.

use crate::hash::Algorithm;
use crate::table::Prepared;
use crate::{ActionSpec, CounterData, MeterConfig};
use num_bigint::BigInt;
use p4_ir::{CtorArg, ExternObject, Program, TypeKind};
use std::collections::BTreeMap;
use units::Instant;

/// An extern object at run time.
#[derive(Debug)]
pub enum Object {
    Register(Register),
    Counter(Counter),
    Meter(Meter),
    /// A direct counter: its cells are in the entries.
    DirectCounter(Counted),
    /// A direct meter, likewise.
    DirectMeter(MeterUnit),
    Profile(Profile),
    /// An object without state: a checksum unit.
    Stateless,
}

/// An array of values.
#[derive(Debug)]
pub struct Register {
    pub size: u64,
    pub width: u32,
    pub limbs: usize,
    pub cells: Vec<u64>,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub packets: bool,
    pub octets: bool,
}

/// An array of counts.
#[derive(Debug)]
pub struct Counter {
    pub counted: Counted,
    pub cells: Vec<CounterData>,
}

/// What a meter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterUnit {
    Packets,
    Octets,
}

/// An array of meters.
#[derive(Debug)]
pub struct Meter {
    pub unit: MeterUnit,
    pub cells: Vec<MeterCell>,
}

/// A cell of a meter.
#[derive(Clone, Debug, Default)]
pub struct MeterCell {
    /// Without one every packet is green.
    pub marker: Option<Marker>,
    /// The packets of each colour.
    pub colours: [CounterData; 3],
}

impl MeterCell {
    /// The packet's colour: 0 green, 1 yellow, 2 red.
    pub fn execute(&mut self, now: Instant, unit: MeterUnit, octets: u32) -> u64 {
        let marker = self.marker.as_mut();
        let colour = marker.map_or(0, |marker| marker.execute(now, amount(unit, octets)));
        let counter = &mut self.colours[colour as usize];
        counter.packets += 1;
        counter.octets += octets as u64;
        colour
    }
}

/// A three-colour marker of two rates (RFC 2698), or of one with an excess burst (RFC 2697); colour-blind.
///
/// As in BMv2, tokens are those of whole microseconds since time 0, rounded down.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    pub config: MeterConfig,
    peak: Bucket,
    committed: Bucket,
    /// Tokens that the committed bucket had no room for.
    excess: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    /// Tokens made since time 0.
    made: u64,
}

impl Bucket {
    /// Fills up; the tokens that there was no room for.
    fn fill(&mut self, now: Instant, rate: f64, burst: u64) -> u64 {
        let made = (now.as_micros() as f64 * (rate / 1e6)) as u64;
        let new = made.saturating_sub(self.made);
        self.made = made;
        let tokens = self.tokens.saturating_add(new);
        self.tokens = tokens.min(burst);
        tokens - self.tokens
    }
}

impl Marker {
    /// A marker with full buckets.
    pub fn new(config: MeterConfig) -> Self {
        let full = |tokens| Bucket { tokens, made: 0 };
        Marker {
            config,
            peak: full(config.pburst),
            committed: full(config.cburst),
            excess: config.eburst,
        }
    }

    /// The packet's colour: 0 green, 1 yellow, 2 red.
    pub fn execute(&mut self, now: Instant, amount: u64) -> u64 {
        let config = self.config;
        let left = self.committed.fill(now, config.cir, config.cburst);
        if config.eburst > 0 {
            self.excess = self.excess.saturating_add(left).min(config.eburst);
            return self.of_one_rate(amount);
        }
        self.peak.fill(now, config.pir, config.pburst);
        if self.peak.tokens < amount {
            return 2;
        }
        self.peak.tokens -= amount;
        if self.committed.tokens < amount {
            return 1;
        }
        self.committed.tokens -= amount;
        0
    }

    fn of_one_rate(&mut self, amount: u64) -> u64 {
        let buckets = [&mut self.committed.tokens, &mut self.excess];
        for (tokens, colour) in buckets.into_iter().zip(0..) {
            if *tokens >= amount {
                *tokens -= amount;
                return colour;
            }
        }
        2
    }
}

/// Members and groups of an action profile or selector.
#[derive(Debug)]
pub struct Profile {
    /// The selector's hash; `None`: no groups.
    pub algorithm: Option<Algorithm>,
    pub size: u64,
    pub members: BTreeMap<u32, (ActionSpec, Prepared)>,
    /// Members with their weights.
    pub groups: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Each group's members in the order of their numbers, each as often as its weight says.
    pub choices: BTreeMap<u32, Vec<u32>>,
}

impl Object {
    /// The object as it is when the switch starts; an error says what its constructor needs.
    pub fn new(program: &Program, object: &ExternObject) -> Result<Object, String> {
        let arg = |i: usize| object.args.get(i);
        Ok(match object.type_name.as_str() {
            "register" => {
                let ty = object.type_args.first().and_then(|ty| ty.scalar(program));
                let ty = ty.ok_or("a register holds bit<W>, int<W>, bool or an enum")?;
                let limbs = ty.limbs().max(1) as usize;
                let size = size(arg(0), limbs * 8)?;
                let cells = vec![0; limbs * size as usize];
                Object::Register(Register {
                    size,
                    width: ty.width(),
                    limbs,
                    cells,
                })
            }
            "counter" => {
                let size = size(arg(0), size_of::<CounterData>())?;
                let counted = counted(program, arg(1))?;
                let cells = vec![CounterData::default(); size as usize];
                Object::Counter(Counter { counted, cells })
            }
            "meter" => {
                let size = size(arg(0), size_of::<MeterCell>())?;
                Object::Meter(Meter {
                    unit: unit(program, arg(1))?,
                    cells: vec![MeterCell::default(); size as usize],
                })
            }
            "direct_meter" => Object::DirectMeter(unit(program, arg(0))?),
            "direct_counter" => Object::DirectCounter(counted(program, arg(0))?),
            "Checksum16" => Object::Stateless,
            "action_profile" => Object::Profile(Profile::new(None, size(arg(0), 1)?)),
            "action_selector" => {
                let name = member(program, "HashAlgorithm", arg(0));
                let name = name.ok_or("an action selector needs a hash algorithm")?;
                let algorithm = Algorithm::by_name(&name).ok_or_else(|| {
                    let valid = Algorithm::NAMES.join(", ");
                    format!("the hash algorithm `{name}` is not supported; there are {valid}")
                })?;
                Object::Profile(Profile::new(Some(algorithm), size(arg(1), 1)?))
            }
            other => {
                return Err(format!(
                    "extern `{other}` is not supported by this target; it has action_profile, \
                     action_selector, Checksum16, counter, direct_counter, direct_meter, meter, register"
                ));
            }
        })
    }
}

impl Profile {
    fn new(algorithm: Option<Algorithm>, size: u64) -> Self {
        Profile {
            algorithm,
            size,
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            choices: BTreeMap::new(),
        }
    }
}

/// Octets that the cells of an object may take; a guard against sizes that no memory holds.
const MAX_OCTETS: u64 = 1 << 28;

/// The number of cells, each of so many octets.
fn size(arg: Option<&CtorArg>, cell_octets: usize) -> Result<u64, String> {
    let most = MAX_OCTETS / cell_octets as u64;
    match arg {
        Some(CtorArg::Int(n)) => match u64::try_from(n) {
            Ok(n) if n <= most => Ok(n),
            _ => Err(format!(
                "a size of {n} is not supported; it may be 0 to {most}"
            )),
        },
        _ => Err("its size must be a number".into()),
    }
}

/// The name of an enum's member.
fn member(program: &Program, enumeration: &str, arg: Option<&CtorArg>) -> Option<String> {
    match arg? {
        CtorArg::Member(_, name) => Some(name.clone()),
        CtorArg::Int(index) => {
            let declared = program.types.iter().find(|ty| ty.name == enumeration)?;
            let index = usize::try_from(BigInt::clone(index)).ok()?;
            match &declared.kind {
                TypeKind::Enum(members) => members.get(index).cloned(),
                _ => None,
            }
        }
        _ => None,
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

/// Counts a packet.
pub fn count(cell: &mut CounterData, counted: Counted, octets: u32) {
    cell.packets += counted.packets as u64;
    cell.octets += if counted.octets { octets as u64 } else { 0 };
}

/// What a packet costs in a meter.
fn amount(unit: MeterUnit, octets: u32) -> u64 {
    match unit {
        MeterUnit::Packets => 1,
        MeterUnit::Octets => octets as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2698 by hand: CIR 1000/s with a burst of 1000, PIR 2000/s with a burst of 2000, packets of
    /// 600 octets. At 0: P 2000 → 1400, C 1000 → 400 green; P 1400 → 800, C 400 < 600 yellow;
    /// P 800 → 200 yellow; P 200 < 600 red. At 0.2 s: P 200 + 400 → 0, C 400 + 200 → 0 green.
    #[test]
    fn three_colours_of_rfc_2698() {
        let config = MeterConfig {
            cir: 1000.0,
            cburst: 1000,
            pir: 2000.0,
            pburst: 2000,
            eburst: 0,
        };
        let mut marker = Marker::new(config);
        let colours: Vec<_> = (0..4).map(|_| marker.execute(Instant::ZERO, 600)).collect();
        assert_eq!(colours, [0, 1, 1, 2]);
        assert_eq!(marker.execute(Instant::from_micros(200_000), 600), 0);
        assert_eq!(marker.execute(Instant::from_micros(200_000), 600), 2);
    }

    /// RFC 2697 by hand: CIR 1000/s, CBS 1000, EBS 700, packets of 600 octets. At 0: C 1000 → 400 green;
    /// E 700 → 100 yellow; C 400, E 100 red. At 0.8 s: C 400 + 800 → 1000, E 100 + 200; C → 400 green,
    /// then red, as E has 300. At 1.7 s: C 400 + 900 → 1000, E 300 + 300 → 600; C → 400 green, E → 0
    /// yellow.
    #[test]
    fn three_colours_of_rfc_2697() {
        let config = MeterConfig {
            cir: 1000.0,
            cburst: 1000,
            pir: 1000.0,
            pburst: 1000,
            eburst: 700,
        };
        let mut marker = Marker::new(config);
        let mut at = |us| marker.execute(Instant::from_micros(us), 600);
        assert_eq!([at(0), at(0), at(0)], [0, 1, 2]);
        assert_eq!([at(800_000), at(800_000)], [0, 2]);
        assert_eq!([at(1_700_000), at(1_700_000), at(1_700_000)], [0, 1, 2]);
    }
}
