//! The descriptor of a congestion control: everything about it that is used outside its own file.
//!
//! Each control's file declares one, and [`crate::CONTROLS`] lists them. Simulated and live hosts, the Python package,
//! its documentation and its plots take names, settings and needs from it.

use crate::controller::Factory;
use std::fmt;

/// A congestion control.
#[derive(Debug)]
pub struct Control {
    /// Its name in flows, files and on the command line: lower case, one word.
    pub name: &'static str,
    /// Its name in tables and legends.
    pub label: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// The loss recovery that it uses in the papers' simulator. Today's hosts have one loss recovery for all controls.
    pub recovery: Recovery,
    /// The marks of switches that it reads. Its packets carry them.
    pub marks: &'static [Mark],
    /// Its other requirements.
    pub needs: &'static [Need],
    /// Its settings.
    pub settings: &'static [Setting],
    /// Creates its factory from the values of its settings.
    pub factory: fn(&Settings, Rules) -> Box<dyn Factory>,
}

/// A loss detection and recovery algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Restarts from the missing segment on the third duplicate. Used with [`crate::TahoeConfig`].
    Tahoe,
    /// Fast retransmit and fast recovery on the third duplicate.
    Reno,
    /// Reno that stays in recovery until everything sent before it is acknowledged, and fills one hole per round trip.
    NewReno,
    /// Selective acknowledgements, and an estimate of the data in flight.
    Sack,
    /// Forward acknowledgement: the highest selectively acknowledged segment determines the data in flight. Used with
    /// [`crate::TahoeConfig`].
    Fack,
    /// Also on a fine-grained timeout, which is checked on every duplicate and on the first new acknowledgements after
    /// it.
    Vegas,
}

impl Recovery {
    /// Its name in text.
    pub const fn label(self) -> &'static str {
        match self {
            Recovery::Tahoe => "Tahoe",
            Recovery::Reno => "Reno",
            Recovery::NewReno => "NewReno",
            Recovery::Sack => "SACK",
            Recovery::Fack => "FACK",
            Recovery::Vegas => "Vegas",
        }
    }
}

/// The marks that switches write into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Accumulated queueing time.
    Aqt,
    /// The minimum data rate adjustment index, in the AVBW-S option.
    Avbw,
    /// Congestion indication.
    Ci,
    /// In-band network telemetry, with HPCC's record of each hop.
    Int,
    /// Congestion signaling: the worst hop's delay and available bandwidth, in a tag before the IPv4 header.
    Csig,
    /// TCP-INT: the sum of the hops' latencies and the worst hop's value, in a TCP option.
    TcpInt,
}

impl Mark {
    /// Its name in text.
    pub const fn label(self) -> &'static str {
        match self {
            Mark::Aqt => "AQT",
            Mark::Avbw => "AVBW-S",
            Mark::Ci => "CI",
            Mark::Int => "INT",
            Mark::Csig => "CSIG",
            Mark::TcpInt => "TCP-INT",
        }
    }
}

/// A requirement of a control on its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Timestamps on packets (RFC 7323).
    Timestamps,
    /// An immediate acknowledgement for every segment.
    PromptAcks,
    /// Every congestion mark echoed (RFC 8257). The papers' simulator has no ECN.
    Ecn,
    /// Scalable congestion control over ECT(1), with marks counted (RFC 9331, RFC 9768).
    L4s,
    /// Switches that trim data instead of dropping it at a full queue, and a receiver that reports it. The papers'
    /// simulator has neither.
    Trimming,
    /// Pacing, and samples of the delivery rate. The papers' simulator has neither.
    Pacing,
}

impl Need {
    /// Its name in text.
    pub const fn label(self) -> &'static str {
        match self {
            Need::Timestamps => "timestamps",
            Need::PromptAcks => "undelayed ACKs",
            Need::Ecn => "ECN",
            Need::L4s => "L4S",
            Need::Trimming => "trimming",
            Need::Pacing => "pacing",
        }
    }

    /// The feature that the papers' simulator lacks for it.
    const fn missing_in_ns2(self) -> Option<&'static str> {
        match self {
            Need::Timestamps | Need::PromptAcks => None,
            Need::Ecn | Need::L4s => Some("ECN"),
            Need::Trimming => Some("packet trimming"),
            Need::Pacing => Some("pacing and delivery-rate samples"),
        }
    }
}

impl Control {
    /// Whether it reads `mark`.
    pub fn reads(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Whether it needs `need`.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// The feature that it needs and that the papers' simulator lacks.
    pub fn missing_in_ns2(&self) -> Option<&'static str> {
        self.needs.iter().find_map(|need| need.missing_in_ns2())
    }
}

/// The rules of the transport with which a control is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether they are those of today's hosts rather than of the papers' simulator.
    pub modern: bool,
    /// Whether to reproduce the defect of this name in the papers' simulator ([`crate::vegas::Quirks`]).
    pub phantom_rtt: bool,
    /// Whether halving a window keeps its fraction ([`crate::ExactRenoConfig`]).
    pub exact_halving: bool,
    /// Whether values that differ only by rounding are treated as equal ([`crate::vegas::Quirks`]), for comparisons
    /// with fixed-point arithmetic.
    pub fixed_point: bool,
}

/// A setting of a control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name, including its unit if that is not packets: `threshold_rtt_s`.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Its type, default and valid range.
    pub kind: Kind,
}

/// The type, default and valid range of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number from `min` to `max`.
    Number {
        /// The default. If `None`, the control determines the value itself.
        default: Option<f64>,
        /// The minimum valid value.
        min: f64,
        /// The maximum valid value.
        max: f64,
    },
    /// A Boolean.
    Flag {
        /// The default.
        default: bool,
    },
}

impl Setting {
    /// A setting in packets, 0 or more.
    pub const fn packets(name: &'static str, default: f64, summary: &'static str) -> Self {
        let kind = Kind::Number {
            default: Some(default),
            min: 0.0,
            max: 1e9,
        };
        Setting {
            name,
            summary,
            kind,
        }
    }

    /// A Boolean setting.
    pub const fn flag(name: &'static str, default: bool, summary: &'static str) -> Self {
        let kind = Kind::Flag { default };
        Setting {
            name,
            summary,
            kind,
        }
    }
}

/// A value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The value of a [`Kind::Number`].
    Number(f64),
    /// The value of a [`Kind::Flag`].
    Flag(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => shown(*number).fmt(f),
            Value::Flag(flag) => flag.fmt(f),
        }
    }
}

/// Formats a number for a message, with an exponent if it would have many digits otherwise.
fn shown(number: f64) -> String {
    if number == 0.0 || (1e-9..1e15).contains(&number.abs()) || !number.is_finite() {
        return number.to_string();
    }
    format!("{number:e}")
}

/// A control with valid values of its settings.
#[derive(Clone, Debug)]
pub struct Settings {
    control: &'static Control,
    given: Vec<(&'static str, Value)>,
}

impl Settings {
    /// The default settings of `control`.
    pub fn defaults(control: &'static Control) -> Self {
        Settings {
            control,
            given: Vec::new(),
        }
    }

    /// The control.
    pub fn control(&self) -> &'static Control {
        self.control
    }

    /// The values that differ from their defaults.
    pub fn given(&self) -> &[(&'static str, Value)] {
        &self.given
    }

    /// Sets the setting `name`.
    ///
    /// # Errors
    /// The control has no such setting, or the value is invalid. The message states what is valid.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        let control = self.control;
        let Some(setting) = control.settings.iter().find(|s| s.name == name) else {
            let valid: Vec<&str> = control.settings.iter().map(|s| s.name).collect();
            let valid = match valid.as_slice() {
                [] => "it has none".to_owned(),
                _ => format!("valid: {}", valid.join(", ")),
            };
            return Err(format!("{} has no setting {name:?}; {valid}", control.name));
        };
        match (setting.kind, value) {
            (Kind::Number { min, max, .. }, Value::Number(number))
                if !(min..=max).contains(&number) =>
            {
                let number = shown(number);
                return Err(format!("{name} {number} is not within {min} to {max}"));
            }
            (Kind::Number { .. }, Value::Number(_)) | (Kind::Flag { .. }, Value::Flag(_)) => {}
            (Kind::Number { .. }, Value::Flag(_)) => {
                return Err(format!("{name} {value} is not a number"));
            }
            (Kind::Flag { .. }, Value::Number(_)) => {
                return Err(format!("{name} {value} is not true or false"));
            }
        }
        self.given.retain(|(given, _)| *given != name);
        self.given.push((setting.name, value));
        Ok(())
    }

    /// The number `name`, if it is set or has a default.
    ///
    /// # Panics
    /// If the control declares no such number, which is a bug in its file.
    pub fn number_if_any(&self, name: &str) -> Option<f64> {
        match (self.value(name), self.declared(name)) {
            (Some(Value::Number(number)), _) => Some(number),
            (None, Kind::Number { default, .. }) => default,
            _ => panic!("{} declares no number {name}", self.control.name),
        }
    }

    /// The number `name`.
    ///
    /// # Panics
    /// If the control declares no such number with a default, which is a bug in its file.
    pub fn number(&self, name: &str) -> f64 {
        let number = self.number_if_any(name);
        number.unwrap_or_else(|| panic!("{}: {name} has no default", self.control.name))
    }

    /// The flag `name`.
    ///
    /// # Panics
    /// If the control declares no such flag, which is a bug in its file.
    pub fn flag(&self, name: &str) -> bool {
        match (self.value(name), self.declared(name)) {
            (Some(Value::Flag(flag)), _) => flag,
            (None, Kind::Flag { default }) => default,
            _ => panic!("{} declares no flag {name}", self.control.name),
        }
    }

    /// Creates the control's factory.
    pub fn factory(&self, rules: Rules) -> Box<dyn Factory> {
        (self.control.factory)(self, rules)
    }

    fn value(&self, name: &str) -> Option<Value> {
        let given = self.given.iter().find(|(given, _)| *given == name);
        given.map(|(_, value)| *value)
    }

    fn declared(&self, name: &str) -> Kind {
        let setting = self.control.settings.iter().find(|s| s.name == name);
        match setting {
            Some(setting) => setting.kind,
            None => panic!("{} declares no setting {name}", self.control.name),
        }
    }
}
