//! The recorded traces of the papers' simulator judge the `ns2` profile: same packets, same times.
//!
//! The runs are described in `tests/replay/`, a file for each trace. The traces are not part of this
//! project; they are searched for in `$WAYMARK_REFERENCE`, else in `../shared/reference/ns2` beside
//! the workspace. Where there are none the test is ignored, and says why.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netsim::replay::{Kind, Replay, Row};
use netsim::scenario::Profile;

/// The files' precision.
const TOLERANCE_S: f64 = 20e-6;

/// A row: flow, packet number, whether it is a drop, and when.
type Event = (usize, u64, bool, f64);

fn references() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/ns2");
    std::env::var_os("WAYMARK_REFERENCE").map_or_else(|| beside.into(), PathBuf::from)
}

fn description(file: &Path) -> Replay {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let table: toml::Table = text.parse().expect("TOML");
    let json = serde_json::to_string(&table).expect("no dates in it");
    Replay::from_json(&json).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn recorded(text: &str) -> Vec<Event> {
    let rows = text.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let last = fields.len() - 1;
        let flow = match last {
            3 => fields[1].parse().expect("a flow"),
            _ => 0,
        };
        let number = fields[last - 1].parse().expect("a packet number");
        let at = fields[0].parse().expect("a time");
        (flow, number, fields[last] == "drop", at)
    });
    rows.collect()
}

fn events(replay: &Replay, rows: Vec<Row>) -> Vec<Event> {
    let trace = &replay.trace;
    let mut events = Vec::new();
    for row in rows {
        let dropped = matches!(row.kind, Kind::Lost | Kind::Refused);
        let (queue, drops) = match dropped {
            true => (
                usize::from(trace.drop_is_queue_row),
                trace.drop_rows as usize,
            ),
            false => (1, 0),
        };
        let event = |dropped| {
            let number = row.number % trace.modulus;
            (row.flow, number, dropped, row.at.as_secs_f64())
        };
        events.extend(std::iter::repeat_n(event(false), queue));
        events.extend(std::iter::repeat_n(event(true), drops));
    }
    events
}

/// Every recorded row has its own row of the run, and no row of the run is left over.
fn compare(name: &str, recorded: &[Event], mut run: Vec<Event>) {
    for (index, want) in recorded.iter().enumerate() {
        let found = run.iter().take(64 + recorded.len()).position(|row| {
            (row.0, row.1, row.2) == (want.0, want.1, want.2)
                && (row.3 - want.3).abs() <= TOLERANCE_S
        });
        let Some(found) = found else {
            let near = &run[..run.len().min(4)];
            panic!(
                "{name}: line {} is {want:?}; the run goes on with {near:?}",
                index + 2
            );
        };
        run.remove(found);
    }
    assert!(run.is_empty(), "{name}: the run has {:?} as well", run[0]);
    assert!(!recorded.is_empty());
}

#[test]
#[cfg_attr(
    not(recorded_traces),
    ignore = "no recorded traces: WAYMARK_REFERENCE does not name their folder"
)]
fn every_recorded_row_has_its_own() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/replay");
    let entries = std::fs::read_dir(folder).expect("the folder of descriptions");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    assert!(files.len() >= 13);
    for file in files {
        let name = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        let path = references().join(format!("{name}.csv"));
        let mut replay = description(&file);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // The simulator's defect shows in none of these traces: they are the same without.
        for phantom_rtt in [true, false] {
            for flow in &mut replay.flows {
                let connection = Arc::make_mut(&mut flow.connection);
                let Profile::Ns2(profile) = &mut connection.profile else {
                    panic!("{name}: traces are of the ns2 profile");
                };
                profile.phantom_rtt = phantom_rtt;
            }
            let rows = replay.run().expect("a path for every flow");
            compare(name, &recorded(&text), events(&replay, rows));
        }
    }
}
