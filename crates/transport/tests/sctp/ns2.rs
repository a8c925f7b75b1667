//! "Std" compared with ns-2.35's Agent/SCTP: the same chunks on the same paths at the same times.
//!
//! `ns2/*.csv` are runs of `ns2/path.tcl`: when each DATA chunk joined the sender's queue, in seconds since the
//! first, on which path, and its TSN counted from the first.

use crate::network::{Link, Network, addresses, data};
use bytes::Bytes;
use transport::sctp::{Config, Delivery, InitialWindow, PathState, Quirks, State};
use units::Instant;

struct Run<'a> {
    name: &'a str,
    folder: &'a str,
    paths: usize,
    rate_bps: u64,
    delay_ms: u64,
    queue: usize,
    drops: &'a [(u32, usize)],
    /// When the primary path changes, and when the run ends, since the association's start in ns-2.
    change_s: Option<f64>,
    end_s: f64,
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sctp/ns2");

fn recorded(run: &Run<'_>) -> Vec<(f64, usize, u32)> {
    let path = format!("{}/{}.csv", run.folder, run.name);
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap();
        let time = next().parse().unwrap();
        (time, next().parse().unwrap(), next().parse().unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

fn simulated(run: &Run<'_>) -> Vec<(f64, usize, u32)> {
    let config = |end: usize| Config {
        // ns-2.35 takes these of RFC 4960.
        initial_window: InitialWindow::Octets(4380),
        least_packets: 4,
        heartbeat: None,
        quirks: Quirks::NS2,
        ..Config::dahal(addresses(run.paths, end), 7, [end as u8; 32])
    };
    let link = |path: usize| Link {
        delay_ms: run.delay_ms + 3 * path as u64,
        rate_bps: run.rate_bps,
        queue: run.queue,
        ..Link::default()
    };
    let links = (0..run.paths).map(link).collect();
    let mut network = Network::new([config(0), config(1)], links, 1);
    network.data_drops = run.drops.to_vec();
    // ns-2 sends data once all paths are confirmed.
    let confirmed = |n: &Network| {
        let open = n.ends.iter().all(|end| end.state() == State::Established);
        open && n.ends[0]
            .paths()
            .all(|path| path.state == PathState::Active)
    };
    network.run_while(100.0, |n| !confirmed(n));
    let begin = network.now.as_secs_f64();
    let message = Bytes::from(vec![0; 1440]);
    let mut changed = false;
    // From the association's start to its first chunk: three round trips, the last on the longest path.
    let longest_ms = run.delay_ms + 3 * (run.paths - 1) as u64;
    let set_up_s = 0.002_368 + 0.004 * run.delay_ms as f64 + 0.002 * longest_ms as f64;
    let end = Instant::from_secs_f64(begin + run.end_s - set_up_s);
    loop {
        while network.ends[0].queued_octets() < 1 << 16 {
            network.ends[0]
                .write(Delivery::default(), &message)
                .unwrap();
        }
        let change = run.change_s.map(|at| at - set_up_s).filter(|_| !changed);
        let until = change.map_or(end, |at| Instant::from_secs_f64(begin + at));
        if network.step(until) {
            continue;
        }
        if change.is_none() {
            break;
        }
        // ns-2 looks at the new path when the next SACK comes.
        network.ends[0].set_primary(1);
        network.holds = true;
        changed = true;
    }
    let first = Instant::from_secs_f64(begin);
    let sent = data(&network.log).into_iter();
    sent.map(|(at, path, tsn)| (at.since(first).as_secs_f64(), path, tsn))
        .collect()
}

fn compare(run: &Run<'_>) {
    if let Err(difference) = check(run) {
        panic!("{}: {difference}", run.name);
    }
}

fn check(run: &Run<'_>) -> Result<(), String> {
    let (expected, got) = (recorded(run), simulated(run));
    assert!(expected.len() > 20, "{}", run.name);
    for (row, (e, g)) in expected.iter().zip(&got).enumerate() {
        let same = (e.0 - g.0).abs() < 50e-6 && (e.1, e.2) == (g.1, g.2);
        if !same {
            let before = &got[row.saturating_sub(4)..row];
            return Err(format!(
                "row {row}: ns-2 {e:?}, here {g:?}\nbefore: {before:?}"
            ));
        }
    }
    if expected.len().abs_diff(got.len()) > 2 {
        return Err(format!("{} rows for {}", got.len(), expected.len()));
    }
    Ok(())
}

const ONE: Run<'static> = Run {
    name: "",
    folder: FOLDER,
    paths: 1,
    rate_bps: 1_000_000,
    delay_ms: 20,
    queue: 50,
    drops: &[],
    change_s: None,
    end_s: 8.0,
};

#[test]
fn one_path_without_loss() {
    compare(&Run {
        name: "one_path",
        end_s: 8.0,
        ..ONE
    });
}

#[test]
fn one_path_repairs_losses() {
    compare(&Run {
        name: "one_path_losses",
        end_s: 20.0,
        drops: &[
            (9, 1),
            (26, 1),
            (27, 1),
            (74, 1),
            (75, 1),
            (76, 1),
            (77, 1),
            (190, 1),
        ],
        ..ONE
    });
}

#[test]
fn one_path_overflows_its_queue() {
    compare(&Run {
        name: "one_path_full_queue",
        end_s: 30.0,
        queue: 15,
        ..ONE
    });
}

#[test]
fn a_loss_goes_over_the_other_path() {
    compare(&Run {
        name: "two_paths_loss",
        paths: 2,
        end_s: 20.0,
        drops: &[(9, 1)],
        ..ONE
    });
}

#[test]
fn losses_go_over_the_other_path() {
    compare(&Run {
        name: "two_paths_losses",
        paths: 2,
        end_s: 30.0,
        drops: &[
            (9, 1),
            (27, 1),
            (28, 1),
            (77, 1),
            (78, 1),
            (79, 1),
            (80, 1),
            (197, 1),
            (297, 1),
            (298, 1),
            (299, 1),
            (300, 1),
            (301, 1),
            (302, 1),
            (303, 1),
            (304, 1),
            (305, 1),
        ],
        ..ONE
    });
}

#[test]
fn a_full_queue_is_relieved_over_the_other_path() {
    compare(&Run {
        name: "two_paths_full_queue",
        paths: 2,
        end_s: 40.0,
        queue: 15,
        ..ONE
    });
}

#[test]
fn the_primary_path_changes() {
    compare(&Run {
        name: "two_paths_change",
        paths: 2,
        end_s: 20.0,
        change_s: Some(3.0),
        ..ONE
    });
}

#[test]
fn a_lost_window_times_out() {
    compare(&Run {
        name: "two_paths_timeouts",
        paths: 2,
        end_s: 40.0,
        drops: &[
            (37, 1),
            (38, 1),
            (39, 1),
            (40, 1),
            (41, 1),
            (42, 1),
            (43, 1),
            (44, 1),
            (45, 1),
            (46, 1),
            (47, 1),
            (48, 1),
            (49, 1),
            (50, 1),
            (51, 1),
            (52, 1),
            (53, 1),
            (54, 1),
            (55, 1),
            (56, 1),
            (57, 1),
            (58, 1),
            (59, 1),
            (60, 1),
            (61, 1),
            (62, 1),
            (63, 1),
            (64, 1),
            (65, 1),
            (66, 1),
            (67, 1),
            (68, 1),
        ],
        ..ONE
    });
}

/// A share of 1 to 15 % of all packets is lost on every path; the same ones in both.
#[test]
fn random_losses() {
    let folder = std::env::var("SCTP_RUNS").unwrap_or(FOLDER.to_owned());
    let table = std::fs::read_to_string(format!("{folder}/random.csv")).unwrap();
    let mut different = vec![];
    let mut runs = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let loss = |loss: &str| {
            let (tsn, time) = loss.split_once('.').unwrap();
            (tsn.parse().unwrap(), time.parse().unwrap())
        };
        let drops: Vec<(u32, usize)> = fields[6].split_whitespace().map(loss).collect();
        let run = Run {
            name: fields[0],
            folder: &folder,
            paths: number(1) as usize,
            delay_ms: number(2) as u64,
            queue: number(3) as usize,
            change_s: Some(number(4)).filter(|at| *at >= 0.0),
            end_s: number(5),
            drops: &drops,
            ..ONE
        };
        runs += 1;
        if let Err(difference) = check(&run) {
            different.push(format!("{line:.60}…: {difference}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {runs} runs differ:\n{}",
        different.len(),
        different.join("\n")
    );
}
