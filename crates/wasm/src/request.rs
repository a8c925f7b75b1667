//! Requests of the page and their answers, as JSON.

use crate::program::{self, Files};
use crate::run::Run;
use crate::watch::{Identity, Watch};
use serde::Deserialize;
use serde_json::{Value, json};

/// What one instance holds.
#[derive(Debug, Default)]
pub struct Lab {
    run: Option<Run>,
    /// Of the run that ended: its packets can still be asked for.
    watched: Option<Watch>,
}

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// Compile a program.
    Check {
        /// All files, by path.
        files: Files,
        /// The path of the main file.
        main: String,
    },
    /// Run packet scripts on a program.
    Grade {
        /// All files, by path.
        files: Files,
        /// The path of the main file.
        main: String,
        /// Name and text of each.
        scripts: Vec<(String, String)>,
    },
    /// Start a run.
    Open {
        /// The files of the switches' programs; a program's name is the path of its main file.
        files: Files,
        /// The scenario, as the simulator reads it, or its text.
        scenario: Value,
        /// Time between samples, in seconds.
        sample_s: f64,
    },
    /// Continue it.
    Advance {
        /// To this time, in seconds.
        until_s: f64,
        /// By at most this many events.
        events: u64,
        /// What to report of packets.
        watch: Report,
    },
    /// What a packet met in the switches.
    Packet {
        /// Its identity, as flights give it.
        id: Identity,
    },
    /// End it.
    Finish,
}

/// What is reported of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// Nothing.
    Nothing,
    /// Transmissions.
    Flights,
    /// These, and what packets execute in switches.
    Traces,
}

impl Lab {
    /// The answer to a request; what is wrong with it is in `"error"`.
    pub fn answer(&mut self, request: &[u8]) -> String {
        let answered = serde_json::from_slice(request)
            .map_err(|error| json!(format!("request: {error}")))
            .and_then(|request| self.answered(request));
        answered
            .unwrap_or_else(|error| json!({"error": error}))
            .to_string()
    }

    fn answered(&mut self, request: Request) -> Result<Value, Value> {
        match request {
            Request::Check { files, main } => Ok(program::check(&files, &main)),
            Request::Grade {
                files,
                main,
                scripts,
            } => program::grade(&files, &main, &scripts),
            Request::Open {
                files,
                scenario,
                sample_s,
            } => {
                (self.run, self.watched) = (None, None);
                let run = Run::open(&files, &scenario, sample_s)?;
                let opened = run.description();
                self.run = Some(run);
                Ok(opened)
            }
            Request::Advance {
                until_s,
                events,
                watch,
            } => self.run()?.advance(until_s, events, watch),
            Request::Packet { id } => {
                let running = self.run.as_ref().and_then(Run::watch);
                match running.or(self.watched.as_ref()) {
                    Some(watch) => Ok(watch.visits(id)),
                    None => Ok(json!({"visits": []})),
                }
            }
            Request::Finish => match self.run.take() {
                Some(run) => {
                    self.watched = run.watch().cloned();
                    run.finish()
                }
                None => Err(no_run()),
            },
        }
    }

    fn run(&mut self) -> Result<&mut Run, Value> {
        self.run.as_mut().ok_or_else(no_run)
    }
}

fn no_run() -> Value {
    json!("there is no run: open one")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELAY: &str = include_str!("../../netsim/tests/common/relay.p4");

    fn opened(control: Value) -> (Lab, Value) {
        let host = |n: u8, gateway: u8| {
            let mac = |n: u8| format!("02:00:00:00:00:0{n}");
            json!({"ipv4": format!("10.0.0.{n}"), "mac": mac(n), "gateway_mac": mac(gateway)})
        };
        let link = |host: &str, port: u16| {
            json!({"a": {"node": host}, "b": {"node": "R", "port": port},
                   "rate_bps": 10_000_000, "delay_s": 0.001})
        };
        let scenario = json!({
            "name": "relay", "seed": 1, "end_s": 2.0,
            "hosts": {"S": host(1, 2), "D": host(2, 1)},
            "switches": {"R": {"program": "relay.p4"}},
            "links": [link("S", 1), link("D", 2)],
            "flows": [{"from": "S", "to": "D", "connection": {"control": control}}],
        });
        let mut lab = Lab::default();
        let open = json!({"do": "open", "files": {"relay.p4": RELAY}, "scenario": scenario, "sample_s": 0.1});
        let answer = ask(&mut lab, open);
        (lab, answer)
    }

    fn ask(lab: &mut Lab, request: Value) -> Value {
        serde_json::from_str(&lab.answer(request.to_string().as_bytes())).unwrap()
    }

    /// The records of a run in slices of `slice_s`.
    fn run(slice_s: f64, watch: &str) -> (Value, Vec<Value>, Vec<Value>) {
        let (mut lab, answer) = opened(json!({"name": "vegas"}));
        assert_eq!(answer["lines"][0]["name"], "S->R");
        let (mut samples, mut flights) = (Vec::new(), Vec::new());
        for until in 1.. {
            let until_s = f64::from(until) * slice_s;
            let advance =
                json!({"do": "advance", "until_s": until_s, "events": 1_000_000, "watch": watch});
            let answer = ask(&mut lab, advance);
            samples.extend(answer["samples"].as_array().unwrap().clone());
            flights.extend(answer["flights"].as_array().cloned().unwrap_or_default());
            if answer["ended"] == true {
                break;
            }
        }
        (ask(&mut lab, json!({"do": "finish"})), samples, flights)
    }

    #[test]
    fn slices_and_watching_change_nothing() {
        let (whole, samples, none) = run(10.0, "nothing");
        assert_eq!((samples.len(), none.len()), (20, 0));
        let hops = whole["totals"]["packet_hops"].as_u64().unwrap();
        assert!(hops > 1000);
        for watch in ["flights", "traces"] {
            let (sliced, same, flights) = run(0.07, watch);
            assert_eq!((&sliced, &same), (&whole, &samples));
            assert_eq!(flights.len() as u64, hops);
        }
    }

    #[test]
    fn a_packet_is_followed_through_the_switch() {
        let (mut lab, _) = opened(json!({"name": "vegas"}));
        let advance =
            json!({"do": "advance", "until_s": 0.1, "events": 100_000, "watch": "traces"});
        let answer = ask(&mut lab, advance);
        let flight = &answer["flights"][0];
        assert_eq!(
            (&flight["kind"], &flight["line"]),
            (&json!("data"), &json!(0))
        );
        let visits = ask(&mut lab, json!({"do": "packet", "id": flight["id"]}));
        let text = visits.to_string();
        for met in [
            "state    start",
            "enqueue  port 2",
            "dequeue  port 2",
            "relay.p4",
        ] {
            assert!(text.contains(met), "{met}: {text}");
        }
    }

    #[test]
    fn packet_scripts_are_graded() {
        let grade = |program: &str, script: &str| {
            let request = json!({"do": "grade", "files": {"relay.p4": program}, "main": "relay.p4",
                                 "scripts": [["a.stf", script]]});
            ask(&mut Lab::default(), request)
        };
        let packet = "0000000000020000000000010800";
        let script =
            |expected: &str| format!("packet 1 {packet}\n# Port 2.\nexpect 2 {expected}$\n");
        let passed = grade(RELAY, &script(packet));
        assert_eq!(passed["passed"], true, "{passed}");
        let failed = grade(RELAY, &script("0000000000030000000000010800"));
        let first = &failed["failures"][0];
        assert_eq!(
            (&first["line"], &first["test"]),
            (&json!(3), &json!("Port 2."))
        );
        let differs = json!([{"field": "ethernet.dst_addr",
                              "expected": "00:00:00:00:00:03", "found": "00:00:00:00:00:02"}]);
        assert_eq!(first["fields"], differs);
        let unreadable = grade(RELAY, "paket 1 00\n");
        assert!(unreadable["error"].as_str().unwrap().starts_with("a.stf: "));
        let broken = grade("bogus", "");
        assert_eq!(broken["error"]["diagnostics"][0]["severity"], "error");
    }

    #[test]
    fn what_is_wrong_is_told() {
        let mut lab = Lab::default();
        let finish = ask(&mut lab, json!({"do": "finish"}));
        assert_eq!(finish["error"], "there is no run: open one");
        let unknown = ask(&mut lab, json!({"do": "dance"}));
        assert!(
            unknown["error"]
                .as_str()
                .unwrap()
                .contains("unknown variant `dance`")
        );
        let (_, missing) = opened(json!({"name": "no-such"}));
        let scenario = &missing["error"]["scenario"];
        assert_eq!(scenario["path"], "flows[0].connection.control");
        assert!(scenario["message"].as_str().unwrap().contains("no-such"));
        let open =
            |text: &str| json!({"do": "open", "files": {}, "scenario": text, "sample_s": 0.1});
        let broken = ask(&mut lab, open("{\n  \"name\": oops\n}"));
        let message = broken["error"]["scenario"]["message"].as_str().unwrap();
        assert!(message.ends_with("at line 2 column 11"), "{message}");
    }

    #[test]
    fn a_control_that_fails_ends_the_run() {
        // Outside a page there is none to call.
        let control = json!({"name": "custom", "factory": "mine", "recovery": "reno"});
        let (_, answer) = opened(control);
        assert_eq!(answer["error"]["control"], "flow0: the control failed");
    }
}
