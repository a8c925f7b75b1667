//! The rules of Tofino that a P4 program can break although the language allows what it says.
//!
//! The engine executes such programs; the hardware does not. [`check`] looks for what a compiler for Tofino refuses,
//! whatever the rest of the program is: it misses some of that rather than refuse a program that fits. Whether a
//! program's tables fit into the stages, it does not know.
//!
//! - `registers`: how often, from where, and what kind of cells;
//! - `stateful`: what a stateful ALU computes;
//! - `actions`: arithmetic, comparisons and conditions of match-action units;
//! - `tables`: keys;
//! - `parsers`: what a parser computes, and fields of variable length.
//!
//! `reach` finds the code that a block runs, `walk` the expressions in it.

mod actions;
mod parsers;
mod reach;
mod registers;
mod stateful;
mod tables;
mod walk;

use p4_ir::{Annotation, AnnotationValue, Program, SourceLoc};
use reach::Gress;
use std::collections::HashSet;

/// A place where a program breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub loc: SourceLoc,
    /// The rule's name: `register-twice`.
    pub rule: &'static str,
    /// What the program does, and what the hardware can do.
    pub message: String,
    /// How such code is usually rewritten.
    pub help: &'static str,
}

/// A generation of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tofino {
    /// Tofino 1, whose architecture is TNA.
    One,
    /// Tofino 2, whose architecture is T2NA.
    Two,
}

impl Tofino {
    /// The hardware that a program is for, if it is for one of them: the `@pkginfo(arch=…)` of its package.
    pub fn of(program: &Program) -> Option<Tofino> {
        let pkginfo = program.package_annotations.iter();
        let mut pairs = pkginfo
            .filter(|annotation| annotation.name == "pkginfo")
            .flat_map(Annotation::pairs);
        let (_, architecture) = pairs.find(|(key, _)| *key == "arch")?;
        match architecture {
            AnnotationValue::String(name) if name == "TNA" => Some(Tofino::One),
            AnnotationValue::String(name) if name == "T2NA" => Some(Tofino::Two),
            _ => None,
        }
    }
}

/// Where a program breaks a rule of the hardware that it is for, in the order of the source. A program for another
/// architecture breaks none.
pub fn check(program: &Program) -> Vec<Violation> {
    let Some(tofino) = Tofino::of(program) else {
        return Vec::new();
    };
    let mut report = Report::default();
    let gresses = reach::gresses(program);
    registers::check(program, tofino, &gresses, &mut report);
    for gress in &gresses {
        check_gress(program, gress, &mut report);
    }
    parsers::check(program, &mut report);
    report
        .violations
        .sort_by_key(|v| (v.loc.file, v.loc.line, v.loc.column));
    report.violations
}

fn check_gress(program: &Program, gress: &Gress, report: &mut Report) {
    for body in gress.bodies(program) {
        actions::check(program, gress, &body, report);
    }
    for table in gress.tables(program) {
        tables::check(&program[table], report);
    }
}

/// Violations, each once: a control that is instantiated twice breaks a rule at one place.
#[derive(Default)]
struct Report {
    violations: Vec<Violation>,
    seen: HashSet<(SourceLoc, &'static str)>,
}

impl Report {
    fn add(&mut self, loc: SourceLoc, rule: &'static str, message: String, help: &'static str) {
        if self.seen.insert((loc, rule)) {
            self.violations.push(Violation {
                loc,
                rule,
                message,
                help,
            });
        }
    }
}
