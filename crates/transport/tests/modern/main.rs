//! The modern profile of TCP: hosts on a path that does everything a path can do to packets.

mod controls;
mod history;
mod path;
mod rules;
mod stream;
