//! FACK (Mathis and Mahdavi, SIGCOMM 1996), without rampdown: SACK that counts the data in flight by forward
//! acknowledgement.
//!
//! Forward acknowledgement is part of loss recovery. The window is controlled like Tahoe's, as in the papers'
//! simulator, or like Reno's with the loss recovery of today's hosts.

use crate::registry::{Control, Need, Recovery};
use crate::reno::RenoConfig;
use crate::tahoe::TahoeConfig;

pub(crate) static FACK: Control = Control {
    name: "fack",
    label: "FACK",
    summary: "SACK that computes the data in flight from forward acknowledgements",
    source: "Mathis and Mahdavi 1996",
    recovery: Recovery::Fack,
    marks: &[],
    needs: &[Need::Timestamps],
    settings: &[],
    factory: |_, rules| match rules.modern {
        true => Box::new(RenoConfig {}),
        false => Box::new(TahoeConfig {}),
    },
};
