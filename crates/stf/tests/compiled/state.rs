//! What a switch keeps from packet to packet, as values that can be compared.

use engine::{DirectOf, Switch};
use p4_ir::{ExternId, TableId};
use std::fmt::Write;

/// Cells of registers, counters and meters that packets have changed, the cells of entries, and all counts.
pub fn state(switch: &Switch) -> String {
    let mut text = String::new();
    let program = switch.program();
    for (at, object) in (0..).zip(&program.externs) {
        let id = ExternId(at);
        let name = &object.name;
        if let Some(register) = switch.register_cells(id) {
            let cells = register.cells.iter().enumerate();
            let used: Vec<_> = cells.filter(|(_, cell)| **cell != 0).collect();
            let _ = writeln!(text, "{name}: {used:?}");
        }
        if let Some(cells) = switch.counter_cells(id) {
            let cells = cells.iter().enumerate();
            let used: Vec<_> = cells.filter(|(_, cell)| cell.packets > 0).collect();
            let _ = writeln!(text, "{name}: {used:?}");
        }
        for index in 0..switch.object_size(id).unwrap_or(0).min(1024) {
            if let Ok(colours) = switch.meter_colours(id, index) {
                let _ = writeln!(text, "{name}[{index}]: {colours:?}");
            }
        }
    }
    for (at, table) in (0..).zip(&program.tables) {
        let id = TableId(at);
        let _ = writeln!(text, "{}: {:?}", table.name, switch.default_action(id));
        for entry in switch.entries(id).unwrap_or_default() {
            let of = DirectOf::Entry(&entry.matches, entry.priority);
            let count = switch.direct_counter_read(id, of);
            let colours = switch.direct_meter_colours(id, of);
            let hit = switch.last_hit(id, &entry.matches, entry.priority);
            let _ = writeln!(text, "{entry:?}: {count:?} {colours:?} {hit:?}");
        }
    }
    let _ = writeln!(text, "{:?} {:?}", switch.drops(), switch.port_drops());
    let _ = writeln!(text, "{} {}", switch.cut_loops(), switch.buffered_octets());
    text
}
