//! The recorded traces of the papers' simulator judge the `ns2` profile: same packets, same times.
//!
//! The files are looked for in `$WAYMARK_REFERENCE`, else in `../shared/reference/ns2` beside the
//! workspace.

#[path = "ns2/network.rs"]
mod network;

use std::path::PathBuf;

use congestion::vegas::Quirks;
use congestion::{Factory, RenoConfig, TahoeConfig, VegasConfig};
use network::{FlowSpec, Kind, LinkSpec, Network, Row};
use transport::tcp::{Config, Connection, Recovery, RtoConfig, Supply};
use units::{Duration, Instant};

/// The files' precision.
const TOLERANCE: Duration = Duration::from_micros(20);

fn seconds(s: f64) -> Instant {
    Instant::from_secs_f64(s)
}

fn folder() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/ns2");
    std::env::var_os("WAYMARK_REFERENCE").map_or_else(|| beside.into(), PathBuf::from)
}

/// The rows of a file, and the number modulo which it writes packet numbers; `None` if there is no
/// such file.
fn read(name: &str) -> Option<(Vec<Row>, u64)> {
    let path = folder().join(format!("{name}.csv"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no recorded trace at {}", path.display());
        return None;
    };
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = header
        .iter()
        .position(|field| field.starts_with("seq_mod_"))
        .expect("a seq_mod column");
    let modulus = header[column]["seq_mod_".len()..]
        .parse()
        .expect("a modulus");
    let rows = lines.map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        Row {
            at: seconds(fields[0].parse().expect("a time")),
            flow: if column == 2 {
                fields[1].parse().expect("a flow")
            } else {
                0
            },
            number: fields[column].parse().expect("a packet number"),
            kind: if fields[column + 1] == "drop" {
                Kind::Drop
            } else {
                Kind::Queue
            },
        }
    });
    Some((rows.collect(), modulus))
}

/// Every recorded row has its own row of the run, and no row of the run is left over.
fn compare(name: &str, run: Vec<Row>) {
    let Some((recorded, modulus)) = read(name) else {
        return;
    };
    let mut run: Vec<Row> = run
        .into_iter()
        .map(|row| Row {
            number: row.number % modulus,
            ..row
        })
        .collect();
    // Rows of one kind stand in time order.
    run.sort_by_key(|row| (row.kind == Kind::Drop, row.at));
    let mut used = vec![false; run.len()];
    let mut first = 0;
    for (index, want) in recorded.iter().enumerate() {
        let matches = |row: &Row| {
            let apart = row.at.since(want.at).max(want.at.since(row.at));
            (row.flow, row.number, row.kind) == (want.flow, want.number, want.kind)
                && apart <= TOLERANCE
        };
        let found = (first..run.len())
            .take(64)
            .find(|&i| !used[i] && matches(&run[i]));
        let Some(found) = found else {
            let near = &run[first.min(run.len())..(first + 4).min(run.len())];
            panic!(
                "{name}: line {} is {want:?}; the run goes on with {near:#?}",
                index + 2
            );
        };
        used[found] = true;
        while used.get(first) == Some(&true) {
            first += 1;
        }
    }
    assert!(
        first == run.len(),
        "{name}: the run has {:?}, the trace ends",
        run[first]
    );
    assert!(!recorded.is_empty());
}

fn duplex(rate_bps: u64, delay_us: u64, limits: [usize; 2]) -> [LinkSpec; 2] {
    limits.map(|limit| LinkSpec {
        rate_bps,
        delay: Duration::from_micros(delay_us),
        limit,
    })
}

/// s1, s2 → r1 → r2 → k1; links 0 to 7 are forward and backward in turn, 6 is the bottleneck.
fn vegas_links(limits: [usize; 2]) -> Vec<LinkSpec> {
    [
        duplex(8_000_000, 100, [50, 50]),
        duplex(8_000_000, 100, [50, 50]),
        duplex(8_000_000, 1, [50, 50]),
        duplex(800_000, 100_000, limits),
    ]
    .concat()
}

fn vegas_flow(source: usize, start: f64, config: Config, algorithm: &dyn Factory) -> FlowSpec {
    let access = 2 * source;
    FlowSpec {
        start: seconds(start),
        receiver: Connection::new(&config.peer(), &RenoConfig {}),
        sender: Connection::new(&config, algorithm),
        forward: vec![access, 4, 6],
        backward: vec![7, 5, access + 1],
    }
}

/// The simulator with its defect, which none of these traces shows: they are the same without.
fn vegas(phantom_rtt: bool) -> VegasConfig {
    VegasConfig {
        quirks: Quirks {
            phantom_rtt,
            ..Quirks::NS2
        },
        ..VegasConfig::default()
    }
}

fn vegas_config(window: u32, max_cwnd: Option<u32>, phase_us: u64) -> Config {
    let base = Config::ns2_trace(Recovery::Vegas);
    let rto = RtoConfig {
        min: Duration::from_millis(1000),
        phase: Duration::from_micros(phase_us),
        ..base.rto
    };
    Config {
        window,
        max_cwnd,
        rto,
        ..base
    }
}

#[test]
fn one_vegas_flow_capped_at_14() {
    for vegas in [vegas(true), vegas(false)] {
        let flow = vegas_flow(0, 1.0, vegas_config(28, Some(14), 2500), &vegas);
        let network = Network::new(&vegas_links([6, 6]), vec![flow], 6, &[]);
        compare("vegas_one_14", network.run(seconds(15.0)));
    }
}

#[test]
fn two_vegas_flows() {
    for vegas in [vegas(true), vegas(false)] {
        let flows = vec![
            vegas_flow(0, 1.0, vegas_config(200, Some(100), 2500), &vegas),
            vegas_flow(1, 0.5, vegas_config(16, None, 2500), &vegas),
        ];
        let network = Network::new(&vegas_links([8, 8]), flows, 6, &[]);
        compare("vegas_two_2", network.run(seconds(20.0)));
    }
}

#[test]
fn a_vegas_flow_loses_packets_to_two_short_reno_flows() {
    let reno = |packets| Config {
        window: 8,
        supply: Supply::Segments(packets),
        recovery: Recovery::Reno,
        ..vegas_config(8, None, 0)
    };
    for vegas in [vegas(true), vegas(false)] {
        let flows = vec![
            vegas_flow(0, 1.0, vegas_config(28, None, 0), &vegas),
            vegas_flow(0, 1.2, reno(12), &RenoConfig {}),
            vegas_flow(0, 1.2, reno(10), &RenoConfig {}),
        ];
        let network = Network::new(&vegas_links([8, 6]), flows, 6, &[]);
        compare("vegas_one_drop", network.run(seconds(6.0)));
    }
}

/// s1 → r1 → k1, the bottleneck traced, some packets lost before it.
fn family(name: &str, lost: &[u64], recovery: Recovery, algorithm: &dyn Factory) {
    let links = [
        duplex(8_000_000, 0, [50, 50]),
        duplex(800_000, 100_000, [8, 8]),
    ]
    .concat();
    let config = Config {
        window: 28,
        ..Config::ns2_trace(recovery)
    };
    let flow = FlowSpec {
        start: seconds(1.0),
        receiver: Connection::new(&config.peer(), &RenoConfig {}),
        sender: Connection::new(&config, algorithm),
        forward: vec![0, 2],
        backward: vec![3, 1],
    };
    compare(
        name,
        Network::new(&links, vec![flow], 2, lost).run(seconds(6.0)),
    );
}

#[test]
fn reno_repairs_one_drop() {
    family("reno_onedrop", &[14], Recovery::Reno, &RenoConfig {});
}

#[test]
fn reno_waits_for_the_timer_after_two_drops() {
    family("reno_twodrops", &[14, 28], Recovery::Reno, &RenoConfig {});
}

#[test]
fn newreno_repairs_one_drop() {
    family("newreno_onedrop", &[14], Recovery::NewReno, &RenoConfig {});
}

#[test]
fn newreno_repairs_two_drops_without_the_timer() {
    family(
        "newreno_twodrops",
        &[14, 28],
        Recovery::NewReno,
        &RenoConfig {},
    );
}

#[test]
fn tahoe_starts_over_after_one_drop() {
    family("tahoe_onedrop", &[14], Recovery::Tahoe, &TahoeConfig {});
}

#[test]
fn tahoe_starts_over_after_two_drops() {
    family(
        "tahoe_twodrops",
        &[14, 28],
        Recovery::Tahoe,
        &TahoeConfig {},
    );
}

#[test]
fn sack_repairs_one_drop() {
    family("sack_onedrop", &[14], Recovery::Sack, &RenoConfig {});
}

#[test]
fn sack_repairs_two_drops_in_one_recovery() {
    family("sack_twodrops", &[14, 28], Recovery::Sack, &RenoConfig {});
}

#[test]
fn fack_repairs_one_drop() {
    family("fack_onedrop", &[14], Recovery::Fack, &TahoeConfig {});
}

#[test]
fn fack_repairs_two_drops() {
    family("fack_twodrops", &[14, 28], Recovery::Fack, &TahoeConfig {});
}
