//! Flows and sources.

use super::{Checked, MAX_SECONDS, between, fail, not_negative, packet, positive, unknown};
use crate::flow::option_octets;
use crate::scenario::{Control, Flow, Link, Profile, ProfileKind, Scenario, Source, SourceKind};
use congestion::Mark;
use transport::tcp::Options;

/// Packets of a source stay at least a nanosecond apart.
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

/// What a source's settings must satisfy whatever network it is in.
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

/// Two times by name, the second, if there is one, not before the first.
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

/// What a flow's settings must satisfy whatever network it is in.
pub(crate) fn check_settings(path: &str, flow: &Flow) -> Checked {
    check_times(path, flow.start_s, flow.stop_s)?;
    if let Control::Compiled(settings) = &flow.control {
        let control = settings.control();
        let missing = control.missing_in_ns2();
        if let Some(missing) = missing.filter(|_| flow.profile.kind == ProfileKind::Ns2) {
            return fail(
                format!("{path}.control.name"),
                format!(
                    "{} needs {missing}, which the ns-2 profile has not",
                    control.label
                ),
            );
        }
        if control.reads(Mark::Aqt) && flow.aqt == Some(false) {
            let message = format!("{} needs the AQT option", control.label);
            return fail(format!("{path}.aqt"), message);
        }
    }
    let tracing = &flow.tracing;
    let span = (("from_s", tracing.from_s), ("to_s", tracing.to_s));
    check_span(&format!("{path}.tracing"), span.0, span.1)?;
    not_negative(format!("{path}.tracing.every_s"), tracing.every_s)?;
    if flow.segments == Some(0) {
        return fail(format!("{path}.segments"), "must be at least 1 packet");
    }
    check_profile(&format!("{path}.profile"), &flow.profile)?;
    check_options(path, flow)
}

/// IPv4 has room for the options, and a full packet of the ns-2 profile for data beside them.
fn check_options(path: &str, flow: &Flow) -> Checked {
    let octets = match option_octets(flow) {
        Ok(octets) => octets,
        Err(error) => return fail(format!("{path}.marks"), error.to_string()),
    };
    let most = Options::MAX as u32;
    if octets > most {
        let message =
            format!("with AQT and AVBW-S, {octets} octets of IPv4 options; room for {most}");
        return fail(format!("{path}.marks"), message);
    }
    let headers = HEADER_OCTETS + octets;
    let packet = flow.profile.packet_octets;
    if flow.profile.kind == ProfileKind::Ns2 && packet <= headers {
        let message = format!("{packet} octets leave no room for data: {headers} are headers");
        return fail(format!("{path}.profile.packet_octets"), message);
    }
    Ok(())
}

/// IPv4 and TCP headers without options.
const HEADER_OCTETS: u32 = 40;

fn check_profile(path: &str, p: &Profile) -> Checked {
    let at = |name: &str| format!("{path}.{name}");
    if let Some(initial) = p.initial_rto_s {
        positive(at("initial_rto_s"), initial)?;
    }
    not_negative(at("min_rto_s"), p.min_rto_s)?;
    between(at("window"), p.window, 1, 1 << 24)?;
    packet(at("packet_octets"), p.packet_octets)?;
    if p.kind == ProfileKind::Modern {
        return check_modern(path, p);
    }
    positive(at("tick_s"), p.tick_s)?;
    if !(0.0..p.tick_s).contains(&p.phase_s) {
        return fail(at("phase_s"), "must be within [0, tick_s)");
    }
    between(at("initial_window"), p.initial_window.unwrap_or(2), 1, 2)?;
    packet(at("ack_octets"), p.ack_octets)
}

/// A full packet of the modern profile has at least this much room beside all options.
const MIN_MODERN_OCTETS: u32 = 128;
/// The largest receive window (RFC 7323, §2.3), in octets.
const MAX_WINDOW_OCTETS: u64 = 65_535 << 14;

fn check_modern(path: &str, p: &Profile) -> Checked {
    let at = |name: &str| format!("{path}.{name}");
    not_negative(at("delayed_ack_s"), p.delayed_ack_s)?;
    between(
        at("initial_window"),
        p.initial_window.unwrap_or(10),
        1,
        1000,
    )?;
    between(
        at("packet_octets"),
        p.packet_octets,
        MIN_MODERN_OCTETS,
        65_535,
    )?;
    if u64::from(p.window) * u64::from(p.packet_octets) > MAX_WINDOW_OCTETS {
        let most = MAX_WINDOW_OCTETS / u64::from(p.packet_octets);
        return fail(
            at("window"),
            format!("must be at most {most}: a window has 2^30 octets"),
        );
    }
    let stock = Profile::default();
    let foreign = [
        ("bugfix", p.bugfix != stock.bugfix),
        ("syn", p.syn != stock.syn),
        ("phantom_rtt", p.phantom_rtt != stock.phantom_rtt),
        ("phase_s", p.phase_s != stock.phase_s),
    ];
    match foreign.iter().find(|(_, given)| *given) {
        Some((name, _)) => fail(at(name), "the modern profile has none"),
        None => Ok(()),
    }
}
