//! What a control plane does: by name, or by number.

mod calculations;
mod draft;
mod names;
mod objects;
mod tables;
