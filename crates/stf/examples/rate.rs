//! What a packet costs in a program: processor time, and what machine code leaves to the interpreter.
//!
//! ```sh
//! cargo run --release -p stf --example rate -- PROGRAM.p4 SCRIPT.stf [PACKETS [interpreted|compiled]]
//! ```
//! The script's settings are made once. Its packets are then sent in turn, one every microsecond, until there were as many as
//! PACKETS (100,000); what comes out is thrown away. `measured` is the function to profile.

#[path = "../tests/support/asked.rs"]
mod asked;
#[path = "../tests/support/mod.rs"]
mod support;

use asked::{Calls, Counting};
use cpu_time::ThreadTime;
use engine::{Packet, Pipeline, Switch, SwitchConfig};
use p4_ir::Program;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use stf::{Ports, Script, Verb};
use units::Instant;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    if let Err(why) = run(&args) {
        eprintln!("error: {why}");
        std::process::exit(1);
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let [program, path, rest @ ..] = args else {
        return Err(
            "usage: rate PROGRAM.p4 SCRIPT.stf [PACKETS [interpreted|compiled]]".to_owned(),
        );
    };
    let packets = match rest.first() {
        Some(count) => count
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("PACKETS: found {count}; expected a number of at least 1"))?,
        None => 100_000,
    };
    let only = rest.get(1).map(String::as_str);
    if let Some(other) = only.filter(|only| !["interpreted", "compiled"].contains(only)) {
        return Err(format!("found {other}; valid: interpreted, compiled"));
    }
    let program = support::compile(Path::new(program))?;
    let text = std::fs::read_to_string(path).map_err(|why| format!("{path}: {why}"))?;
    let script = Script::parse(&text).map_err(|errors| {
        let lines: Vec<_> = errors
            .iter()
            .map(|error| format!("{path}: {error}"))
            .collect();
        lines.join("\n")
    })?;
    p4_vm::native::install(&Counting);
    measure(&program, &script, packets, only)
}

/// Measures the interpreter and compiled code, or the one that is named.
fn measure(
    program: &Program,
    script: &Script,
    count: usize,
    only: Option<&str>,
) -> Result<(), String> {
    let begin = ThreadTime::now();
    let pipeline = Pipeline::compile(program).map_err(|why| format!("{why:?}"))?;
    println!("compiled in {:?}", begin.elapsed());
    let packets: Vec<_> = script
        .commands
        .iter()
        .filter_map(|command| match &command.verb {
            Verb::Packet { port, octets } => Some((*port, octets.clone())),
            _ => None,
        })
        .collect();
    if packets.is_empty() {
        return Err("the script has no packet".to_owned());
    }
    for (name, interpreted) in [("interpreted", true), ("compiled", false)] {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let begin = ThreadTime::now();
        let mut switch = configured(&pipeline, script, interpreted);
        println!("{name}: set up in {:?}", begin.elapsed());
        send(&mut switch, &packets, packets.len(), 0);
        asked::count_calls(!interpreted);
        send(&mut switch, &packets, packets.len(), 1_000_000_000);
        asked::count_calls(false);
        let begin = ThreadTime::now();
        let sent = measured(&mut switch, &packets, count, 2_000_000_000);
        let ns = begin.elapsed().as_nanos() / count as u128;
        println!("{name}: {ns} ns per packet, {sent} of {count} came out");
    }
    if let Some(calls) = asked::calls() {
        show(program, &calls, packets.len());
    }
    Ok(())
}

/// A switch with what a script sets.
fn configured(pipeline: &Arc<Pipeline>, script: &Script, interpreted: bool) -> Switch {
    let mut switch = Switch::with_pipeline(pipeline.clone(), SwitchConfig::default());
    switch.set_interpreted(interpreted);
    let mut settings = script.clone();
    settings.commands.retain(|command| {
        !matches!(
            command.verb,
            Verb::Packet { .. }
                | Verb::Expect { .. }
                | Verb::NoPacket
                | Verb::CheckCounter { .. }
                | Verb::Wait
        )
    });
    let outcome = stf::run_on(switch, &settings, Ports::Named);
    for failure in outcome.report.failures.iter().take(5) {
        println!("{failure}");
    }
    outcome.switch
}

/// What is measured, by a name that a profiler finds.
#[inline(never)]
fn measured(switch: &mut Switch, packets: &[(u16, Vec<u8>)], count: usize, from_ns: u64) -> usize {
    send(switch, packets, count, from_ns)
}

/// Sends this many packets, one every microsecond; how many came out.
#[inline(always)]
fn send(switch: &mut Switch, packets: &[(u16, Vec<u8>)], count: usize, from_ns: u64) -> usize {
    let mut sent = 0;
    for (number, (port, octets)) in (0..).zip(packets.iter().cycle().take(count)) {
        let now = Instant::from_nanos(from_ns + 1000 * number);
        let mut buffer = switch.buffer();
        buffer.extend_from_slice(octets);
        switch.handle_packet(now, *port, Packet::new(buffer));
        while let Some(out) = switch.poll_transmit(now) {
            sent += 1;
            switch.recycle(out.packet);
        }
        while switch.poll_event().is_some() {}
    }
    sent
}

/// Writes what the interpreter was called for, per packet.
fn show(program: &Program, calls: &Calls, packets: usize) {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (op, loc, count) in &calls.steps {
        let name = asked::kind(op);
        let file = program.files.get(loc.file as usize);
        let file = file.and_then(|file| file.rsplit('/').next()).unwrap_or("?");
        let line = format!("instruction {name}, {file}:{}", loc.line);
        *lines.entry(line).or_default() += count.load(Relaxed);
    }
    for (table, count) in &calls.sites {
        let name = &program.tables[*table as usize].name;
        *lines.entry(format!("table {name}")).or_default() += count.load(Relaxed);
    }
    for (table, count) in program.tables.iter().zip(&calls.notes) {
        let line = format!("entry hit in table {}", table.name);
        *lines.entry(line).or_default() += count.load(Relaxed);
    }
    for (number, (kind, count)) in calls.externs.iter().enumerate() {
        *lines.entry(format!("extern {kind} {number}")).or_default() += count.load(Relaxed);
    }
    println!("the interpreter is called per packet");
    for (line, count) in lines.iter().filter(|(_, count)| **count > 0) {
        println!("{:8.3} {line}", *count as f64 / packets as f64);
    }
}
