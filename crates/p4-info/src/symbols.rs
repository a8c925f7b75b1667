//! IDs and aliases.
//!
//! An ID is the prefix of its kind in the top octet and below it what `@id` says, or the hash of the name; where that is
//! taken, the next number that is free, names being served in alphabetical order, kind by kind.
//!
//! On Tofino the name of a table, an extern object or a value set is qualified for the hash and the alias: the pipeline
//! precedes it, as in `pipe.Ingress.routes`.

use crate::annotations::id;
use crate::interface::Interface;
use crate::package::is_tofino;
use crate::proto::p4_ids::Prefix;
use crate::{Error, externs};
use p4_ir::{Annotation, Declared, Program, SourceLoc, control_plane_name};
use std::collections::{BTreeMap, BTreeSet};

const PREFIX_MASK: u32 = 0xff00_0000;

/// What each object is called.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// By qualified name; `None` until it is computed.
    ids: BTreeMap<Prefix, BTreeMap<String, Option<u32>>>,
    taken: BTreeSet<u32>,
    /// How many names end in these components.
    suffixes: BTreeMap<String, u32>,
    names: BTreeSet<String>,
    /// The qualified names of objects that are in a pipeline of Tofino.
    qualified: BTreeMap<Prefix, BTreeMap<String, String>>,
}

impl Symbols {
    pub fn new(program: &Program, interface: &Interface, errors: &mut Vec<Error>) -> Self {
        let mut symbols = Symbols::default();
        if is_tofino(program) {
            symbols.qualify(program);
        }
        for id in interface.blocks.iter().flat_map(|b| &b.actions) {
            let action = &program[*id];
            let given = (action.annotations.as_slice(), action.loc);
            symbols.add(Prefix::Action, &action.name, given, errors);
        }
        for (name, _) in interface.blocks.iter().flat_map(|b| &b.digests) {
            symbols.add_unnumbered(Prefix::Digest, name);
        }
        for id in interface.tables() {
            let table = &program[id];
            let given = (table.annotations.as_slice(), table.loc);
            symbols.add(Prefix::Table, &table.name, given, errors);
        }
        for id in externs::all(program, interface) {
            let object = &program[id];
            let given = (object.annotations.as_slice(), object.loc);
            if let Some(prefix) = externs::prefix(&object.type_name) {
                symbols.add(prefix, &object.name, given, errors);
            }
        }
        for id in interface.value_sets() {
            let set = &program[id];
            let given = (set.annotations.as_slice(), set.loc);
            symbols.add(Prefix::ValueSet, &set.name, given, errors);
        }
        for id in &program.controller_headers {
            let header = &program[*id];
            let name = control_plane_name(&header.name, &header.annotations);
            let given = (header.annotations.as_slice(), header.loc);
            symbols.add(Prefix::ControllerHeader, &name, given, errors);
        }
        symbols.compute();
        symbols
    }

    /// The ID of an object; 0 for one that was never added.
    pub fn id(&self, prefix: Prefix, name: &str) -> u32 {
        let of_kind = self.ids.get(&prefix);
        of_kind
            .and_then(|ids| *ids.get(self.qualified(prefix, name))?)
            .unwrap_or(Prefix::Unspecified as u32)
    }

    /// The shortest suffix, in whole components, that no other name ends in; the name itself if there is none.
    pub fn alias(&self, prefix: Prefix, name: &str) -> String {
        let name = self.qualified(prefix, name);
        let unique = |suffix: &&str| self.suffixes.get(*suffix) == Some(&1);
        suffixes(name).find(unique).unwrap_or(name).to_string()
    }

    /// Learns the pipelines of all objects. Those of the top level belong to the first.
    fn qualify(&mut self, program: &Program) {
        for block in &program.blocks {
            for declared in block.declared.iter().chain(&program.declared) {
                self.qualify_one(program, &block.package, *declared);
            }
        }
    }

    fn qualify_one(&mut self, program: &Program, pipeline: &str, declared: Declared) {
        match declared {
            Declared::Action(_) => {}
            Declared::Table(id) => {
                let table = &program[id];
                self.set_pipeline(pipeline, Prefix::Table, &table.name);
                if let Some(id) = table.implementation {
                    self.qualify_one(program, pipeline, Declared::Extern(id));
                }
            }
            Declared::Extern(id) => {
                let object = &program[id];
                if let Some(prefix) = externs::prefix(&object.type_name) {
                    self.set_pipeline(pipeline, prefix, &object.name);
                }
            }
            Declared::ValueSet(id) => {
                let name = &program[id].name;
                self.set_pipeline(pipeline, Prefix::ValueSet, name);
                // p4c knows a value set by both names: its alias is the qualified one.
                self.add_name(name);
            }
        }
    }

    fn set_pipeline(&mut self, pipeline: &str, prefix: Prefix, name: &str) {
        let qualified = match name.split_once('.') {
            // Several pipelines have this block: its name says which.
            Some((first, _)) if first == pipeline => name.to_string(),
            _ => format!("{pipeline}.{name}"),
        };
        let of_kind = self.qualified.entry(prefix).or_default();
        of_kind.entry(name.to_string()).or_insert(qualified);
    }

    /// The name that an ID is the hash of.
    fn qualified<'n>(&'n self, prefix: Prefix, name: &'n str) -> &'n str {
        let qualified = self.qualified.get(&prefix);
        qualified.and_then(|of| of.get(name)).map_or(name, |q| q)
    }

    fn add(
        &mut self,
        prefix: Prefix,
        name: &str,
        (annotations, loc): (&[Annotation], SourceLoc),
        errors: &mut Vec<Error>,
    ) {
        if self.knows(prefix, name) {
            return;
        }
        self.add_unnumbered(prefix, name);
        let Some(given) = id(annotations) else { return };
        let own = (prefix as u32) << 24;
        if given & PREFIX_MASK != 0 && given & PREFIX_MASK != own {
            let message = format!(
                "`@id({given:#x})` of `{name}`: the top octet must be {:#04x} (or 0)",
                prefix as u32
            );
            return errors.push(Error { message, loc });
        }
        if !self.taken.insert(given | own) {
            let message = format!("`@id({given:#x})` of `{name}` belongs to another object");
            return errors.push(Error { message, loc });
        }
        let qualified = self.qualified(prefix, name).to_string();
        let ids = self.ids.entry(prefix).or_default();
        ids.insert(qualified, Some(given | own));
    }

    fn knows(&self, prefix: Prefix, name: &str) -> bool {
        let of_kind = self.ids.get(&prefix);
        of_kind.is_some_and(|ids| ids.contains_key(self.qualified(prefix, name)))
    }

    fn add_unnumbered(&mut self, prefix: Prefix, name: &str) {
        let name = self.qualified(prefix, name).to_string();
        self.add_name(&name);
        self.ids
            .entry(prefix)
            .or_default()
            .entry(name)
            .or_insert(None);
    }

    fn add_name(&mut self, name: &str) {
        if self.names.insert(name.to_string()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_string()).or_default() += 1;
            }
        }
    }

    fn compute(&mut self) {
        for (prefix, ids) in &mut self.ids {
            for (name, id) in ids {
                if id.is_some() {
                    continue;
                }
                let mut hash = one_at_a_time(name.as_bytes());
                let free = loop {
                    let candidate = (*prefix as u32) << 24 | hash & !PREFIX_MASK;
                    if self.taken.insert(candidate) {
                        break candidate;
                    }
                    hash = hash.wrapping_add(1);
                };
                *id = Some(free);
            }
        }
    }
}

/// The last component of a dotted name, the last two, and so on.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.rmatch_indices('.').map(|(at, _)| &name[at + 1..]);
    dots.chain([name])
}

/// [Jenkins's one-at-a-time hash](https://en.wikipedia.org/wiki/Jenkins_hash_function#one_at_a_time).
fn one_at_a_time(octets: &[u8]) -> u32 {
    let mixed = octets.iter().fold(0u32, |hash, octet| {
        let hash = hash.wrapping_add(u32::from(*octet));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    let mixed = mixed.wrapping_add(mixed << 3);
    let mixed = mixed ^ mixed >> 11;
    mixed.wrapping_add(mixed << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the hash's published description gives.
    #[test]
    fn hash_gives_the_published_values() {
        assert_eq!(one_at_a_time(b"a"), 0xca2e_9442);
        assert_eq!(
            one_at_a_time(b"The quick brown fox jumps over the lazy dog"),
            0x519e_91f5
        );
    }

    #[test]
    fn names_that_collide_take_the_next_number_in_alphabetical_order() {
        let mut symbols = Symbols::default();
        symbols.add_unnumbered(Prefix::Table, "c.t");
        let hash = one_at_a_time(b"c.t") & 0xff_ffff;
        symbols.taken.insert(0x0200_0000 | hash);
        symbols.compute();
        assert_eq!(symbols.id(Prefix::Table, "c.t"), 0x0200_0000 | (hash + 1));
    }

    #[test]
    fn alias_is_the_shortest_suffix_that_is_unique() {
        let mut symbols = Symbols::default();
        for name in ["d.a.c", "e.b.c", "e.f"] {
            symbols.add_unnumbered(Prefix::Action, name);
        }
        symbols.add_unnumbered(Prefix::Table, "f");
        let aliases =
            ["d.a.c", "e.b.c", "e.f", "f"].map(|name| symbols.alias(Prefix::Action, name));
        assert_eq!(aliases, ["a.c", "b.c", "e.f", "f"]);
    }
}
