//! Indirect counters, indirect meters and registers: objects with numbered cells.

use super::{Change, cells, only_modify};
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::model::{ArrayModel, Model};
use crate::proto::v1::{CounterEntry, Entity, Index, MeterEntry, RegisterEntry, Update, entity};
use std::ops::Range;
use tonic::Code;

/// The most cells that one request may read.
const MAX_CELLS: u64 = 1 << 20;

/// The number of cells of an array that an entity refers to without an index. `None` for any other entity.
pub fn all_cells(model: &Model, entity: &entity::Entity) -> Option<u64> {
    use entity::Entity as E;
    let array = match entity {
        E::CounterEntry(entry) if entry.index.is_none() => model.counter(entry.counter_id).ok()?,
        E::MeterEntry(entry) if entry.index.is_none() => &model.meter(entry.meter_id).ok()?.0,
        E::RegisterEntry(entry) if entry.index.is_none() => {
            &model.register(entry.register_id).ok()?.0
        }
        _ => return None,
    };
    Some(array.size)
}

/// Converts an update of all cells of an array to one of a single cell.
pub fn of_cell(update: &Update, at: u64) -> Update {
    use entity::Entity as E;
    let mut update = update.clone();
    let entity = update.entity.as_mut().and_then(|e| e.entity.as_mut());
    match entity {
        Some(E::CounterEntry(entry)) => entry.index = cells::index(at),
        Some(E::MeterEntry(entry)) => entry.index = cells::index(at),
        Some(E::RegisterEntry(entry)) => entry.index = cells::index(at),
        _ => {}
    }
    update
}

/// Sets a cell of a counter, all cells, or a range of all cells.
pub fn write_counter(
    target: &mut Target<'_>,
    change: Change,
    given: &CounterEntry,
    part: Option<Range<u64>>,
) -> Outcome<()> {
    only_modify(change, "a counter")?;
    let counter = target.model.counter(given.counter_id)?;
    let range = cells::range(counter, given.index.as_ref())?;
    let range = part.unwrap_or(range);
    let Some(data) = &given.data else {
        return Ok(());
    };
    let data = cells::decode_counter(data)?;
    for at in range {
        target.switch.counter_write(counter.object, at, data)?;
    }
    Ok(())
}

/// Configures a cell of a meter, all cells, or a range of all cells.
pub fn write_meter(
    target: &mut Target<'_>,
    change: Change,
    given: &MeterEntry,
    part: Option<Range<u64>>,
) -> Outcome<()> {
    only_modify(change, "a meter")?;
    cells::check_colours(given.counter_data.as_ref())?;
    let (meter, ty) = target.model.meter(given.meter_id)?;
    let config = given.config.as_ref();
    let config = config
        .map(|config| cells::decode_meter(*ty, config))
        .transpose()?;
    let range = cells::range(meter, given.index.as_ref())?;
    for at in part.unwrap_or(range) {
        target.switch.meter_write(meter.object, at, config)?;
        if given.counter_data.is_some() {
            target.switch.meter_clear_colours(meter.object, at)?;
        }
    }
    Ok(())
}

/// Sets a cell of a register, all cells, or a range of all cells.
pub fn write_register(
    target: &mut Target<'_>,
    change: Change,
    given: &RegisterEntry,
    part: Option<Range<u64>>,
) -> Outcome<()> {
    only_modify(change, "a register")?;
    let (register, ty) = target.model.register(given.register_id)?;
    let range = cells::range(register, given.index.as_ref())?;
    let value = ty.decode(given.data.as_ref());
    let value = value.map_err(|fault| fault.at(format!("register `{}`", register.name)))?;
    for at in part.unwrap_or(range) {
        target.switch.register_write(register.object, at, &value)?;
    }
    Ok(())
}

/// Reads the cells of counters. Returns whether there are more behind `places`.
pub fn read_counters(
    target: &Target<'_>,
    request: &CounterEntry,
    places: Range<u64>,
    found: &mut Vec<Entity>,
) -> Outcome<bool> {
    let counters = match request.counter_id {
        0 => target.model.counters.values().collect(),
        id => vec![target.model.counter(id)?],
    };
    each_cell(&counters, request.index.as_ref(), places, |counter, at| {
        let data = target.switch.counter_read(counter.object, at)?;
        let entry = CounterEntry {
            counter_id: counter.id,
            index: cells::index(at),
            data: Some(cells::encode_counter(data)),
        };
        found.push(Entity {
            entity: Some(entity::Entity::CounterEntry(entry)),
        });
        Ok(())
    })
}

/// Reads the cells of meters. Returns whether there are more behind `places`.
pub fn read_meters(
    target: &Target<'_>,
    request: &MeterEntry,
    places: Range<u64>,
    found: &mut Vec<Entity>,
) -> Outcome<bool> {
    let model = target.model;
    let meters = match request.meter_id {
        0 => model.meters.values().map(|(meter, _)| meter).collect(),
        id => vec![&model.meter(id)?.0],
    };
    each_cell(&meters, request.index.as_ref(), places, |meter, at| {
        let config = target.switch.meter_read(meter.object, at)?;
        let entry = MeterEntry {
            meter_id: meter.id,
            index: cells::index(at),
            config: config.map(cells::encode_meter),
            counter_data: match request.counter_data {
                None => None,
                Some(_) => Some(cells::encode_colours(
                    target.switch.meter_colours(meter.object, at)?,
                )),
            },
        };
        found.push(Entity {
            entity: Some(entity::Entity::MeterEntry(entry)),
        });
        Ok(())
    })
}

/// Reads the cells of registers. Returns whether there are more behind `places`.
pub fn read_registers(
    target: &Target<'_>,
    request: &RegisterEntry,
    places: Range<u64>,
    found: &mut Vec<Entity>,
) -> Outcome<bool> {
    let model = target.model;
    let registers = match request.register_id {
        0 => model
            .registers
            .values()
            .map(|(register, _)| register)
            .collect(),
        id => vec![&model.register(id)?.0],
    };
    each_cell(
        &registers,
        request.index.as_ref(),
        places,
        |register, at| {
            let value = target.switch.register_read(register.object, at)?;
            let (_, ty) = model.register(register.id)?;
            let entry = RegisterEntry {
                register_id: register.id,
                index: cells::index(at),
                data: Some(ty.encode(&value)),
            };
            found.push(Entity {
                entity: Some(entity::Entity::RegisterEntry(entry)),
            });
            Ok(())
        },
    )
}

/// Reads the cells with indices in `places`, counted over all of `arrays`. Returns whether there are more behind them.
fn each_cell(
    arrays: &[&ArrayModel],
    index: Option<&Index>,
    places: Range<u64>,
    mut read: impl FnMut(&ArrayModel, u64) -> Outcome<()>,
) -> Outcome<bool> {
    let mut ranges = Vec::new();
    let mut all = 0;
    for array in arrays {
        let range = cells::range(array, index)?;
        ranges.push((array, all, range.clone()));
        all += range.end - range.start;
    }
    if all > MAX_CELLS {
        return Err(Fault::new(
            Code::ResourceExhausted,
            format!("{all} cells, expected at most {MAX_CELLS} per request; read them by index"),
        ));
    }
    for (array, before, range) in ranges {
        let cell = |place: u64| {
            let offset = place.saturating_sub(before);
            range.start.saturating_add(offset).min(range.end)
        };
        for at in cell(places.start)..cell(places.end) {
            read(array, at)?;
        }
    }
    Ok(all > places.end)
}
