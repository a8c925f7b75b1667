//! Congestion controls that are passed separately from the scenario.

mod common;

use common::two_hosts;
use congestion::{AckEvent, Controller, Factory, Limits, LossEvent, TimeoutEvent, VegasConfig};
use netsim::{Controls, Programs, Results, Scenario, Simulation};
use serde_json::{Value, json};
use std::sync::Arc;

/// A constant number of packets in flight.
#[derive(Debug)]
struct Steady(f64);

impl Controller for Steady {
    fn cwnd(&self) -> f64 {
        self.0
    }
    fn ssthresh(&self) -> f64 {
        self.0
    }
    fn on_ack(&mut self, _ack: &AckEvent) {}
    fn on_loss(&mut self, _loss: &LossEvent) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
}

impl Factory for Steady {
    fn build(&self, _limits: &Limits) -> Box<dyn Controller> {
        Box::new(Steady(self.0))
    }
}

fn controls() -> Controls {
    let vegas: Arc<dyn Factory> = Arc::new(VegasConfig::default());
    Controls::from([
        ("steady".to_owned(), Arc::new(Steady(6.0)) as _),
        ("vegas".to_owned(), vegas),
    ])
}

fn scenario(control: Value) -> Scenario {
    let flow = json!({"from": "S", "to": "D", "connection": {"control": control}, "trace": true});
    two_hosts(20.0, 20.0, json!({"loss": 0.01}), json!({"flows": [flow]}))
}

fn run(control: Value) -> Results {
    let scenario = scenario(control);
    let mut simulation =
        Simulation::with_controls(&scenario, &Programs::new(), &controls()).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap()
}

fn custom(factory: &str, recovery: &str) -> Value {
    json!({"name": "custom", "factory": factory, "recovery": recovery})
}

#[test]
fn a_control_handed_in_is_the_control() {
    let results = run(custom("steady", "newreno"));
    let trace = results.flows[0].1.trace.as_ref().unwrap();
    assert!(trace.cwnd.iter().all(|&cwnd| cwnd == 6.0));
    assert!(trace.in_flight.contains(&6));
}

#[test]
fn a_control_handed_in_runs_as_the_built_in_one_with_its_recovery() {
    let handed_in = run(custom("vegas", "vegas"));
    let built_in = run(json!({"name": "vegas"}));
    assert!(built_in.flows[0].1.resent_packets[0] > 0);
    assert_eq!(
        handed_in.flows[0].1.sent_packets,
        built_in.flows[0].1.sent_packets
    );
    let traces = [&handed_in, &built_in].map(|results| results.flows[0].1.trace.as_ref().unwrap());
    assert_eq!(traces[0].cwnd, traces[1].cwnd);
    assert_eq!(traces[0].time_s, traces[1].time_s);
}

#[test]
fn a_control_that_is_not_there_is_told() {
    let scenario = scenario(custom("stedy", "reno"));
    let told = |controls: &Controls| {
        let refused = Simulation::with_controls(&scenario, &Programs::new(), controls);
        refused.unwrap_err().to_string()
    };
    assert_eq!(
        told(&controls()),
        "flows[0].connection.control.factory: no control \"stedy\" was passed; \
         controls are steady, vegas"
    );
    assert_eq!(
        told(&Controls::new()),
        "flows[0].connection.control.factory: no control \"stedy\" was passed; there are none"
    );
}
