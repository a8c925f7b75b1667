//! Compiling programs from files, and setting them up.

#![allow(dead_code, reason = "each test uses a part")]

use engine::{Match, Switch};
use p4_frontend::{Loader, SourceMap};
use std::path::Path;

/// Finds included files next to the one that includes them; the rest is the front end's own.
struct Beside;

impl Loader for Beside {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let folder = Path::new(from.filter(|_| !system)?).parent()?;
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.to_string_lossy().into_owned(), text))
    }
}

/// The program in a file, or what is wrong with it.
pub fn compile(path: &Path) -> Result<p4_ir::Program, String> {
    compile_with(path, &[])
}

/// The program in a file, compiled with these macros.
pub fn compile_with(path: &Path, defines: &[(String, String)]) -> Result<p4_ir::Program, String> {
    let octets = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    compile_text(
        &path.to_string_lossy(),
        &String::from_utf8_lossy(&octets),
        defines,
    )
}

/// The program in a text that replaces the file of this name.
pub fn compile_text(
    name: &str,
    text: &str,
    defines: &[(String, String)],
) -> Result<p4_ir::Program, String> {
    let mut sources = SourceMap::new();
    let entry = sources.add(name, text);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut Beside, defines);
    program.ok_or_else(|| {
        let errors = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error());
        let texts: Vec<_> = errors
            .map(|error| p4_frontend::render(&sources, error, false))
            .collect();
        texts.join("\n")
    })
}

/// Adds an entry without priority.
pub fn add(
    switch: &mut Switch,
    table: &str,
    matches: &[(&str, Match)],
    action: &str,
    args: &[(&str, u64)],
) {
    let args: Vec<_> = args
        .iter()
        .map(|&(name, value)| (name, value.into()))
        .collect();
    switch
        .add(table, matches, 0, action, &args)
        .unwrap_or_else(|why| panic!("{why}"));
}

/// Writes the checksum (RFC 1071) of an IPv4 header whose own is 0.
pub fn set_checksum(header: &mut [u8]) {
    let sum: u32 = header
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}
