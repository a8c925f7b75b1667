//! Marks that a user declares: IPv4 options with fields into which hops write.
//!
//! ```text
//! +--------+--------+----------------------+----------------------+
//! |  type  | length |        fields        |    echoed fields     |
//! +--------+--------+----------------------+----------------------+
//! ```
//!
//! The fields collect the values that hops write on the path of this packet. The echoed fields are those of the data
//! that an acknowledgement acknowledges; hops do not change them. Both lists have the same layout: fields of any width,
//! contiguous, most significant bit first, with whole octets in total. Padding follows an option up to a whole word of
//! the header.

use std::sync::Arc;

use congestion::MarkValues;
use thiserror::Error;

use super::options::{self, Options};

/// An IPv4 option with fields into which hops write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The option's type.
    pub option: u8,
    /// Its fields, in the order of the header.
    pub fields: Vec<Field>,
}

/// A field of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its width in bits, 1 to 64.
    pub bits: u8,
    /// How hops update it.
    pub aggregation: Aggregation,
}

/// How the values of a path's hops, and of the packets that one acknowledgement covers, are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// Each hop adds to it. Of several packets the newest value counts.
    Sum,
    /// The minimum counts.
    Min,
    /// The maximum counts.
    Max,
    /// Each hop writes its own value. Of several packets the newest value counts.
    Last,
}

/// Why marks cannot be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MarkError {
    /// The type is padding, or an option with its own meaning here.
    #[error("option type {option:#04x} is used by padding, AQT or AVBW-S")]
    Taken {
        /// The type.
        option: u8,
    },
    /// Two marks have the same type.
    #[error("option type {option:#04x} belongs to two marks")]
    Twice {
        /// The type.
        option: u8,
    },
    /// A field has no width, or a width larger than a value can hold.
    #[error("a field of option {option:#04x} has {bits} bits, expected 1 to 64")]
    Bits {
        /// The option's type.
        option: u8,
        /// The field's width.
        bits: u8,
    },
    /// The fields do not end at an octet boundary, or there are none.
    #[error(
        "the fields of option {option:#04x} have {bits} bits in all, expected a multiple of 8 above 0"
    )]
    Octets {
        /// The option's type.
        option: u8,
        /// Bits of all fields.
        bits: usize,
    },
    /// More fields than an event holds.
    #[error("the marks have {count} fields, expected at most {}", MarkValues::MAX)]
    Fields {
        /// The number of fields of all marks.
        count: usize,
    },
    /// IPv4 has room for 40 octets of options.
    #[error("the marks take {octets} octets, IPv4 has 40 for all options")]
    TooLong {
        /// The octets of all options.
        octets: usize,
    },
}

/// The marks that a connection carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    marks: Arc<[Mark]>,
    /// The options with all fields at their initial values.
    blank: Options,
}

/// Octets of the type and the length.
const HEAD: usize = 2;
/// Types with their own meaning.
const TAKEN: [u8; 4] = [options::END, options::NOP, options::AQT, options::AVBW];

impl Marks {
    /// Lays out options.
    ///
    /// # Errors
    /// A declaration is not valid, or there are too many.
    pub fn new(marks: Vec<Mark>) -> Result<Self, MarkError> {
        let mut blank = Options::default();
        let mut octets = 0;
        for (i, mark) in marks.iter().enumerate() {
            mark.check()?;
            let option = mark.option;
            if marks[..i].iter().any(|other| other.option == option) {
                return Err(MarkError::Twice { option });
            }
            octets += mark.octets();
            if octets > Options::MAX {
                return Err(MarkError::TooLong { octets });
            }
            let (buffer, length) = mark.blank();
            blank.push(&buffer[..length]);
        }
        let count = marks.iter().map(|mark| mark.fields.len()).sum();
        match count > MarkValues::MAX {
            true => Err(MarkError::Fields { count }),
            false => Ok(Marks {
                marks: marks.into(),
                blank,
            }),
        }
    }

    /// Octets that they add to an IPv4 header, including padding.
    pub fn octets(&self) -> u32 {
        self.blank.padded_octets()
    }

    /// The options of data, before any hop.
    pub fn blank(&self) -> Options {
        self.blank
    }

    /// The options of an acknowledgement of data with the options `received`. The echo of an option that the data did
    /// not have, or that had another length, is the initial value.
    pub fn echo(&self, received: &Options) -> Options {
        let mut echo = self.blank;
        self.for_each_shared(&mut echo, received, |mark, ours, theirs| {
            let fields = mark.field_octets();
            ours[fields..].copy_from_slice(&theirs[..fields]);
        });
        echo
    }

    /// Combines the options of two packets for an acknowledgement that covers both.
    pub(super) fn combine(&self, earlier: &Options, later: &Options) -> Options {
        let mut combined = *later;
        self.for_each_shared(&mut combined, earlier, |mark, later, earlier| {
            let mut at = 0;
            for field in &mark.fields {
                let (first, second) = (field.read(earlier, at), field.read(later, at));
                field.write(later, at, field.aggregation.combine(first, second));
                at += usize::from(field.bits);
            }
        });
        combined
    }

    /// The values that an acknowledgement carries: the fields that its data collected on the forward path, and those
    /// that it collected itself on the backward path. Initial values for missing options.
    pub(super) fn read(&self, ack: &Options) -> (MarkValues, MarkValues) {
        let mut values = (MarkValues::default(), MarkValues::default());
        for mark in &*self.marks {
            let option = mark.in_options(ack).or(mark.in_options(&self.blank));
            let Some(option) = option else { continue };
            let (back, there) = option.split_at(mark.field_octets());
            let mut at = 0;
            for field in &mark.fields {
                values.0.push(field.read(there, at));
                values.1.push(field.read(back, at));
                at += usize::from(field.bits);
            }
        }
        values
    }

    /// Calls `change` for each mark that both have completely, with the fields behind type and length.
    fn for_each_shared(
        &self,
        ours: &mut Options,
        theirs: &Options,
        change: impl Fn(&Mark, &mut [u8], &[u8]),
    ) {
        for mark in &*self.marks {
            if let Some(theirs) = mark.in_options(theirs)
                && let Some(ours) = ours.find_mut(mark.option)
                && ours.len() == mark.octets()
            {
                change(mark, &mut ours[HEAD..], theirs);
            }
        }
    }
}

impl Mark {
    fn check(&self) -> Result<(), MarkError> {
        let option = self.option;
        if TAKEN.contains(&option) {
            return Err(MarkError::Taken { option });
        }
        let width = |field: &Field| (1..=64).contains(&field.bits);
        if let Some(&Field { bits, .. }) = self.fields.iter().find(|field| !width(field)) {
            return Err(MarkError::Bits { option, bits });
        }
        let bits = self.bits();
        match bits == 0 || !bits.is_multiple_of(8) {
            true => Err(MarkError::Octets { option, bits }),
            false => Ok(()),
        }
    }

    fn bits(&self) -> usize {
        self.fields.iter().map(|f| usize::from(f.bits)).sum()
    }

    fn field_octets(&self) -> usize {
        self.bits() / 8
    }

    fn octets(&self) -> usize {
        HEAD + 2 * self.field_octets()
    }

    /// The option with initial values, in a buffer, and its length.
    fn blank(&self) -> ([u8; Options::MAX], usize) {
        let mut buffer = [0; Options::MAX];
        let length = self.octets();
        buffer[..HEAD].copy_from_slice(&[self.option, length as u8]);
        let (fields, echo) = buffer[HEAD..length].split_at_mut(self.field_octets());
        let mut at = 0;
        for field in &self.fields {
            field.write(fields, at, field.initial());
            field.write(echo, at, field.initial());
            at += usize::from(field.bits);
        }
        (buffer, length)
    }

    /// Its fields in some options, behind type and length, if present with the right length.
    fn in_options<'a>(&self, options: &'a Options) -> Option<&'a [u8]> {
        let option = options.find(self.option)?;
        (option.len() == self.octets()).then(|| &option[HEAD..])
    }
}

impl Field {
    fn initial(&self) -> u64 {
        match self.aggregation {
            Aggregation::Min => u64::MAX >> (64 - self.bits),
            Aggregation::Sum | Aggregation::Max | Aggregation::Last => 0,
        }
    }

    /// Its value in `octets`, where it begins at bit `at`.
    fn read(&self, octets: &[u8], at: usize) -> u64 {
        (at..at + usize::from(self.bits)).fold(0, |value, bit| {
            let set = octets[bit / 8] >> (7 - bit % 8) & 1;
            value << 1 | u64::from(set)
        })
    }

    fn write(&self, octets: &mut [u8], at: usize, value: u64) {
        let bits = usize::from(self.bits);
        for i in 0..bits {
            let (bit, mask) = (at + i, 0x80 >> ((at + i) % 8));
            match value >> (bits - 1 - i) & 1 {
                0 => octets[bit / 8] &= !mask,
                _ => octets[bit / 8] |= mask,
            }
        }
    }
}

impl Aggregation {
    fn combine(self, earlier: u64, later: u64) -> u64 {
        match self {
            Aggregation::Min => earlier.min(later),
            Aggregation::Max => earlier.max(later),
            Aggregation::Sum | Aggregation::Last => later,
        }
    }
}

#[cfg(test)]
mod tests;
