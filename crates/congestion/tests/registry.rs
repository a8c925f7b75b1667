//! What the registry promises of every control.

use congestion::registry::{Kind, Value};
use congestion::{
    CONTROLS, Control, EnhancedVegasConfig, Factory, FastConfig, Limits, QuickVegasConfig, Rules,
    Settings, VegasConfig,
};
use std::collections::BTreeSet;

fn rules() -> impl Iterator<Item = Rules> {
    let both = [false, true];
    both.into_iter().flat_map(move |modern| {
        both.into_iter().map(move |flag| Rules {
            modern,
            phantom_rtt: flag,
            exact_halving: flag,
            fixed_point: flag,
        })
    })
}

fn with(control: &'static Control, name: &str, value: Value) -> Result<Settings, String> {
    let mut settings = Settings::defaults(control);
    settings.set(name, value).map(|()| settings)
}

fn starts(settings: &Settings) {
    for rules in rules() {
        let controller = settings.factory(rules).build(&Limits::default());
        assert!(controller.cwnd() >= 1.0, "{settings:?}");
    }
}

#[test]
fn names_are_single_words_that_differ() {
    let names: BTreeSet<&str> = CONTROLS.iter().map(|control| control.name).collect();
    assert_eq!(names.len(), CONTROLS.len());
    for control in CONTROLS {
        assert!(
            control.name.starts_with(|c: char| c.is_ascii_lowercase())
                && control
                    .name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
            "{}",
            control.name
        );
        assert!(!control.label.is_empty() && !control.summary.is_empty());
        assert!(!control.source.is_empty());
        assert!(std::ptr::eq(
            congestion::find(control.name).unwrap(),
            *control
        ));
    }
}

#[test]
fn every_control_starts_with_every_valid_setting() {
    for &control in CONTROLS {
        starts(&Settings::defaults(control));
        for setting in control.settings {
            let values = match setting.kind {
                Kind::Number { min, max, default } => {
                    let default = default.unwrap_or(max);
                    assert!((min..=max).contains(&default), "{}", setting.name);
                    [min, max, default].map(Value::Number).to_vec()
                }
                Kind::Flag { .. } => [true, false].map(Value::Flag).to_vec(),
            };
            for value in values {
                starts(&with(control, setting.name, value).unwrap());
            }
        }
    }
}

#[test]
fn defaults_are_those_of_the_control_s_config() {
    let ns2 = Rules {
        modern: false,
        phantom_rtt: false,
        exact_halving: false,
        fixed_point: false,
    };
    let cases: [(&str, Box<dyn Factory>); 4] = [
        ("vegas", Box::new(VegasConfig::default())),
        ("quickvegas", Box::new(QuickVegasConfig::default())),
        ("enhancedvegas", Box::new(EnhancedVegasConfig::default())),
        ("fast", Box::new(FastConfig::default())),
    ];
    for (name, config) in cases {
        let settings = Settings::defaults(congestion::find(name).unwrap());
        let factory = settings.factory(ns2);
        assert_eq!(format!("{factory:?}"), format!("{config:?}"), "{name}");
    }
}

#[test]
fn an_invalid_setting_is_refused_with_what_is_valid() {
    let rovegas = congestion::find("rovegas").unwrap();
    let cases = [
        (
            "alfa",
            Value::Number(1.0),
            "rovegas has no setting \"alfa\"; valid: alpha, beta, gamma, full_deployment",
        ),
        (
            "alpha",
            Value::Number(f64::NAN),
            "alpha NaN is not within 0 to 1000000000",
        ),
        (
            "alpha",
            Value::Number(1e300),
            "alpha 1e300 is not within 0 to 1000000000",
        ),
        (
            "alpha",
            Value::Number(-1e-30),
            "alpha -1e-30 is not within 0 to 1000000000",
        ),
        ("alpha", Value::Flag(true), "alpha true is not a number"),
        (
            "full_deployment",
            Value::Number(1.0),
            "full_deployment 1 is not true or false",
        ),
    ];
    for (name, value, message) in cases {
        assert_eq!(with(rovegas, name, value).unwrap_err(), message);
    }
    let reno = congestion::find("reno").unwrap();
    assert_eq!(
        with(reno, "alpha", Value::Number(1.0)).unwrap_err(),
        "reno has no setting \"alpha\"; it has none"
    );
}

#[test]
fn the_newest_value_of_a_setting_counts() {
    let mut settings = Settings::defaults(congestion::find("vegas").unwrap());
    assert_eq!(settings.number("beta"), 3.0);
    settings.set("beta", Value::Number(4.0)).unwrap();
    settings.set("beta", Value::Number(5.0)).unwrap();
    assert_eq!(settings.number("beta"), 5.0);
    assert_eq!(settings.given(), [("beta", Value::Number(5.0))]);
}
