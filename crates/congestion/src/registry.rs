//! The descriptor of a congestion control: everything that is said about it outside its own file.
//!
//! Each control's file declares one, and [`crate::CONTROLS`] lists them. Simulated and live hosts,
//! the Python package, its documentation and its plots read names, settings and needs from there.

use crate::controller::Factory;
use std::fmt;

/// A congestion control.
#[derive(Debug)]
pub struct Control {
    /// What flows, files and the command line call it: lower case, one word.
    pub name: &'static str,
    /// Its name in tables and legends.
    pub label: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// The loss recovery that it is used with in the papers' simulator. Hosts of today have one
    /// loss recovery for all controls.
    pub recovery: Recovery,
    /// The switches' marks that it reads. Its packets carry them.
    pub marks: &'static [Mark],
    /// What else it needs.
    pub needs: &'static [Need],
    /// Its settings.
    pub settings: &'static [Setting],
    /// Makes its factory from values of its settings.
    pub factory: fn(&Settings, Rules) -> Box<dyn Factory>,
}

/// What detects and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Start over from the missing segment on the third duplicate; goes with
    /// [`crate::TahoeConfig`].
    Tahoe,
    /// Fast retransmit and fast recovery on the third duplicate.
    Reno,
    /// Reno that stays in recovery until everything sent before it is acknowledged, one hole per
    /// round trip.
    NewReno,
    /// Selective acknowledgements, and an estimate of what is in the pipe.
    Sack,
    /// Forward acknowledgement: the highest selectively acknowledged segment counts; goes with
    /// [`crate::TahoeConfig`].
    Fack,
    /// Also on a fine-grained timeout that every duplicate, and the first new acknowledgements
    /// after, check.
    Vegas,
}

impl Recovery {
    /// Its name in print.
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

/// What switches write into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Accumulated queueing time.
    Aqt,
    /// The least data rate adjustment index, in the AVBW-S option.
    Avbw,
    /// Congestion indication.
    Ci,
    /// In-band network telemetry, with HPCC's record of each hop.
    Int,
    /// Congestion signaling: the worst hop's delay and available bandwidth, in a tag in front of IPv4.
    Csig,
    /// TCP-INT: the sum of the hops' latencies and the worst hop's value, in a TCP option.
    TcpInt,
}

impl Mark {
    /// Its name in print.
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

/// What a control needs of its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Timestamps on packets (RFC 7323).
    Timestamps,
    /// An acknowledgement at once for every segment.
    PromptAcks,
    /// Every congestion mark echoed (RFC 8257). The papers' simulator has no ECN.
    Ecn,
    /// Scalable congestion control over ECT(1), with marks counted (RFC 9331, RFC 9768).
    L4s,
    /// Switches that trim data which a full queue refuses, and a receiver that says so. The papers' simulator has
    /// neither.
    Trimming,
    /// Pacing, and samples of the delivery rate. The papers' simulator has neither.
    Pacing,
}

impl Need {
    /// Its name in print.
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

    /// What the papers' simulator lacks of it.
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

    /// What it needs and the papers' simulator lacks.
    pub fn missing_in_ns2(&self) -> Option<&'static str> {
        self.needs.iter().find_map(|need| need.missing_in_ns2())
    }
}

/// The rules of the transport that a control is used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Those of hosts of today; else of the papers' simulator.
    pub modern: bool,
    /// The papers' simulator's defect of that name ([`crate::vegas::Quirks`]).
    pub phantom_rtt: bool,
    /// Half of a window keeps the window's fraction ([`crate::ExactRenoConfig`]).
    pub exact_halving: bool,
    /// What differs by rounding alone is equal ([`crate::vegas::Quirks`]), for comparisons with arithmetic in fixed
    /// point.
    pub fixed_point: bool,
}

/// A setting that a control declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name, with its unit if that is not packets: `threshold_rtt_s`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its type, its default and what is valid.
    pub kind: Kind,
}

/// The type of a setting, its default, and what is valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number from `min` to `max`.
    Number {
        /// Unset: the control finds a value itself.
        default: Option<f64>,
        /// The least valid value.
        min: f64,
        /// The greatest valid value.
        max: f64,
    },
    /// True or false.
    Flag {
        /// Where none is given.
        default: bool,
    },
}

impl Setting {
    /// A number of packets, 0 or more.
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

    /// True or false.
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
    /// Of a [`Kind::Number`].
    Number(f64),
    /// Of a [`Kind::Flag`].
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

/// A number for a message: with an exponent where it would have many digits without.
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
    /// `control` with its defaults.
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

    /// The values that are not left at their defaults.
    pub fn given(&self) -> &[(&'static str, Value)] {
        &self.given
    }

    /// Sets the setting `name`.
    ///
    /// # Errors
    /// The control has no such setting, or the value is not valid. The message says what is valid.
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

    /// The number `name`, where it is given or has a default.
    ///
    /// # Panics
    /// The control declares no such number: a bug in its file.
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
    /// The control declares no such number with a default: a bug in its file.
    pub fn number(&self, name: &str) -> f64 {
        let number = self.number_if_any(name);
        number.unwrap_or_else(|| panic!("{}: {name} has no default", self.control.name))
    }

    /// The flag `name`.
    ///
    /// # Panics
    /// The control declares no such flag: a bug in its file.
    pub fn flag(&self, name: &str) -> bool {
        match (self.value(name), self.declared(name)) {
            (Some(Value::Flag(flag)), _) => flag,
            (None, Kind::Flag { default }) => default,
            _ => panic!("{} declares no flag {name}", self.control.name),
        }
    }

    /// The control's factory.
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
