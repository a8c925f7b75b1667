//! All settings of a connection, and what they make.

use crate::check::{Checked, fail};
use crate::control::Controls;
use crate::mark::laid_out;
use crate::{Control, Csig, DataError, EcnName, Mark, ModernProfile, Ns2Profile, Profile, read};
use congestion::{Factory, Need, Rules};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use transport::tcp::{
    Aqt, Avbw, Config, MarkError, Marks, Options, RtoConfig, Segment, Sizes, Supply, modern,
};
use units::Duration;

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The congestion control.
    pub control: Control,
    /// The rest of the transport.
    #[serde(default)]
    pub profile: Profile,
    /// Whether data and acknowledgements carry the AQT option; unset: as the congestion control needs.
    #[serde(default)]
    pub aqt: Option<bool>,
    /// Whether data is marked capable of congestion indication (ECN field 0b10), and marks are
    /// echoed; with a congestion control that reads CI, they are in any case.
    #[serde(default)]
    pub ci: bool,
    /// Whether packets carry the AVBW-S option; unset: as the congestion control needs.
    #[serde(default)]
    pub avbw: Option<bool>,
    /// The quantiser of CSIG's hops. With a congestion control that reads CSIG, data carries tags.
    #[serde(default)]
    pub csig: Csig,
    /// Marks that data and acknowledgements carry besides AQT and AVBW-S.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Whether packets carry timestamps (RFC 7323) in the ns-2 profile; unset: as the congestion control needs.
    #[serde(default)]
    pub timestamps: Option<bool>,
}

/// IPv4 and TCP headers without options.
const HEADER_OCTETS: u32 = 40;

impl Settings {
    /// Reads settings from JSON and checks them; `path` is their place for messages.
    ///
    /// # Errors
    /// Names the place in the data, what is wrong there, and what is valid.
    pub fn from_json(path: &str, text: &str) -> Result<Self, DataError> {
        let settings: Settings = read(text).map_err(|error| error.below(path))?;
        settings.check(path)?;
        Ok(settings)
    }

    /// Checks ranges, and that the profile has what the congestion control needs.
    ///
    /// # Errors
    /// The first mistake, with its place below `path` and what is valid.
    pub fn check(&self, path: &str) -> Checked {
        if let Control::Compiled(settings) = &self.control {
            let control = settings.control();
            let missing = control.missing_in_ns2();
            if let (Profile::Ns2(_), Some(missing)) = (&self.profile, missing) {
                let message = format!(
                    "{} needs {missing}, which the ns-2 profile does not have; valid: a modern profile",
                    control.label
                );
                return fail(format!("{path}.control.name"), message);
            }
            if control.reads(congestion::Mark::Aqt) && self.aqt == Some(false) {
                let message = format!("{} needs the AQT option", control.label);
                return fail(format!("{path}.aqt"), message);
            }
        }
        self.profile.check(&format!("{path}.profile"))?;
        self.csig.check(&format!("{path}.csig"))?;
        self.check_options(path)
    }

    /// IPv4 has room for the options, and a full packet has room for data in addition to them and in-band telemetry.
    fn check_options(&self, path: &str) -> Checked {
        let octets = match self.option_octets() {
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
        match &self.profile {
            Profile::Ns2(ns2) if ns2.packet_octets <= headers => {
                let packet = ns2.packet_octets;
                let message =
                    format!("{packet} octets leave no room for data: {headers} are headers");
                fail(format!("{path}.profile.ns2.packet_octets"), message)
            }
            Profile::Modern(profile) => match self.modern(profile).validate() {
                Err(modern::ConfigError::Mtu { mtu, smallest }) => {
                    let message = format!(
                        "{mtu} is not within {smallest} to 65535: full packets have room for in-band telemetry"
                    );
                    fail(format!("{path}.profile.modern.packet_octets"), message)
                }
                Err(error) => fail(format!("{path}.profile.modern"), error.to_string()),
                Ok(()) => Ok(()),
            },
            Profile::Ns2(_) => Ok(()),
        }
    }

    /// What makes the congestion control, a compiled one or one of `controls`.
    ///
    /// # Errors
    /// Below `path`: a custom control that is not among `controls`.
    pub fn factory(&self, controls: &Controls, path: &str) -> Result<Arc<dyn Factory>, DataError> {
        match &self.control {
            Control::Compiled(settings) => Ok(settings.factory(self.rules()).into()),
            Control::Custom(custom) => custom.find(controls, path),
        }
    }

    fn rules(&self) -> Rules {
        match &self.profile {
            Profile::Ns2(ns2) => Rules {
                modern: false,
                phantom_rtt: ns2.phantom_rtt,
                exact_halving: ns2.exact_halving,
                fixed_point: false,
            },
            Profile::Modern(_) => Rules {
                modern: true,
                phantom_rtt: false,
                exact_halving: false,
                fixed_point: false,
            },
        }
    }

    /// Whether packets carry the AQT option.
    pub fn carries_aqt(&self) -> bool {
        self.aqt
            .unwrap_or(self.control.reads(congestion::Mark::Aqt))
    }

    /// Whether data is marked capable of congestion indication.
    pub fn carries_ci(&self) -> bool {
        self.ci || self.control.reads(congestion::Mark::Ci)
    }

    fn carries_avbw(&self) -> bool {
        self.avbw
            .unwrap_or(self.control.reads(congestion::Mark::Avbw))
    }

    /// Octets of the IPv4 options that packets carry.
    fn option_octets(&self) -> Result<u32, MarkError> {
        let data = Segment {
            aqt: self.carries_aqt().then_some(Aqt::default()),
            avbw: self.carries_avbw().then_some(Avbw::UNWRITTEN),
            options: laid_out(&self.marks)?.blank(),
            ..Segment::default()
        };
        Ok(data.feedback_octets())
    }

    fn marks(&self) -> Marks {
        laid_out(&self.marks).expect("checked settings have valid marks")
    }

    /// What a sender is set up with whose `profile` this is: data without end, nothing traced.
    pub fn ns2(&self, profile: &Ns2Profile) -> Config {
        let p = profile;
        let seconds = Duration::from_secs_f64;
        Config {
            window: p.window,
            initial_window: p.initial_window,
            max_cwnd: p.max_cwnd,
            rto: RtoConfig {
                tick: seconds(p.tick_s),
                phase: seconds(p.phase_s),
                initial: seconds(p.initial_rto_s),
                min: seconds(p.min_rto_s),
                rfc2988: p.rfc2988,
                ..RtoConfig::STOCK
            },
            limited_transmit: p.limited_transmit,
            bugfix: p.bugfix,
            syn: p.syn,
            stale_send_counts: p.stale_send_counts,
            floating_rtt: p.floating_rtt,
            sizes: Sizes {
                data_octets: p.packet_octets,
                ack_octets: p.ack_octets,
            },
            aqt: self.carries_aqt(),
            avbw: self.carries_avbw(),
            marks: self.marks(),
            ci: self.carries_ci(),
            timestamps: self
                .timestamps
                .unwrap_or(self.control.needs(Need::Timestamps)),
            supply: Supply::Endless,
            trace: false,
            ..Config::stock(self.control.recovery())
        }
    }

    /// What both ends are set up with whose `profile` this is: real octets, nothing traced.
    pub fn modern(&self, profile: &ModernProfile) -> modern::Config {
        let p = profile;
        let seconds = Duration::from_secs_f64;
        let stock = modern::Config::default();
        let mtu = u16::try_from(p.packet_octets).unwrap_or(u16::MAX);
        let ecn = match p.ecn {
            _ if self.carries_ci() => modern::EcnMode::Indication,
            _ if self.control.needs(Need::L4s) => modern::EcnMode::L4s,
            _ if self.control.needs(Need::Ecn) => modern::EcnMode::Accurate,
            EcnName::Off => modern::EcnMode::Off,
            EcnName::Classic => modern::EcnMode::Classic,
            EcnName::Accurate => modern::EcnMode::Accurate,
        };
        let rto = modern::RtoBounds {
            initial: seconds(p.initial_rto_s),
            min: seconds(p.min_rto_s).max(Duration::from_nanos(1)),
            ..stock.rto
        };
        modern::Config {
            mtu,
            initial_window: p.initial_window,
            max_cwnd: p.max_cwnd,
            receive_buffer: p.window as usize * usize::from(mtu),
            rto: modern::RtoBounds {
                max: rto.max.max(rto.min).max(rto.initial),
                ..rto
            },
            delayed_ack: Some(seconds(p.delayed_ack_s))
                .filter(|delay| *delay > Duration::ZERO && !self.control.needs(Need::PromptAcks)),
            timestamps: modern::Stamps::Micros,
            ecn,
            ecn_option: p.ecn_option,
            trimming: self.control.needs(Need::Trimming),
            aqt: self.carries_aqt(),
            avbw: self.carries_avbw(),
            csig: (self.control.reads(congestion::Mark::Csig)).then(|| self.csig.bands()),
            tcp_int: self.control.reads(congestion::Mark::TcpInt),
            marks: self.marks(),
            int: self.control.reads(congestion::Mark::Int),
            pacing: p.pacing,
            elided: false,
            trace: false,
            ..stock
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_the_place_and_what_is_valid() {
        let cases = [
            (
                r#"{"control": {"name": "reno"}, "profile": {"modrn": {}}}"#,
                "flow.profile: found \"modrn\"; valid: ns2, modern",
            ),
            (
                r#"{"control": {"name": "reno"}, "profile": {"modern": {"tick_s": 0.1}}}"#,
                "flow.profile.modern.tick_s: unknown field `tick_s`; valid: window, ",
            ),
            (
                r#"{"control": {"name": "reno"}, "profile": {"ns2": {"pacing": true}}}"#,
                "flow.profile.ns2.pacing: unknown field `pacing`; valid: window, ",
            ),
            (
                r#"{"control": {"name": "reno"}, "profile": {"modern": {"ecn": "clasic"}}}"#,
                "flow.profile.modern.ecn: found \"clasic\"; valid: off, classic, accurate",
            ),
            (
                r#"{"control": {"name": "reno"}, "profile": {"ns2": {"initial_window": 3}}}"#,
                "flow.profile.ns2.initial_window: 3 is not within 1 to 2",
            ),
            (r#"{"profile": {}}"#, "flow.profile: "),
            (r#"{"ci": true}"#, "flow: `control` is missing"),
            (
                r#"{"control": {"name": "bbr"}}"#,
                "flow.control.name: BBR needs pacing and delivery-rate samples, which the ns-2 ",
            ),
            (
                r#"{"control": {"name": "hpcc"}, "profile": {"modern": {"packet_octets": 303, "window": 9}}}"#,
                "flow.profile.modern.packet_octets: 303 is not within 304 to 65535: ",
            ),
            (
                r#"{"control": {"name": "cubic"}, "profile": {"modern": {"max_cwnd": 0}}}"#,
                "flow.profile.modern: max_cwnd is 0, expected more",
            ),
        ];
        for (json, expected) in cases {
            let said = Settings::from_json("flow", json).unwrap_err().to_string();
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn what_is_not_set_is_left_at_the_profile_s_defaults() {
        let json = r#"{"control": {"name": "cubic"}, "profile": {"modern": {"window": 100}}}"#;
        let settings = Settings::from_json("flow", json).unwrap();
        let Profile::Modern(profile) = &settings.profile else {
            panic!("the modern profile");
        };
        let config = settings.modern(profile);
        assert_eq!(config.receive_buffer, 100 * 1500);
        assert_eq!(
            config.initial_window,
            modern::Config::default().initial_window
        );
        assert_eq!(config.rto, modern::Config::default().rto);
    }
}
