//! Flows and sources.

use super::{Checked, fail, unknown};
use crate::scenario::{Flow, Link, Scenario, Source, SourceKind};
use tcp_settings::check::{MAX_SECONDS, not_negative, packet, positive};

/// Packets of a source are at least a nanosecond apart.
const MAX_SOURCE_BPS: f64 = 1e11;

impl Scenario {
    pub(super) fn check_flow(&self, path: &str, flow: &Flow) -> Checked {
        self.check_pair(path, &flow.from, &flow.to)?;
        check_settings(path, flow)
    }

    pub(super) fn check_source(&self, path: &str, source: &Source) -> Checked {
        self.check_pair(path, &source.from, &source.to)?;
        check_source_settings(path, source)
    }

    pub(super) fn check_pair(&self, path: &str, from: &str, to: &str) -> Checked {
        for (field, name) in [("from", from), ("to", to)] {
            let path = format!("{path}.{field}");
            if !self.hosts.contains_key(name) {
                return unknown(path, "host", name, self.hosts.keys());
            }
            let linked = |l: &Link| l.a.node == name || l.b.node == name;
            if !self.links.iter().any(linked) {
                return fail(path, format!("no link reaches host {name:?}"));
            }
        }
        if from == to {
            return fail(format!("{path}.to"), format!("{to:?} is the sender itself"));
        }
        Ok(())
    }
}

/// Checks the settings of a source that do not depend on the network.
pub(crate) fn check_source_settings(path: &str, source: &Source) -> Checked {
    check_times(path, source.start_s, source.stop_s)?;
    if !(source.rate_bps > 0.0 && source.rate_bps <= MAX_SOURCE_BPS) {
        let message = format!("{} is not within 0 to {MAX_SOURCE_BPS}", source.rate_bps);
        return fail(format!("{path}.rate_bps"), message);
    }
    packet(format!("{path}.packet_octets"), source.packet_octets)?;
    let given = [
        ("mean_on_s", source.mean_on_s),
        ("mean_off_s", source.mean_off_s),
        ("mean_rate_bps", source.mean_rate_bps),
        ("shape", source.shape),
    ];
    for (name, _) in given.iter().filter(|(_, value)| value.is_some()) {
        let fits = match source.kind {
            SourceKind::Cbr => false,
            SourceKind::Exponential => *name != "shape",
            SourceKind::Pareto => true,
        };
        if !fits {
            let message = format!("a source of kind {:?} has none", source.kind);
            return fail(format!("{path}.{name}"), message.to_lowercase());
        }
    }
    if source.kind == SourceKind::Cbr {
        return Ok(());
    }
    match source.mean_on_s {
        Some(on) => positive(format!("{path}.mean_on_s"), on)?,
        None => return fail(format!("{path}.mean_on_s"), "is missing"),
    }
    match (source.mean_off_s, source.mean_rate_bps) {
        (Some(off), None) => not_negative(format!("{path}.mean_off_s"), off)?,
        (None, Some(rate)) => {
            if !(rate > 0.0 && rate <= source.rate_bps) {
                let message = format!("must be above 0 and at most {}", source.rate_bps);
                return fail(format!("{path}.mean_rate_bps"), message);
            }
        }
        _ => {
            let message = "expected one of mean_off_s and mean_rate_bps";
            return fail(format!("{path}.mean_off_s"), message);
        }
    }
    match (source.kind, source.shape) {
        (SourceKind::Pareto, Some(shape)) if shape > 1.0 && shape.is_finite() => Ok(()),
        (SourceKind::Pareto, _) => fail(format!("{path}.shape"), "must be a number above 1"),
        _ => Ok(()),
    }
}

pub(super) fn check_times(path: &str, start_s: f64, stop_s: Option<f64>) -> Checked {
    check_span(path, ("start_s", start_s), ("stop_s", stop_s))
}

/// Checks two times, given with their names. The second, if there is one, must not be before the
/// first.
fn check_span(path: &str, from: (&str, f64), to: (&str, Option<f64>)) -> Checked {
    let ((first, from_s), (last, to_s)) = (from, to);
    not_negative(format!("{path}.{first}"), from_s)?;
    match to_s {
        Some(to_s) if !(to_s >= from_s && to_s <= MAX_SECONDS) => fail(
            format!("{path}.{last}"),
            format!("{to_s} s is not after {first}, {from_s} s"),
        ),
        _ => Ok(()),
    }
}

/// Checks the settings of a flow that do not depend on the network.
pub(crate) fn check_settings(path: &str, flow: &Flow) -> Checked {
    check_times(path, flow.start_s, flow.stop_s)?;
    let tracing = &flow.tracing;
    let span = (("from_s", tracing.from_s), ("to_s", tracing.to_s));
    check_span(&format!("{path}.tracing"), span.0, span.1)?;
    not_negative(format!("{path}.tracing.every_s"), tracing.every_s)?;
    if flow.segments == Some(0) {
        return fail(format!("{path}.segments"), "must be at least 1 packet");
    }
    flow.connection.check(&format!("{path}.connection"))
}
