//! The settings of experiments.

use units::Duration;

use super::config::{Clock, Config, Profile, Recovery, RtoConfig, Sizes, Supply};
use super::mark::Marks;

impl Config {
    /// The settings of the recorded traces: tick 0.1 s, no RFC 2988, minimum RTO 0, initial window
    /// 1, no limited transmit.
    pub fn ns2_trace(recovery: Recovery) -> Self {
        Config {
            initial_window: 1,
            limited_transmit: false,
            rto: RtoConfig {
                tick: Duration::from_millis(100),
                min: Duration::ZERO,
                rfc2988: false,
                ..RtoConfig::STOCK
            },
            ..Config::stock(recovery)
        }
    }

    /// The simulator's defaults at the time of Kurata's, and of Lien and Chung's experiments.
    pub fn stock(recovery: Recovery) -> Self {
        Config {
            profile: Profile::Ns2,
            recovery,
            window: 1000,
            initial_window: 2,
            max_cwnd: None,
            rto: RtoConfig::STOCK,
            limited_transmit: true,
            bugfix: false,
            syn: false,
            stale_send_counts: true,
            floating_rtt: true,
            sizes: Sizes {
                data_octets: 1000,
                ack_octets: 40,
            },
            sack_blocks: match recovery {
                Recovery::Sack | Recovery::Fack => 3,
                _ => 0,
            },
            aqt: false,
            avbw: false,
            marks: Marks::default(),
            ci: false,
            // The simulator's forward acknowledgement measures round-trip times with them.
            timestamps: recovery == Recovery::Fack,
            clock: Clock::TRUE,
            supply: Supply::Endless,
            local_start: 0,
            remote_start: 0,
            trace: false,
        }
    }

    /// Chan's experiments: [`Config::stock`] with initial window 1, minimum RTO 1 s, and no limited
    /// transmit.
    pub fn chan(recovery: Recovery) -> Self {
        Config {
            initial_window: 1,
            limited_transmit: false,
            rto: RtoConfig {
                min: Duration::from_millis(1000),
                ..RtoConfig::STOCK
            },
            ..Config::stock(recovery)
        }
    }

    /// Srijith's experiments: tick 0.1 s, minimum RTO 0, no RFC 2988, no limited transmit.
    pub fn srijith(recovery: Recovery) -> Self {
        Config {
            initial_window: 2,
            ..Config::ns2_trace(recovery)
        }
    }
}

impl RtoConfig {
    /// Tick 10 ms, 3 s before the first sample, 0.2 s to 60 s, RFC 2988.
    pub const STOCK: RtoConfig = RtoConfig {
        tick: Duration::from_millis(10),
        phase: Duration::ZERO,
        initial: Duration::from_millis(3000),
        min: Duration::from_millis(200),
        max: Duration::from_millis(60_000),
        rfc2988: true,
    };
}
