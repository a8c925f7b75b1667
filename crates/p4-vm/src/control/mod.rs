//! The operations of a control plane, by name or by number.

mod calculations;
mod draft;
mod names;
mod objects;
mod tables;
