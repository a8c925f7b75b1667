//! Programs from files to P4Info. Not every test needs all of it.

#![allow(dead_code)]

use p4_frontend::{Loader, SourceMap, is_embedded, render};
use std::fs;
use std::path::{Path, PathBuf};

/// Finds included files next to the including one, then in `folders`; those that the front end embeds are its own.
pub struct Folders(pub Vec<PathBuf>);

impl Loader for Folders {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        if is_embedded(name) {
            return None;
        }
        let beside = from.and_then(|from| Path::new(from).parent());
        let beside = beside.filter(|_| !system).map(Path::to_path_buf);
        beside.iter().chain(&self.0).find_map(|folder| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).ok()?;
            Some((path.to_string_lossy().into_owned(), text))
        })
    }
}

/// The program of a file, or what is wrong with it.
pub fn compile(path: &Path, folders: &[PathBuf]) -> Result<p4_ir::Program, String> {
    compile_with(path, folders, &[])
}

/// The same with macros, as names and values.
pub fn compile_with(
    path: &Path,
    folders: &[PathBuf],
    defines: &[(String, String)],
) -> Result<p4_ir::Program, String> {
    let text = fs::read(path).map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&text);
    compile_source(&path.to_string_lossy(), &text, folders, defines)
}

/// The program of a text, or what is wrong with it.
pub fn compile_text(name: &str, text: &str, folders: &[PathBuf]) -> Result<p4_ir::Program, String> {
    compile_source(name, text, folders, &[])
}

fn compile_source(
    name: &str,
    text: &str,
    folders: &[PathBuf],
    defines: &[(String, String)],
) -> Result<p4_ir::Program, String> {
    let mut sources = SourceMap::new();
    let entry = sources.add(name, text);
    let mut loader = Folders(folders.to_vec());
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut loader, defines);
    program.ok_or_else(|| {
        let told = diagnostics.iter().map(|d| render(&sources, d, false));
        told.collect::<Vec<_>>().join("\n")
    })
}

/// The P4Info of a file's program as text, or what is wrong with it.
pub fn p4info(path: &Path, folders: &[PathBuf]) -> Result<String, String> {
    p4info_with(path, folders, &[])
}

/// The same with macros, as names and values.
pub fn p4info_with(
    path: &Path,
    folders: &[PathBuf],
    defines: &[(String, String)],
) -> Result<String, String> {
    let program = compile_with(path, folders, defines)?;
    match p4_info::p4info(&program) {
        Ok(info) => Ok(p4_info::text::to_text(&info)),
        Err(errors) => {
            let told = errors.iter().map(|e| e.to_string());
            Err(told.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The files in a folder that end so, in alphabetical order.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).collect();
    found.retain(|p| p.is_file() && p.to_string_lossy().ends_with(end));
    found.sort();
    found
}

/// The same, in the folders within it as well.
pub fn files_within(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").flatten();
    let folders = entries.map(|e| e.path()).filter(|p| p.is_dir());
    let mut found: Vec<PathBuf> = folders.flat_map(|f| files_within(&f, end)).collect();
    found.extend(files(folder, end));
    found.sort();
    found
}

/// The first lines that differ.
pub fn difference(ours: &str, theirs: &str) -> String {
    let pairs = ours.lines().zip(theirs.lines()).enumerate();
    let first = pairs.into_iter().find(|(_, (a, b))| a != b);
    match first {
        Some((line, (ours, theirs))) => {
            format!(
                "line {}: {} instead of {}",
                line + 1,
                ours.trim(),
                theirs.trim()
            )
        }
        None => format!(
            "{} lines instead of {}",
            ours.lines().count(),
            theirs.lines().count()
        ),
    }
}
