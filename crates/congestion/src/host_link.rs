//! The prior knowledge that HPCC and PowerTCP need: the base round-trip time of a path, and the rate of the host's
//! link.

use crate::controller::Limits;
use crate::event::AckEvent;
use crate::registry::{Kind, Setting, Settings};
use crate::telemetry::PathRecord;

pub(crate) const BASE_RTT: Setting = Setting {
    name: "base_rtt_s",
    summary: "base round-trip time, s; default: the minimum measured",
    kind: Kind::Number {
        default: None,
        min: 1e-6,
        max: 10.0,
    },
};
pub(crate) const HOST_RATE: Setting = Setting {
    name: "host_rate_bps",
    summary: "rate of the host's link, b/s; default: the minimum known of it and the path",
    kind: Kind::Number {
        default: None,
        min: 1000.0,
        max: 1e13,
    },
};
pub(crate) const FLOWS: Setting = Setting {
    name: "flows",
    summary: "expected number of flows that share a link",
    kind: Kind::Number {
        default: Some(10.0),
        min: 1.0,
        max: 1e6,
    },
};

/// The configured prior knowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLinkConfig {
    /// The base round-trip time, in seconds. `None` means the minimum observed.
    pub base_rtt_s: Option<f64>,
    /// The rate of the host's link, in bits per second. `None` means the minimum of [`Limits::line_bps`] and the link
    /// rates of the path.
    pub host_rate_bps: Option<f64>,
}

impl HostLinkConfig {
    pub(crate) fn of(settings: &Settings) -> Self {
        HostLinkConfig {
            base_rtt_s: settings.number_if_any(BASE_RTT.name),
            host_rate_bps: settings.number_if_any(HOST_RATE.name),
        }
    }
}

/// The configured or measured values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostLink {
    config: HostLinkConfig,
    base_s: Option<f64>,
    /// The rate of the link through which segments leave, in octets per second.
    line_rate: Option<f64>,
    packet_octets: f64,
}

impl HostLink {
    pub(crate) fn new(config: HostLinkConfig, limits: &Limits) -> Self {
        HostLink {
            config,
            base_s: config.base_rtt_s,
            line_rate: limits.line_bps.map(|bps| bps / 8.0),
            packet_octets: f64::from(limits.packet_octets),
        }
    }

    /// Records the round-trip time of an acknowledgement.
    pub(crate) fn measure(&mut self, ack: &AckEvent) {
        if self.config.base_rtt_s.is_none()
            && let Some(rtt) = ack.rtt_s().filter(|rtt| *rtt > 0.0)
        {
            self.base_s = Some(self.base_s.map_or(rtt, |base| base.min(rtt)));
        }
    }

    /// The base round-trip time, in seconds. Positive.
    pub(crate) fn base_s(&self) -> Option<f64> {
        self.base_s
    }

    /// The capacity of the host's link in a base round trip, in segments. If its rate is not configured, it is limited
    /// to that of the slowest link of `path`: in the papers, no link is slower than the hosts'.
    pub(crate) fn full_window(&self, path: Option<&PathRecord>) -> Option<f64> {
        let rate = match self.config.host_rate_bps {
            Some(bps) => bps / 8.0,
            None => {
                let least = path.and_then(PathRecord::least_rate);
                self.line_rate.into_iter().chain(least).reduce(f64::min)?
            }
        };
        Some(rate * self.base_s? / self.packet_octets)
    }

    /// The pacing rate that sends `window` in a base round trip, in segments per second.
    pub(crate) fn pacing_rate(&self, window: f64) -> Option<f64> {
        Some(window / self.base_s?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::HopRecord;
    use crate::telemetry::tests::{hop, path};
    use units::Duration;

    /// 10 ms at 100 Mb/s are 125,000 octets.
    #[test]
    fn what_is_not_given_is_measured() {
        let limits = Limits {
            packet_octets: 1250,
            ..Limits::default()
        };
        let fast = HopRecord {
            rate_kbps: 1_000_000,
            ..HopRecord::default()
        };
        let path = path(&[fast, hop(0, 0, 0)]);
        let mut measured = HostLink::new(HostLinkConfig::default(), &limits);
        assert_eq!(measured.full_window(Some(&path)), None);
        for rtt_ms in [12, 10, 11] {
            measured.measure(&AckEvent {
                rtt: Some(Duration::from_millis(rtt_ms)),
                ..AckEvent::default()
            });
        }
        assert_eq!(measured.base_s(), Some(0.01));
        assert_eq!(measured.full_window(None), None);
        assert_eq!(measured.full_window(Some(&path)), Some(100.0));
        assert_eq!(measured.pacing_rate(100.0), Some(10_000.0));

        let given = HostLinkConfig {
            base_rtt_s: Some(0.02),
            host_rate_bps: Some(2e8),
        };
        let mut given = HostLink::new(given, &limits);
        given.measure(&AckEvent {
            rtt: Some(Duration::from_millis(10)),
            ..AckEvent::default()
        });
        assert_eq!(given.full_window(Some(&path)), Some(400.0));
    }

    /// 10 ms at 80 Mb/s are 100,000 octets; the slowest hop has 100 Mb/s.
    #[test]
    fn the_slower_of_the_hosts_line_and_the_path_counts() {
        let path = path(&[hop(0, 0, 0)]);
        let full_windows = |line_bps| {
            let limits = Limits {
                packet_octets: 1250,
                line_bps: Some(line_bps),
                ..Limits::default()
            };
            let config = HostLinkConfig {
                base_rtt_s: Some(0.01),
                host_rate_bps: None,
            };
            let link = HostLink::new(config, &limits);
            [link.full_window(None), link.full_window(Some(&path))]
        };
        assert_eq!(full_windows(8e7), [Some(80.0), Some(80.0)]);
        assert_eq!(full_windows(1e9), [Some(1000.0), Some(100.0)]);
    }
}
