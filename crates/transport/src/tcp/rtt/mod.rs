//! Round-trip times: the timer's, in ticks of a coarse clock, and Vegas' fine-grained ones.

mod coarse;
mod fine;

pub(super) use coarse::Coarse;
pub(super) use fine::Fine;
