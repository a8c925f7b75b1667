//! Parser value sets.

use crate::code::Slot;
use crate::wide::limbs_of;
use crate::{ControlError, Match};
use num_bigint::BigUint;
use p4_ir::{Program, ValueSet};

/// A value set at run time.
#[derive(Debug)]
pub struct ValueSetState {
    name: String,
    size: u64,
    /// Name and width of each field.
    fields: Vec<(String, u32)>,
    members: Members,
}

/// The checked members of a value set.
#[derive(Debug, Default)]
pub struct Members {
    tests: Vec<Vec<Test>>,
    /// As the control plane wrote them.
    written: Vec<Vec<Match>>,
}

/// A set of values of one field.
#[derive(Debug)]
enum Test {
    Mask(Vec<u64>, Vec<u64>),
    Range(Vec<u64>, Vec<u64>),
}

impl ValueSetState {
    pub fn new(program: &Program, set: &ValueSet) -> Self {
        let width = |ty: &p4_ir::Type| ty.scalar(program).map_or(0, |scalar| scalar.width());
        ValueSetState {
            name: set.name.clone(),
            size: set.size,
            fields: set
                .fields
                .iter()
                .map(|(name, ty, _)| (name.clone(), width(ty)))
                .collect(),
            members: Members::default(),
        }
    }

    /// Whether the values at `keys` are in the set.
    pub fn contains(&self, words: &[u64], keys: &[Slot]) -> bool {
        let in_test = |test: &Test, key: &Slot| {
            let value = |limbs: &Vec<u64>| &words[*key as usize..*key as usize + limbs.len()];
            match test {
                Test::Mask(want, mask) => {
                    let mut pairs = value(want).iter().zip(mask).zip(want);
                    pairs.all(|((value, mask), want)| value & mask == *want)
                }
                Test::Range(low, high) => {
                    let value = value(low).iter().rev();
                    value.clone().ge(low.iter().rev()) && value.le(high.iter().rev())
                }
            }
        };
        let matches = |member: &Vec<Test>| {
            member
                .iter()
                .zip(keys)
                .all(|(test, key)| in_test(test, key))
        };
        self.members.tests.iter().any(matches)
    }

    /// The members as the control plane wrote them.
    pub fn written(&self) -> &[Vec<Match>] {
        &self.members.written
    }

    /// Replaces the members.
    pub fn put(&mut self, members: Members) {
        self.members = members;
    }

    /// Swaps the members with others.
    pub fn swap(&mut self, members: &mut Members) {
        std::mem::swap(&mut self.members, members);
    }

    /// Checks new members.
    pub fn check(&self, members: Vec<Vec<Match>>) -> Result<Members, ControlError> {
        let at = || format!("value set `{}`", self.name);
        if members.len() as u64 > self.size {
            return Err(ControlError::Full {
                at: at(),
                size: self.size,
            });
        }
        let mut tests = Vec::new();
        for member in &members {
            if member.len() != self.fields.len() {
                return Err(ControlError::Invalid {
                    at: at(),
                    expected: format!("{} matches a member", self.fields.len()),
                    found: member.len().to_string(),
                });
            }
            let pairs = member.iter().zip(&self.fields);
            let member: Result<Vec<_>, _> = pairs
                .map(|(set, (name, width))| {
                    test(set, *width).map_err(|(expected, found)| ControlError::Invalid {
                        at: format!("{}, `{name}`", at()),
                        expected,
                        found,
                    })
                })
                .collect();
            tests.push(member?);
        }
        Ok(Members {
            tests,
            written: members,
        })
    }
}

fn test(set: &Match, width: u32) -> Result<Test, (String, String)> {
    let words = width.div_ceil(64).max(1);
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let limbs = |value: &BigUint| match value.bits() <= width as u64 {
        true => Ok(limbs_of(value, words)),
        false => Err((format!("a value of {width} bits"), format!("{value:#x}"))),
    };
    let masked =
        |value: &BigUint, mask: &BigUint| Ok(Test::Mask(limbs(&(value & mask))?, limbs(mask)?));
    match set {
        Match::Any => masked(&BigUint::ZERO, &BigUint::ZERO),
        Match::Exact(value) => Ok(Test::Mask(limbs(value)?, limbs(&ones)?)),
        Match::Ternary { value, mask } => masked(value, mask),
        Match::Lpm { prefix, .. } if *prefix > width => Err((
            format!("a prefix of at most {width} bits"),
            prefix.to_string(),
        )),
        Match::Lpm { value, prefix } => {
            masked(value, &(&ones >> (width - prefix) << (width - prefix)))
        }
        Match::Range { low, high } => Ok(Test::Range(limbs(low)?, limbs(high)?)),
    }
}
