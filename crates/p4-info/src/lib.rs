//! The P4Info of a program: what a P4Runtime controller needs to know, with the names and IDs it uses.

pub mod proto;
