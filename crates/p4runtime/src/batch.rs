//! Batches of updates, and the status of each update.

use crate::device::Target;
use crate::entities::{self, Prepared};
use crate::fault::{Fault, Outcome, cut};
use crate::proto::rpc;
use crate::proto::v1::{Error, Update};
use prost::Message;
use tonic::{Code, Status};

/// Executes each update. Returns the result of each, in order.
pub fn write_each(target: &mut Target<'_>, updates: &mut [Prepared]) -> Vec<Outcome<()>> {
    let results = updates.iter_mut().map(|update| update.write(target));
    results.collect()
}

/// Executes all updates or none. Returns the updates that undo them, in order. Updates for which `undoes` is false are
/// undone in another way.
///
/// # Errors
/// The index of the first update that fails, and the reason.
pub fn write_all(
    target: &mut Target<'_>,
    updates: &mut [Prepared],
    undoes: impl Fn(&Prepared) -> bool,
) -> Result<Vec<Update>, (usize, Fault)> {
    let mut undo = Vec::new();
    for (number, update) in updates.iter_mut().enumerate() {
        // An entity that cannot be read cannot be changed either. The error of the change states the reason.
        let before = match undoes(update) {
            true => update.undo(target),
            false => Ok(Vec::new()),
        };
        if let Err(fault) = update.write(target) {
            take_back(target, &undo);
            return Err((number, fault));
        }
        undo.extend(before.unwrap_or_default().into_iter().rev());
    }
    Ok(undo)
}

/// Undoes updates, the last one first.
pub fn take_back(target: &mut Target<'_>, undo: &[Update]) {
    for update in undo.iter().rev() {
        // This was the state before, so it is valid.
        let _ = entities::write(target, update);
    }
}

/// The updates that undo those of a slice, encoded. A batch stores many of these. As messages, they would be many small
/// allocations, and packets would wait while the allocator merges them when they are freed.
#[derive(Debug)]
pub struct Undo(Vec<u8>);

impl Undo {
    /// Encodes these updates.
    pub fn new(updates: &[Update]) -> Self {
        let mut octets = Vec::new();
        for update in updates {
            octets.extend(update.encode_length_delimited_to_vec());
        }
        Undo(octets)
    }

    /// Executes the updates.
    pub fn carry_out(&self, target: &mut Target<'_>) {
        let (mut octets, mut updates) = (&self.0[..], Vec::new());
        while !octets.is_empty()
            && let Ok(update) = Update::decode_length_delimited(&mut octets)
        {
            updates.push(update);
        }
        take_back(target, &updates);
    }
}

/// The result of each update of a batch that was rolled back because one of them failed.
pub fn none_carried_out(count: usize, failed: usize, fault: Fault) -> Vec<Outcome<()>> {
    let message = format!("not executed, because update {failed} of the batch failed");
    let mut results = vec![Err(Fault::new(Code::Aborted, message)); count];
    results[failed] = Err(fault);
    results
}

/// The octets of metadata that gRPC clients accept by default, in C++, Python and Java.
pub const DEFAULT_METADATA: usize = 8 << 10;

/// The type of details.
const ERROR: &str = "type.googleapis.com/p4.v1.Error";

/// The most octets of a message next to details.
const MAX_MESSAGE: usize = 1_200;

/// The most octets of details beside a message and other metadata. Base64 encodes 3 octets in 4.
fn max_details(metadata: usize) -> usize {
    metadata.saturating_sub(MAX_MESSAGE + 592) / 4 * 3
}

/// The response to a batch. If any part of it failed, it contains an error for each part, if the client accepts that
/// many octets of metadata. The message begins with the first fault that is not the consequence of another.
pub fn status(results: &[Outcome<()>], what: &str, metadata: usize) -> Result<(), Status> {
    let max_details = max_details(metadata);
    let failed = || {
        results
            .iter()
            .enumerate()
            .filter_map(|(i, r)| Some((i, r.as_ref().err()?)))
    };
    let causes = || failed().filter(|(_, fault)| fault.code != Code::Aborted);
    let Some((cause, fault)) = causes().next().or(failed().next()) else {
        return Ok(());
    };
    let mut message = cut(format!("{what} {cause}: {}", fault.message), MAX_MESSAGE);
    let (others, aborted) = (
        causes().count().saturating_sub(1),
        failed().count() - causes().count(),
    );
    if others > 0 {
        message += &format!(" (and {others} more of {})", results.len());
    }
    if aborted > 0 {
        message += &format!(" (none of the {} {what}s was executed)", results.len());
    }
    // An error without fields is a tag and a length, its type with tag and length.
    let least = results.len().saturating_mul(4 + ERROR.len());
    let mut details = Vec::new();
    if least <= max_details {
        details = details_of(results, &message, cause, max_details);
    }
    if details.is_empty() {
        message += "; too many errors for a status";
        if others > 0 {
            let places: Vec<String> = causes().map(|(i, _)| i.to_string()).take(16).collect();
            message += &format!(", the first are of {what}s {}", places.join(", "));
        }
    }
    Err(Status::with_details(Code::Unknown, message, details.into()))
}

/// The details of a status: an error for each result. Without the messages of other errors than the first cause, if they
/// would be too long; empty if all errors are.
fn details_of(results: &[Outcome<()>], message: &str, cause: usize, max_details: usize) -> Vec<u8> {
    let errors = results.iter().map(|result| match result {
        Ok(()) => Error::default(),
        Err(fault) => Error {
            canonical_code: fault.code as i32,
            message: cut(fault.message.clone(), MAX_MESSAGE),
            ..Error::default()
        },
    });
    let mut errors: Vec<Error> = errors.collect();
    let mut details = encode(message, &errors);
    if details.len() > max_details {
        let of_others = errors.iter_mut().enumerate().filter(|(i, _)| *i != cause);
        of_others.for_each(|(_, error)| error.message.clear());
        details = encode(message, &errors);
    }
    if details.len() > max_details {
        details.clear();
    }
    details
}

fn encode(message: &str, errors: &[Error]) -> Vec<u8> {
    let details = errors.iter().map(|error| prost_types::Any {
        type_url: ERROR.into(),
        value: error.encode_to_vec(),
    });
    let status = rpc::Status {
        code: Code::Unknown as i32,
        message: message.into(),
        details: details.collect(),
    };
    status.encode_to_vec()
}
