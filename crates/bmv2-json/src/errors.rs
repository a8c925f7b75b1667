//! Errors. The JSON gives each a number, older compilers from 1 on; here they are numbered in order, `NoError` is 0.

use crate::node::{Node, Result};
use std::collections::BTreeMap;

/// Numbers of errors.
#[derive(Debug, Default)]
pub struct Errors {
    /// By the JSON's number, ours.
    numbers: BTreeMap<u32, u32>,
}

impl Errors {
    /// Reads the errors: their names in our order, and the JSON's numbers.
    pub fn read(root: &Node<'_>) -> Result<(Vec<String>, Errors)> {
        let mut listed = Vec::new();
        for node in root.list("errors")? {
            let [name, number] = node.exactly()?;
            listed.push((name.str()?.to_owned(), number.small()?, number));
        }
        // The sort keeps the order of the others.
        listed.sort_by_key(|(name, ..)| name != "NoError");
        let mut names = Vec::new();
        let mut errors = Errors::default();
        for (name, number, node) in listed {
            let ours = names.len() as u32;
            if errors.numbers.insert(number, ours).is_some() {
                return Err(node.error(format!("two errors have the number {number}")));
            }
            names.push(name);
        }
        Ok((names, errors))
    }

    /// Whether the JSON numbers errors as this crate does.
    pub fn are_ours(&self) -> bool {
        self.numbers.iter().all(|(theirs, ours)| theirs == ours)
    }

    /// This crate's number of an error that the JSON numbers so.
    pub fn ours(&self, theirs: u32) -> Option<u32> {
        self.numbers.get(&theirs).copied()
    }

    /// The JSON's number and this crate's of each error.
    pub fn numbers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.numbers.iter().map(|(theirs, ours)| (*theirs, *ours))
    }
}
