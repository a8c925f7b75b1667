//! A connection's congestion control: a compiled one and its settings, or one that is passed separately.

use crate::DataError;
use congestion::registry::Value;
use congestion::{CONTROLS, Factory, Mark, Need, Recovery, Settings};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Map;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Congestion controls that are passed separately from the data, by their names in it.
pub type Controls = BTreeMap<String, Arc<dyn Factory>>;

/// A congestion control. In JSON, `name` and the settings that are not left at their defaults:
/// `{"name": "vegas", "alpha": 2}`, or `{"name": "custom", "factory": "mine", "recovery": "reno"}`.
#[derive(Clone, Debug)]
pub enum Control {
    /// One of [`congestion::CONTROLS`].
    Compiled(Settings),
    /// One that is passed separately from the data.
    Custom(Custom),
}

/// A congestion control that is passed separately from the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Custom {
    /// Its name among those passed.
    pub factory: String,
    /// How losses are found and repaired.
    #[serde(with = "RecoveryName")]
    pub recovery: Recovery,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Recovery", rename_all = "lowercase")]
enum RecoveryName {
    Tahoe,
    Reno,
    NewReno,
    Sack,
    Fack,
    Vegas,
}

/// The name of a control that is passed separately.
const CUSTOM: &str = "custom";

impl Custom {
    pub(crate) fn find(
        &self,
        controls: &Controls,
        path: &str,
    ) -> Result<Arc<dyn Factory>, DataError> {
        if let Some(factory) = controls.get(&self.factory) {
            return Ok(factory.clone());
        }
        let valid: Vec<&str> = controls.keys().map(String::as_str).collect();
        let valid = match valid.as_slice() {
            [] => "there are none".to_owned(),
            _ => format!("controls are {}", valid.join(", ")),
        };
        let message = format!("no control {:?} was passed; {valid}", self.factory);
        Err(DataError::new(format!("{path}.control.factory"), message))
    }
}

impl Control {
    /// The loss recovery that goes with it in the ns-2 profile.
    pub fn recovery(&self) -> Recovery {
        match self {
            Control::Compiled(settings) => settings.control().recovery,
            Control::Custom(custom) => custom.recovery,
        }
    }

    /// Whether its packets carry `mark` unless its settings say otherwise.
    pub fn reads(&self, mark: Mark) -> bool {
        match self {
            Control::Compiled(settings) => settings.control().reads(mark),
            Control::Custom(_) => false,
        }
    }

    /// Whether it needs this of its transport.
    pub fn needs(&self, need: Need) -> bool {
        match self {
            Control::Compiled(settings) => settings.control().needs(need),
            Control::Custom(_) => false,
        }
    }
}

impl<'de> Deserialize<'de> for Control {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        control(fields).map_err(de::Error::custom)
    }
}

fn control(mut fields: Map<String, serde_json::Value>) -> Result<Control, String> {
    let name = match fields.remove("name") {
        Some(serde_json::Value::String(name)) => name,
        Some(other) => return Err(format!("name {other} is not text")),
        None => return Err("`name` is missing".to_owned()),
    };
    if name == CUSTOM {
        let custom = serde_json::from_value(fields.into()).map_err(|e| e.to_string())?;
        return Ok(Control::Custom(custom));
    }
    let control = congestion::find(&name).ok_or_else(|| {
        let valid: Vec<&str> = CONTROLS.iter().map(|control| control.name).collect();
        format!(
            "no congestion control {name:?}; valid: {}, {CUSTOM}",
            valid.join(", ")
        )
    })?;
    let mut settings = Settings::defaults(control);
    for (name, value) in &fields {
        let value = match value {
            serde_json::Value::Bool(flag) => Value::Flag(*flag),
            serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            other => {
                return Err(format!(
                    "{name} {other} is neither a number nor true or false"
                ));
            }
        };
        settings.set(name, value)?;
    }
    Ok(Control::Compiled(settings))
}

impl Serialize for Control {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Map::new();
        match self {
            Control::Compiled(settings) => {
                fields.insert("name".into(), settings.control().name.into());
                let given = settings.given().iter().map(|&(name, value)| {
                    let value = match value {
                        Value::Number(number) => number.into(),
                        Value::Flag(flag) => flag.into(),
                    };
                    (name.to_owned(), value)
                });
                fields.extend(given);
            }
            Control::Custom(custom) => {
                let custom = serde_json::to_value(custom);
                if let serde_json::Value::Object(custom) =
                    custom.map_err(serde::ser::Error::custom)?
                {
                    fields = custom;
                }
                fields.insert("name".into(), CUSTOM.into());
            }
        }
        fields.serialize(serializer)
    }
}
