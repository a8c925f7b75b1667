//! The loader, which `waymark kernel` runs.
//!
//! `attach IF CONTROL MARKS [tc|xdp]` (`-`: no control), `detach IF`, `status` (JSON), `controls`, `trace SECONDS` (JSON lines after `ready`), `replay` (such lines
//! of one connection on standard input; JSON); `hold` is what `attach` starts in the background. Errors go to standard error, with
//! exit code 2.

use std::process::ExitCode;

use kernel_hosts::attachment::Strip;
use kernel_hosts::error::KernelError;
use kernel_hosts::{holder, objects, replay, trace};

const USAGE: &str = "usage: waymark-kernel attach IF CONTROL|- MARKS [tc|xdp] | detach IF | status | controls | trace SECONDS | replay";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["attach", name, control, marks, rest @ ..] if let Some(strip) = strip(rest) => {
            holder::attach(name, named(control), marks, strip).map(|one| print(&one))
        }
        ["hold", name, control, marks, rest @ ..] if let Some(strip) = strip(rest) => {
            holder::hold(name, named(control), marks, strip)
        }
        ["detach", name] => holder::detach(name),
        ["status"] => holder::statuses().map(|all| print(&all)),
        ["controls"] => {
            print(&objects::controls().collect::<Vec<_>>());
            Ok(())
        }
        ["trace", seconds] if seconds.parse::<u32>().is_ok() => trace::trace(
            seconds.parse().unwrap_or_default(),
            || println!("ready"),
            print,
        ),
        ["replay"] => return replayed(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    report(done)
}

/// Where the options are taken out, as the last word says.
fn strip(rest: &[&str]) -> Option<Strip> {
    match rest {
        [] => Some(Strip::Tc),
        [word] => Strip::parse(word),
        _ => None,
    }
}

fn named<'a>(control: &&'a str) -> Option<&'a str> {
    (*control != "-").then_some(*control)
}

fn print(data: &impl serde::Serialize) {
    println!("{}", serde_json::to_string(data).expect("plain data"));
}

fn replayed() -> ExitCode {
    let lines = std::io::stdin().lines().map_while(Result::ok);
    let mut events = Vec::new();
    for (at, line) in (1..).zip(lines) {
        match serde_json::from_str::<trace::Event>(&line) {
            Ok(event) => events.push(event),
            Err(error) => {
                eprintln!("error: line {at}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    match replay::replay(&events) {
        Ok(report) => {
            print(&report);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn report(done: Result<(), KernelError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
