//! The contents of counters and meters.

use crate::fault::{Fault, Outcome};
use crate::model::{ArrayModel, MeterType};
use crate::proto::v1::{CounterData, Index, MeterConfig, MeterCounterData};

/// Decodes the cell of a counter.
pub fn decode_counter(data: &CounterData) -> Outcome<engine::CounterData> {
    let count = |what: &str, n: i64| {
        u64::try_from(n)
            .map_err(|_| Fault::invalid(format!("expected a {what} of at least 0, found {n}")))
    };
    Ok(engine::CounterData {
        packets: count("packet_count", data.packet_count)?,
        octets: count("byte_count", data.byte_count)?,
    })
}

/// Encodes the cell of a counter for a client.
pub fn encode_counter(data: engine::CounterData) -> CounterData {
    CounterData {
        byte_count: i64::try_from(data.octets).unwrap_or(i64::MAX),
        packet_count: i64::try_from(data.packets).unwrap_or(i64::MAX),
    }
}

/// Decodes the configuration of a meter of this type.
pub fn decode_meter(ty: MeterType, config: &MeterConfig) -> Outcome<engine::MeterConfig> {
    let one_rate = config.pir == config.cir && config.pburst == config.cburst;
    let expected = match ty {
        MeterType::SingleRateThreeColor if one_rate => None,
        MeterType::SingleRateThreeColor => Some("pir and pburst equal to cir and cburst"),
        MeterType::SingleRateTwoColor if one_rate && config.eburst == 0 => None,
        MeterType::SingleRateTwoColor => {
            Some("pir and pburst equal to cir and cburst, and eburst unset")
        }
        MeterType::TwoRateThreeColor if config.eburst != 0 => Some("eburst unset"),
        MeterType::TwoRateThreeColor if config.cir > config.pir => Some("cir no more than pir"),
        MeterType::TwoRateThreeColor => None,
    };
    if let Some(expected) = expected {
        let message = format!("expected {expected}, as the meter is {}", ty.as_str_name());
        return Err(Fault::invalid(message));
    }
    let number = |what: &str, n: i64| {
        u64::try_from(n)
            .map_err(|_| Fault::invalid(format!("expected a {what} of at least 0, found {n}")))
    };
    Ok(engine::MeterConfig {
        cir: number("cir", config.cir)? as f64,
        cburst: number("cburst", config.cburst)?,
        pir: number("pir", config.pir)? as f64,
        pburst: number("pburst", config.pburst)?,
        eburst: number("eburst", config.eburst)?,
    })
}

/// Encodes the configuration of a meter for a client.
pub fn encode_meter(config: engine::MeterConfig) -> MeterConfig {
    let burst = |n| i64::try_from(n).unwrap_or(i64::MAX);
    MeterConfig {
        cir: config.cir as i64,
        cburst: burst(config.cburst),
        pir: config.pir as i64,
        pburst: burst(config.pburst),
        eburst: burst(config.eburst),
    }
}

/// Encodes the counts of each colour of a meter for a client.
pub fn encode_colours(colours: [engine::CounterData; 3]) -> MeterCounterData {
    let [green, yellow, red] = colours.map(|colour| Some(encode_counter(colour)));
    MeterCounterData { green, yellow, red }
}

/// Checks a client's write to the counts of each colour: they can only be reset.
pub fn check_colours(given: Option<&MeterCounterData>) -> Outcome<()> {
    let given = given.copied().unwrap_or_default();
    let counters = [given.green, given.yellow, given.red];
    let zero = CounterData::default();
    match counters.into_iter().flatten().all(|data| data == zero) {
        true => Ok(()),
        false => Err(Fault::invalid(
            "the counters of a meter's colours can only be cleared: expected them unset or 0",
        )),
    }
}

/// The cells that an index selects. Without an index, all cells.
pub fn range(array: &ArrayModel, index: Option<&Index>) -> Outcome<std::ops::Range<u64>> {
    let Some(&Index { index }) = index else {
        return Ok(0..array.size);
    };
    let valid = format!(
        "`{}` has the indices 0 to {}",
        array.name,
        array.size as i64 - 1
    );
    match u64::try_from(index) {
        Err(_) => Err(Fault::invalid(format!(
            "index {index} is negative; {valid}"
        ))),
        Ok(at) if at >= array.size => Err(Fault::out_of_range(format!(
            "there is no index {index}; {valid}"
        ))),
        Ok(at) => Ok(at..at + 1),
    }
}

/// Encodes an index for a client.
pub fn index(at: u64) -> Option<Index> {
    Some(Index { index: at as i64 })
}
