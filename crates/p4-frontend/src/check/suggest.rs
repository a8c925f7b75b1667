//! Valid names, for messages.

pub use crate::suggest::did_you_mean as nearest;

/// "`a`, `b` and `c`", at most a dozen of them.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    if names.len() > 12 {
        let more = names.len() - 11;
        names.truncate(11);
        names.push(format!("{more} more"));
    }
    match names.pop() {
        None => "none".into(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}
