//! The compiler and the simulator for a browser page: requests and answers as JSON, no algorithms.
//!
//! ```text
//!   {"do": "check",   "files", "main"}                            ► {"diagnostics"}
//!   {"do": "grade",   "files", "main", "scripts"}                 ► {"passed", "failures", …}
//!   {"do": "open",    "files", "scenario", "sample_s"}            ► {"lines", "flows", …}
//!   {"do": "advance", "until_s", "events", "watch"}               ► {"now_s", "ended", "samples", "flights"}
//!   {"do": "packet",  "id"}                                       ► {"visits"}
//!   {"do": "finish"}                                              ► {"flows", "lines", "switches", "totals"}
//! ```
//! An answer with `"error"` gives the reason for a failure. One instance holds one run.
//!
//! - [`request`]: the requests;
//! - `program`: compiles the page's files, with diagnostics at their places;
//! - `run`: a simulation in slices, with samples on one time axis;
//! - `watch`: packets on lines, and what they met in switches;
//! - `results`: the records of a run at its end;
//! - `control`: a congestion control that the page provides;
//! - `boundary`: the functions that WebAssembly exports and imports.

#[cfg(target_arch = "wasm32")]
mod boundary;
mod control;
mod program;
pub mod request;
mod results;
mod run;
mod watch;

pub use request::Lab;
