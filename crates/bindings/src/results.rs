//! Converts the results of a run to dictionaries and numpy arrays.

use netsim::losses::{Judged, Truth};
use netsim::record::{AssociationRecord, AssociationTrace, FlowRecord, LineRecord};
use netsim::results::{
    CounterRecord, DirectCounterRecord, PortRecord, RegisterRecord, Results, Samples, SwitchRecord,
    Totals,
};
use netsim::trace::{Labels, Trace};
use netsim::truth::Comparison;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Creates a dictionary with these keys and values.
macro_rules! dict {
    ($py:expr, { $($key:literal: $value:expr),* $(,)? }) => {{
        let dict = PyDict::new($py);
        $(dict.set_item($key, $value)?;)*
        dict
    }};
}

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

/// `Results` of `_core.pyi`.
pub fn to_dict(py: Python<'_>, results: Results, sample_s: f64) -> Dict<'_> {
    let sample_ns = sample_s * 1e9;
    let end_ns = results.end.as_nanos() as f64;
    let widths: Vec<f64> = results
        .time_s
        .iter()
        .map(|begin| (end_ns - begin * 1e9).clamp(1.0, sample_ns))
        .collect();
    Ok(dict!(py, {
        "name": results.name,
        "seed": results.seed,
        "end_s": results.end.as_secs_f64(),
        "sample_s": sample_s,
        "time_s": results.time_s.into_pyarray(py),
        "flows": named(py, results.flows, |r| flow(py, r))?,
        "associations": named(py, results.associations, |r| association(py, r))?,
        "sources": named(py, results.sources, |r| flow(py, r))?,
        "lines": named(py, results.lines, |r| line(py, r, &widths))?,
        "switches": named(py, results.switches, |r| switch(py, r))?,
        "check_aqt": results.check_aqt.map(|c| check(py, c)).transpose()?,
        "check_ci": results.check_ci.map(|c| check(py, c)).transpose()?,
        "totals": totals(py, results.totals)?,
    }))
}

fn named<'py, T>(
    py: Python<'py>,
    records: Vec<(String, T)>,
    mut one: impl FnMut(T) -> Dict<'py>,
) -> Dict<'py> {
    let dict = PyDict::new(py);
    for (name, record) in records {
        dict.set_item(name, one(record)?)?;
    }
    Ok(dict)
}

fn flow(py: Python<'_>, record: FlowRecord) -> Dict<'_> {
    Ok(dict!(py, {
        "sent_packets": record.sent_packets.into_pyarray(py),
        "resent_packets": record.resent_packets.into_pyarray(py),
        "lost_packets": record.lost_packets.into_pyarray(py),
        "delivered_packets": record.delivered_packets.into_pyarray(py),
        "delivered_octets": record.delivered_octets.into_pyarray(py),
        "trimmed_packets": record.trimmed_packets.into_pyarray(py),
        "goodput_octets": record.goodput_octets.into_pyarray(py),
        "packet_octets": dict!(py, {
            "link": record.packet.link,
            "feedback": record.packet.feedback,
            "payload": record.packet.payload,
        }),
        "timeouts": record.timeouts,
        "reported_marks": record.reported_marks,
        "finished_s": record.finished.map(|at| at.as_secs_f64()),
        "verdicts": record.judged.map(|j| judged(py, j)).transpose()?,
        "trace": record.trace.map(|t| trace(py, *t)).transpose()?,
    }))
}

/// `EndedFlows` of `_core.pyi`: flows with their numbers, counted over the whole run.
pub fn ended<'py>(py: Python<'py>, flows: &[(usize, FlowRecord)]) -> Dict<'py> {
    let column = |of: fn(&FlowRecord) -> &[u64]| {
        let totals = flows.iter().map(|(_, record)| of(record).iter().sum());
        totals.collect::<Vec<u64>>().into_pyarray(py)
    };
    let numbers = flows.iter().map(|(number, _)| *number as u64);
    let finished = flows.iter().map(|(_, record)| record.finished);
    let finished = finished.map(|at| at.map_or(f64::NAN, |at| at.as_secs_f64()));
    let timeouts = flows.iter().map(|(_, record)| record.timeouts);
    let packets = flows.iter().map(|(_, record)| record.packet);
    Ok(dict!(py, {
        "number": numbers.collect::<Vec<_>>().into_pyarray(py),
        "finished_s": finished.collect::<Vec<_>>().into_pyarray(py),
        "sent_packets": column(|record| &record.sent_packets),
        "resent_packets": column(|record| &record.resent_packets),
        "lost_packets": column(|record| &record.lost_packets),
        "trimmed_packets": column(|record| &record.trimmed_packets),
        "timeouts": timeouts.collect::<Vec<_>>().into_pyarray(py),
        "packet_octets": packets.clone().map(|packet| packet.link).collect::<Vec<_>>().into_pyarray(py),
        "payload_octets": packets.map(|packet| packet.payload).collect::<Vec<_>>().into_pyarray(py),
    }))
}

fn association(py: Python<'_>, record: AssociationRecord) -> Dict<'_> {
    let on_path = record.sent_on_path.into_iter();
    let sent_on_path: Vec<_> = on_path.map(|sent| sent.into_pyarray(py)).collect();
    Ok(dict!(py, {
        "flow": flow(py, record.flow)?,
        "sent_on_path": sent_on_path,
        "delay_ns": record.delay_ns.into_pyarray(py),
        "delay_chunks": record.delay_chunks.into_pyarray(py),
        "rtt_s": record.rtt_ns as f64 / 1e9,
        "rtt_samples": record.rtt_samples,
        "acked_chunks": record.acked_chunks,
        "latency_s": record.latency_ns as f64 / 1e9,
        "latency_s_squared": record.latency_ns_squared as f64 / 1e18,
        "switches": record.switches,
        "trace": record.trace.map(|t| association_trace(py, t)).transpose()?,
    }))
}

fn association_trace(py: Python<'_>, trace: AssociationTrace) -> Dict<'_> {
    Ok(dict!(py, {
        "time_s": trace.time_s.into_pyarray(py),
        "path": trace.path.into_pyarray(py),
        "cwnd_octets": trace.cwnd_octets.into_pyarray(py),
        "ssthresh_octets": trace.ssthresh_octets.into_pyarray(py),
        "outstanding_octets": trace.outstanding_octets.into_pyarray(py),
        "rtt_s": trace.rtt_s.into_pyarray(py),
        "delay_time_s": trace.delay_time_s.into_pyarray(py),
        "delay_s": trace.delay_s.into_pyarray(py),
    }))
}

fn judged(py: Python<'_>, judged: Judged) -> Dict<'_> {
    Ok(dict!(py, {
        "random": truth(py, judged.random)?,
        "congestion": truth(py, judged.congestion)?,
    }))
}

fn truth(py: Python<'_>, truth: Truth) -> Dict<'_> {
    Ok(dict!(py, {
        "link": truth.link,
        "queue": truth.queue,
        "none": truth.none,
    }))
}

pub(crate) fn trace(py: Python<'_>, trace: Trace) -> Dict<'_> {
    Ok(dict!(py, {
        "time_s": trace.time_s.into_pyarray(py),
        "change": labels(py, trace.change)?,
        "phase": labels(py, trace.phase)?,
        "cwnd": trace.cwnd.into_pyarray(py),
        "ssthresh": trace.ssthresh.into_pyarray(py),
        "in_flight": trace.in_flight.into_pyarray(py),
        "acked": trace.acked.into_pyarray(py),
        "next": trace.next.into_pyarray(py),
        "rtt_s": trace.rtt_s.into_pyarray(py),
        "base_rtt_s": trace.base_rtt_s.into_pyarray(py),
        "diff": trace.diff.into_pyarray(py),
        "aqt_forward_s": trace.aqt_forward_s.into_pyarray(py),
        "aqt_backward_s": trace.aqt_backward_s.into_pyarray(py),
        "mrai": trace.mrai.into_pyarray(py),
        "ci": trace.ci.into_pyarray(py),
        "random_losses": trace.random_losses.into_pyarray(py),
        "congestion_losses": trace.congestion_losses.into_pyarray(py),
    }))
}

fn labels(py: Python<'_>, labels: Labels) -> Dict<'_> {
    Ok(dict!(py, {
        "names": labels.names,
        "codes": labels.codes.into_pyarray(py),
    }))
}

/// `widths` are those of the bins, in nanoseconds. The last bin may be shorter because the run ends
/// in it.
fn line<'py>(py: Python<'py>, record: LineRecord, widths: &[f64]) -> Dict<'py> {
    let waiting = record.waiting_ns.iter().zip(widths);
    let mean_waiting: Vec<f64> = waiting.map(|(&ns, width)| ns as f64 / width).collect();
    Ok(dict!(py, {
        "sent_packets": record.sent_packets.into_pyarray(py),
        "sent_octets": record.sent_octets.into_pyarray(py),
        "mean_waiting": mean_waiting.into_pyarray(py),
        "max_waiting": record.max_waiting.into_pyarray(py),
        "dropped_packets": record.dropped_packets.into_pyarray(py),
        "lost_packets": record.lost_packets.into_pyarray(py),
    }))
}

fn switch(py: Python<'_>, record: SwitchRecord) -> Dict<'_> {
    let dropped = PyDict::new(py);
    for (cause, column) in record.dropped_packets {
        dropped.set_item(cause, column.into_pyarray(py))?;
    }
    let ports = PyDict::new(py);
    for (number, record) in record.ports {
        ports.set_item(number, port(py, record)?)?;
    }
    Ok(dict!(py, {
        "program": record.program,
        "handled_packets": record.handled_packets,
        "drops": counts(py, record.drops)?,
        "dropped_packets": dropped,
        "cut_loops": record.cut_loops,
        "panic": record.panic,
        "snoop_resent": record.snoop_resent,
        "snoop_suppressed": record.snoop_suppressed,
        "ports": ports,
        "counters": named(py, record.counters, |c| counter(py, c))?,
        "direct_counters": named(py, record.direct_counters, |c| direct_counter(py, c))?,
        "registers": named(py, record.registers, |r| register(py, r))?,
    }))
}

fn counts(py: Python<'_>, by_cause: impl IntoIterator<Item = (&'static str, u64)>) -> Dict<'_> {
    let dict = PyDict::new(py);
    for (cause, count) in by_cause {
        dict.set_item(cause, count)?;
    }
    Ok(dict)
}

fn port(py: Python<'_>, record: PortRecord) -> Dict<'_> {
    let stats = record.stats;
    let drops = stats.drops.by_cause();
    Ok(dict!(py, {
        "line": record.line,
        "rx_packets": stats.rx_packets,
        "rx_octets": stats.rx_octets,
        "tx_packets": stats.tx_packets,
        "tx_octets": stats.tx_octets,
        "waiting": stats.waiting,
        "drops": counts(py, drops.map(|(cause, count)| (cause.name(), count)))?,
    }))
}

fn counter(py: Python<'_>, record: CounterRecord) -> Dict<'_> {
    Ok(dict!(py, {
        "size": record.size,
        "index": record.index.into_pyarray(py),
        "packets": record.packets.into_pyarray(py),
        "octets": record.octets.into_pyarray(py),
        "samples": record.samples.map(|s| samples(py, s)).transpose()?,
    }))
}

fn direct_counter(py: Python<'_>, record: DirectCounterRecord) -> Dict<'_> {
    let entries: Vec<_> = record
        .entries
        .into_iter()
        .map(|entry| {
            let matches = PyDict::new(py);
            for (key, value) in entry.matches {
                matches.set_item(key, value)?;
            }
            Ok(dict!(py, {"matches": matches, "priority": entry.priority}))
        })
        .collect::<PyResult<_>>()?;
    Ok(dict!(py, {
        "table": record.table,
        "entries": entries,
        "packets": record.packets.into_pyarray(py),
        "octets": record.octets.into_pyarray(py),
        "samples": record.samples.map(|s| samples(py, s)).transpose()?,
    }))
}

fn register(py: Python<'_>, record: RegisterRecord) -> Dict<'_> {
    Ok(dict!(py, {
        "size": record.size,
        "width": record.width,
        "signed": record.signed,
        "index": record.index.into_pyarray(py),
        "words": record.words.into_pyarray(py),
        "samples": record.samples.map(|s| samples(py, s)).transpose()?,
    }))
}

fn samples(py: Python<'_>, samples: Samples) -> Dict<'_> {
    Ok(dict!(py, {
        "every_s": samples.every.as_secs_f64(),
        "count": samples.count,
        "sample": samples.sample.into_pyarray(py),
        "index": samples.index.into_pyarray(py),
        "low": samples.low.into_pyarray(py),
        "high": samples.high.into_pyarray(py),
    }))
}

fn check(py: Python<'_>, comparison: Comparison) -> Dict<'_> {
    Ok(dict!(py, {
        "compared": comparison.compared,
        "mismatches": comparison.mismatches,
        "first": comparison.first,
    }))
}

fn totals(py: Python<'_>, totals: Totals) -> Dict<'_> {
    Ok(dict!(py, {
        "events": totals.events,
        "packets": totals.packets,
        "packet_hops": totals.packet_hops,
        "switch_packets": totals.switch_packets,
        "stray_packets": totals.stray_packets,
    }))
}
