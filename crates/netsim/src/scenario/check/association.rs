//! SCTP associations.

use super::traffic::check_times;

use crate::association;
use crate::scenario::{Association, Scenario};
use tcp_settings::check::{Checked, fail, not_negative, positive};

impl Scenario {
    pub(super) fn check_association(&self, path: &str, association: &Association) -> Checked {
        self.check_pair(path, &association.from, &association.to)?;
        check_times(path, association.start_s, association.stop_s)?;
        let interfaces = |name: &str| 1 + self.hosts[name].interfaces.len();
        let (from, to) = (interfaces(&association.from), interfaces(&association.to));
        if from != to {
            let message = format!(
                "{} has {from} interfaces, {} has {to}; expected as many",
                association.from, association.to
            );
            return fail(format!("{path}.to"), message);
        }
        for (i, change) in association.primary.iter().enumerate() {
            not_negative(format!("{path}.primary[{i}].at_s"), change.at_s)?;
            if change.path as usize >= from {
                let message = format!("no path {}; paths are 0 to {}", change.path, from - 1);
                return fail(format!("{path}.primary[{i}].path"), message);
            }
        }
        for (i, threshold) in association.thresholds_s.iter().enumerate() {
            positive(format!("{path}.thresholds_s[{i}]"), *threshold)?;
        }
        if association.chunks == Some(0) {
            return fail(format!("{path}.chunks"), "must be at least 1");
        }
        let p = &association.profile;
        for (field, seconds) in [
            ("rto_initial_s", p.rto_initial_s),
            ("rto_min_s", p.rto_min_s),
            ("rto_max_s", p.rto_max_s),
            ("heartbeat_s", p.heartbeat_s.unwrap_or(1.0)),
        ] {
            positive(format!("{path}.profile.{field}"), seconds)?;
        }
        not_negative(format!("{path}.profile.sack_delay_s"), p.sack_delay_s)?;
        let config = association::config(association, Vec::new(), 0, [0; 32]);
        let address = std::net::Ipv4Addr::LOCALHOST;
        let config = transport::sctp::Config {
            addresses: vec![address],
            ..config
        };
        config.check().or_else(|e| fail(path, e.to_string()))
    }
}
