//! Hops with a route, and the one with every mark on.

use super::support::{self, add};
use engine::{Match, Switch, SwitchConfig};
use std::path::Path;

/// `waymark.p4` with a route to 10.0.2.20 by port 2, which writes all marks.
pub fn hop() -> Switch {
    let mut switch = routed("waymark.p4");
    let on = [("aqt", 1), ("drai", 1), ("ci", 1), ("window_log2", 18)];
    let port = [("port", Match::exact(2u8))];
    add(&mut switch, "port_feedback", &port, "set_feedback", &on);
    switch
}

/// A program with a route to 10.0.2.20 by port 2.
pub fn routed(main: &str) -> Switch {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model");
    let main = programs.join(main);
    let program = support::compile(&main).unwrap_or_else(|why| panic!("{why}"));
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("a v1model program");
    let host = 0x0a00_0214u32;
    let port = ("port", Match::exact(2u8));
    let route = [("dst_addr", Match::lpm(host, 32))];
    add(&mut switch, "ipv4_route", &route, "direct", &[("port", 2)]);
    let neighbour = [port, ("next_hop", Match::exact(host))];
    let addresses = [("src_addr", 2), ("dst_addr", 3)];
    add(&mut switch, "neighbour", &neighbour, "rewrite", &addresses);
    switch
}
