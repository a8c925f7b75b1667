//! Files that reproduce a panic of the engine: a program and a packet script.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most panics that a process writes to files. Later ones are only counted.
const MOST: u32 = 4;

/// Writes programs and scripts to a folder, with a limit on their number.
#[derive(Debug)]
pub struct Reproducers {
    folder: PathBuf,
    written: u32,
}

/// The files of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproducer {
    /// The program, as P4 text or BMv2 JSON.
    pub program: PathBuf,
    /// The script.
    pub script: PathBuf,
}

impl Reproducers {
    /// Creates a writer for this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Reproducers {
            folder: folder.into(),
            written: 0,
        }
    }

    /// Whether the limit is reached.
    pub fn are_used_up(&self) -> bool {
        self.written == MOST
    }

    /// Writes a program and a script. Existing files, including links, are not overwritten.
    ///
    /// # Errors
    /// The files cannot be created.
    pub fn write(&mut self, program: &[u8], script: &str) -> io::Result<Reproducer> {
        self.written += 1;
        let (process, number) = (std::process::id(), self.written);
        let path = |end| {
            let name = format!("waymark-panic-{process}-{number}.{end}");
            self.folder.join(name)
        };
        let is_json = program.trim_ascii_start().starts_with(b"{");
        let files = Reproducer {
            program: path(if is_json { "json" } else { "p4" }),
            script: path("stf"),
        };
        create(&files.program, program)?;
        create(&files.script, script.as_bytes())?;
        Ok(files)
    }
}

fn create(path: &Path, octets: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let name = format!("waymark-reproducers-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_few_are_written() {
        let folder = folder("few");
        let mut reproducers = Reproducers::new(&folder);
        for i in 0..MOST {
            assert!(!reproducers.are_used_up());
            let program: &[u8] = if i == 0 { b" {}" } else { b"// P4" };
            let files = reproducers.write(program, "packet 1 00\n").unwrap();
            let end = if i == 0 { "json" } else { "p4" };
            assert!(files.program.extension().is_some_and(|found| found == end));
            assert_eq!(std::fs::read(files.program).unwrap(), program);
            assert_eq!(std::fs::read(files.script).unwrap(), b"packet 1 00\n");
        }
        assert!(reproducers.are_used_up());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let folder = folder("there");
        let name = format!("waymark-panic-{}-1.p4", std::process::id());
        std::os::unix::fs::symlink("/nowhere", folder.join(name)).unwrap();
        let error = Reproducers::new(&folder).write(b"", "").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
