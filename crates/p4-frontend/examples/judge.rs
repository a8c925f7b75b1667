//! Compiles the programs named on the command line and says of each what the first error is.

#[path = "../tests/support/mod.rs"]
mod support;
use p4_frontend::{Loader, SourceMap, compile};

struct Corpus(support::Folders);

impl Loader for Corpus {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        match name {
            "core.p4" | "v1model.p4" => None,
            _ => self.0.load(from, name, system),
        }
    }
}

fn main() {
    let include = std::env::var_os("P4_INCLUDE").map(std::path::PathBuf::from);
    let (mut good, mut bad) = (0, 0);
    for path in std::env::args().skip(1) {
        let folders = include.clone().into_iter().collect();
        let mut loader = Corpus(support::Folders { folders });
        let text = std::fs::read(&path).expect("the file can be read");
        let mut sources = SourceMap::new();
        let entry = sources.add(&path, String::from_utf8_lossy(&text));
        let (program, diagnostics) = compile(&mut sources, entry, &mut loader, &[]);
        if let (Some(program), true) = (&program, std::env::var_os("DUMP").is_some()) {
            println!("{program}");
        }
        if std::env::var_os("ALL").is_some() {
            for d in diagnostics.iter().filter(|d| d.is_error()) {
                let at = d.primary().map_or(String::new(), |s| sources.describe(s));
                println!("{at}: [{}] {}", d.code, d.message);
            }
        }
        let first = diagnostics.iter().find(|d| d.is_error());
        match first {
            Some(d) => {
                bad += 1;
                let at = d.primary().map_or(String::new(), |s| sources.describe(s));
                println!("{at}: [{}] {}", d.code, d.message);
            }
            None => good += 1,
        }
    }
    println!("{good} good, {bad} bad");
}
