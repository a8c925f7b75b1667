//! "Did you mean": the valid name that is most similar to a mistyped one.

/// The candidate with the smallest difference from `name`, if it is similar enough.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| (1..=allowed).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn near_names_only() {
        let names = ["include", "define", "if", "pragma"];
        assert_eq!(did_you_mean("inculde", names), Some("include"));
        assert_eq!(did_you_mean("defin", names), Some("define"));
        assert_eq!(did_you_mean("fi", names), None);
        assert_eq!(did_you_mean("import", names), None);
    }
}
