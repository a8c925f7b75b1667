//! A simulation in slices, with samples on one time axis.

use crate::control::{Failure, PageFactory};
use crate::program::{self, Files};
use crate::request::Report;
use crate::results;
use crate::watch::Watch;
use congestion::Factory;
use netsim::scenario::Control;
use netsim::{Controls, Programs, Scenario, Simulation};
use serde_json::{Value, json};
use std::sync::Arc;
use units::Instant;

/// A run.
#[derive(Debug)]
pub struct Run {
    simulation: Simulation,
    bin_s: f64,
    sample_s: f64,
    /// Samples that were taken.
    samples: u64,
    flows: Vec<FlowNow>,
    failure: Failure,
    watch: Option<Watch>,
}

/// A flow as its sender sees it: the last values that a change brought.
#[derive(Clone, Debug, Default)]
struct FlowNow {
    name: String,
    cwnd: f64,
    aqt_forward_s: f64,
    aqt_backward_s: f64,
    mrai: u8,
    ci: bool,
    /// Octets that arrived before the last sample.
    delivered: u64,
}

impl Run {
    /// A run at time zero. The scenario is an object, or a text that a user wrote.
    ///
    /// # Errors
    /// What is wrong with the scenario or a program, with its diagnostics.
    pub fn open(files: &Files, scenario: &Value, sample_s: f64) -> Result<Self, Value> {
        let told = |error: netsim::ScenarioError| json!({"scenario": {"path": error.path, "message": error.message}});
        let text = match scenario {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        let mut scenario = Scenario::from_json(&text).map_err(told)?;
        if !(sample_s.is_finite() && sample_s > 0.0) {
            return Err(json!(format!(
                "sample_s is {sample_s}; expected seconds above 0"
            )));
        }
        let mut programs = Programs::new();
        for switch in scenario.switches.values() {
            if !programs.contains_key(&switch.program) {
                let pipeline = program::pipeline(files, &switch.program)?;
                programs.insert(switch.program.clone(), pipeline);
            }
        }
        let failure = Failure::default();
        let mut controls = Controls::new();
        let mut flows = Vec::new();
        for (i, flow) in scenario.flows.iter_mut().enumerate() {
            flow.trace = true;
            let name = flow.name.clone().unwrap_or_else(|| format!("flow{i}"));
            if let Control::Custom(custom) = &flow.connection.control {
                let factory: Arc<dyn Factory> = Arc::new(PageFactory {
                    flow: name.clone(),
                    failure: failure.clone(),
                });
                controls.insert(custom.factory.clone(), factory);
            }
            flows.push(FlowNow {
                name,
                ..FlowNow::default()
            });
        }
        let simulation =
            Simulation::with_controls(&scenario, &programs, &controls).map_err(told)?;
        let run = Run {
            simulation,
            bin_s: scenario.sample_s,
            sample_s,
            samples: 0,
            flows,
            failure,
            watch: None,
        };
        run.check_control()?;
        Ok(run)
    }

    /// What there is to draw.
    pub fn description(&self) -> Value {
        let lines = self.simulation.lines().map(
            |line| json!({"name": line.name, "rate_bps": line.rate_bps, "delay_s": line.delay_s}),
        );
        json!({
            "end_s": self.simulation.end().as_secs_f64(),
            "lines": lines.collect::<Vec<_>>(),
            "flows": self.flows.iter().map(|flow| &flow.name).collect::<Vec<_>>(),
        })
    }

    /// Continues to a time or by a number of events, whichever comes first.
    ///
    /// # Errors
    /// The simulator's, or a control's.
    pub fn advance(&mut self, until_s: f64, events: u64, report: Report) -> Result<Value, Value> {
        let traced = report == Report::Traces;
        let other = |watch: &Watch| report == Report::Nothing || watch.is_traced() != traced;
        if let Some(watch) = self.watch.take_if(|watch| other(watch)) {
            watch.stop(&mut self.simulation);
        }
        if self.watch.is_none() && report != Report::Nothing {
            self.watch = Some(Watch::start(&mut self.simulation, traced));
        }
        let before = self.simulation.packet_hops();
        let until = Instant::from_secs_f64(until_s.max(0.0)).min(self.simulation.end());
        let mut samples = Vec::new();
        let mut left = events;
        loop {
            let due = Instant::from_secs_f64((self.samples + 1) as f64 * self.sample_s);
            // In small steps, so that the number of events is kept, and a control's failure ends the run.
            let step = left.min(500);
            let reached = self.simulation.run_to(due.min(until), step);
            let reached = reached.map_err(|error| json!(error.to_string()))?;
            self.check_control()?;
            if !reached {
                left -= step;
                if left == 0 {
                    break;
                }
                continue;
            }
            if due > until {
                break;
            }
            self.samples += 1;
            samples.push(self.sample(due));
        }
        let now = self.simulation.now();
        Ok(json!({
            "now_s": now.as_secs_f64(),
            "ended": now >= self.simulation.end(),
            "hops": self.simulation.packet_hops() - before,
            "samples": samples,
            "flights": self.watch.as_ref().map(Watch::take_flights),
        }))
    }

    /// The packets that are watched.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Ends the run; its records.
    ///
    /// # Errors
    /// None of a run without a capture.
    pub fn finish(self) -> Result<Value, Value> {
        let results = self.simulation.finish();
        let results = results.map_err(|error| json!(error.to_string()))?;
        Ok(results::to_json(results, self.bin_s))
    }

    fn check_control(&self) -> Result<(), Value> {
        match self.failure.message() {
            Some(message) => Err(json!({"control": message})),
            None => Ok(()),
        }
    }

    /// The time, packets that wait for each line, and for each flow: throughput, window, marks.
    fn sample(&mut self, at: Instant) -> Value {
        let waiting: Vec<u32> = self.simulation.lines().map(|line| line.waiting).collect();
        let delivered: Vec<u64> = self.simulation.delivered_octets().collect();
        let mut flows = Vec::new();
        for (i, (flow, delivered)) in self.flows.iter_mut().zip(delivered).enumerate() {
            flow.ci = false;
            if let Some(trace) = self.simulation.take_trace(i) {
                flow.note(&trace);
            }
            let bps = (delivered - flow.delivered) as f64 * 8.0 / self.sample_s;
            flow.delivered = delivered;
            flows.push(json!([
                bps,
                flow.cwnd,
                flow.aqt_forward_s,
                flow.aqt_backward_s,
                flow.mrai,
                flow.ci
            ]));
        }
        json!([at.as_secs_f64(), waiting, flows])
    }
}

impl FlowNow {
    fn note(&mut self, trace: &netsim::trace::Trace) {
        let last = |column: &[f64], before: f64| {
            let known = column.iter().rev().find(|value| !value.is_nan());
            known.copied().unwrap_or(before)
        };
        self.cwnd = last(&trace.cwnd, self.cwnd);
        self.aqt_forward_s = last(&trace.aqt_forward_s, self.aqt_forward_s);
        self.aqt_backward_s = last(&trace.aqt_backward_s, self.aqt_backward_s);
        let mrai = trace.mrai.iter().rev().find(|mrai| **mrai > 0);
        self.mrai = mrai.copied().unwrap_or(self.mrai);
        self.ci = trace.ci.contains(&true);
    }
}
