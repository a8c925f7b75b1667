//! The switch between two veth pairs goes on, whatever happens to it. Needs root and `ip`; skips with a
//! message without.

mod support;

use support::{Lab, News};
use units::Instant;
use v1model::{DropCause, TraceEvent, Tracer};

/// Has the engine panic as the tenth packet is parsed.
#[derive(Debug)]
struct Saboteur(u32);

impl Tracer for Saboteur {
    fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
        if matches!(event, TraceEvent::State { .. }) {
            self.0 += 1;
            assert_ne!(self.0, 10, "sabotage");
        }
    }
}

#[test]
fn a_panic_of_the_engine_costs_one_packet() {
    let Some(lab) = Lab::new("a") else {
        return;
    };
    let live = lab.switch();
    live.ask(|switch| {
        let switch = switch.as_mut().expect("it was put there");
        switch.set_tracer(Some(Box::new(Saboteur(0))));
    });
    assert_eq!(lab.cross(20), 19);
    let panic = live.hear(|news| match news {
        News::Panicked(panic) => Some(panic),
        _ => None,
    });
    assert_eq!(
        (panic.message.contains("sabotage"), panic.block),
        (true, "ingress")
    );
    assert_eq!((panic.ingress_port, panic.octets.len()), (1, 114));
    let drops = live.ask(|switch| switch.as_ref().map(v1model::Switch::drops));
    assert_eq!(drops.map(|drops| drops.of(DropCause::Panic)), Some(1));
    assert!(live.dataplane.is_running());
}

#[test]
fn a_request_that_panics_does_not_end_the_switch() {
    let Some(lab) = Lab::new("b") else {
        return;
    };
    let live = lab.switch();
    live.handle.submit(Box::new(|_, _| panic!("sabotage")));
    let warning = live.hear(|news| match news {
        News::Warning(warning) => Some(warning),
        _ => None,
    });
    assert_eq!(
        warning,
        "a request from the control plane made the switch panic; it was not carried out"
    );
    assert_eq!(lab.cross(10), 10);
}
