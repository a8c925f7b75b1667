//! The compiled programs of `hosts/ebpf`.

/// The programs on an interface.
pub const OPTIONS: &str = "options";

/// Each `hosts/ebpf/NAME.bpf.c` by its name.
const OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The contents of an object file.
pub fn object(name: &str) -> Option<&'static [u8]> {
    OBJECTS
        .iter()
        .find_map(|(known, contents)| (*known == name).then_some(*contents))
}

/// The congestion controls: every object but [`OPTIONS`].
pub fn controls() -> impl Iterator<Item = &'static str> {
    OBJECTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != OPTIONS)
}
