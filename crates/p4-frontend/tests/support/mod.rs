//! What several tests need. Not each of them needs all of it.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use p4_frontend::{Diagnostic, Loader, NoLoader, SourceMap, ast, parse, render};

/// Finds included files next to the including one, then in `folders`.
pub struct Folders {
    pub folders: Vec<PathBuf>,
}

impl Loader for Folders {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let beside = from.and_then(|from| Path::new(from).parent());
        let beside = beside.filter(|_| !system).map(Path::to_path_buf);
        let mut candidates = beside.iter().chain(&self.folders);
        candidates.find_map(|folder| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).ok()?;
            Some((path.to_string_lossy().into_owned(), text))
        })
    }
}

/// A parsed file.
pub struct Parsed {
    pub sources: SourceMap,
    pub program: Option<ast::Program>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Parses the file at `path`, called `name` in diagnostics.
    pub fn file(path: &Path, name: &str, loader: &mut dyn Loader) -> Parsed {
        let text = fs::read(path).expect("the file can be read");
        Parsed::text(name, &String::from_utf8_lossy(&text), loader)
    }

    /// Parses a text.
    pub fn text(name: &str, text: &str, loader: &mut dyn Loader) -> Parsed {
        let mut sources = SourceMap::new();
        let entry = sources.add(name, text);
        let (program, diagnostics) = parse(&mut sources, entry, loader, &[]);
        Parsed {
            sources,
            program,
            diagnostics,
        }
    }

    /// Parses a text that includes nothing.
    pub fn alone(text: &str) -> Parsed {
        Parsed::text("test.p4", text, &mut NoLoader)
    }

    /// All diagnostics, as plain text.
    pub fn rendered(&self) -> String {
        let rendered: Vec<String> = self
            .diagnostics
            .iter()
            .map(|diagnostic| render(&self.sources, diagnostic, false))
            .collect();
        rendered.join("\n")
    }
}
