//! A scenario (JSON), as the bindings hand it to netsim: it is refused, or some thousand events of it are run. No flow
//! gets back more than it sent.
//!
//! Octets that are JSON are mutated as JSON, one value at a time: a number becomes another one, a name that of something
//! else, a list longer or shorter.
#![no_main]

use engine::Pipeline;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use netsim::scenario::SwitchNode;
use netsim::{Programs, Scenario, Simulation};
use p4_frontend::{Loader, SourceMap, compile};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const EVENTS: u64 = 20_000;

static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let named = ["plain", "waymark", "ecn"].map(|name| (name.to_owned(), pipeline(name)));
    named.into_iter().collect()
});

fn pipeline(name: &str) -> std::sync::Arc<Pipeline> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../p4src/v1model"));
    let path = folder.join(format!("{name}.p4"));
    let text = std::fs::read_to_string(&path).expect("the program can be read");
    let mut sources = SourceMap::new();
    let file = sources.add(&path.to_string_lossy(), text);
    let (program, _) = compile(&mut sources, file, &mut Beside, &[]);
    Pipeline::compile(&program.expect("the program compiles")).expect("the engine takes it")
}

/// Finds included files in the folder of the file that includes them.
struct Beside;

impl Loader for Beside {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let path = Path::new(from.filter(|_| !system)?).parent()?.join(name);
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.to_string_lossy().into_owned(), text))
    }
}

fuzz_target!(|text: &str| {
    let Ok(scenario) = Scenario::from_json(text) else {
        return;
    };
    let Ok(mut simulation) = Simulation::new(&scenario, &PROGRAMS) else {
        return;
    };
    if simulation.run(EVENTS).is_err() {
        return;
    }
    let results = simulation.finish().expect("nothing is captured");
    // A Snoop agent sends again what it has seen, and groups make copies.
    let makes_none = |switch: &SwitchNode| {
        switch.snoop.is_empty()
            && switch.multicast_groups.is_empty()
            && switch.clone_sessions.is_empty()
    };
    if scenario.switches.values().all(makes_none) {
        for (name, flow) in results.flows.iter().chain(&results.sources) {
            let [sent, delivered, lost] = [
                &flow.sent_packets,
                &flow.delivered_packets,
                &flow.lost_packets,
            ]
            .map(|column| column.iter().sum::<u64>());
            assert!(
                delivered + lost <= sent,
                "{name}: {delivered} + {lost} of {sent}"
            );
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(u64::from(seed) << 1 | 1);
    let parsed = serde_json::from_slice(&data[..size]);
    let Some(mut document) = parsed.ok().filter(|_| random.below(10) > 0) else {
        return fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=random.below(3) {
        let mut at = random.below(count(&document));
        change(&mut document, &mut at, &mut random);
    }
    let text = document.to_string();
    if text.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    data[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
});

/// A generator of which nothing is asked but that the same seed does the same (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }
}

/// Values in a document, those that others lie in included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Changes the value that `at` others come before; whether that was within this one.
fn change(value: &mut Value, at: &mut usize, random: &mut Random) -> bool {
    if *at == 0 {
        *value = changed(value, random);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(values) => values.iter_mut().any(|value| change(value, at, random)),
        Value::Object(fields) => fields.values_mut().any(|value| change(value, at, random)),
        _ => false,
    }
}

const NUMBERS: [f64; 16] = [
    0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    1e-9,
    1e-3,
    10.0,
    255.0,
    65535.0,
    65536.0,
    4294967295.0,
    1e9,
    1.8e19,
    1e300,
    -1e300,
];
/// Names that something in a scenario has.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let controls = congestion::CONTROLS.iter().map(|control| control.name);
    let settings = congestion::CONTROLS.iter().flat_map(|c| c.settings);
    let others = [
        "a",
        "b",
        "r1",
        "r2",
        "plain",
        "ecn",
        "ns2",
        "modern",
        "off",
        "classic",
        "accurate",
        "cbr",
        "exponential",
        "pareto",
        "std",
        "rbca",
        "",
    ];
    let settings = settings.map(|setting| setting.name);
    others.into_iter().chain(controls).chain(settings).collect()
});

fn changed(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Bool(is) => (!is).into(),
        Value::Null => json!(*random.of(&NUMBERS)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let made = match random.below(6) {
                0 => number * 10.0,
                1 => number / 10.0,
                2 => number + 1.0,
                3 => number - 1.0,
                _ => *random.of(&NUMBERS),
            };
            // Where a whole number is expected, only one as JSON writes it will do.
            match made.fract() == 0.0 && (0.0..1.8e19).contains(&made) {
                true => json!(made as u64),
                false => json!(made),
            }
        }
        Value::String(_) => json!(*random.of(&NAMES)),
        Value::Array(values) => {
            let mut values = values.clone();
            if !values.is_empty() {
                let at = random.below(values.len());
                match random.below(2) {
                    0 => values.push(values[at].clone()),
                    _ => drop(values.remove(at)),
                }
            }
            values.into()
        }
        Value::Object(fields) => {
            let mut fields = fields.clone();
            if let Some(key) = fields
                .keys()
                .nth(random.below(fields.len().max(1)))
                .cloned()
            {
                fields.remove(&key);
            }
            fields.into()
        }
    }
}
