//! Programs without syntax errors in `ok/syntax`, programs with some in `err/syntax`. The diagnostics of the latter
//! are next to each; `INSTA_UPDATE=always` renews it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use p4_frontend::Loader;
use support::Parsed;

/// The files of one folder, named by their places in it.
struct Within(PathBuf);

impl Loader for Within {
    fn load(&mut self, from: Option<&str>, name: &str, _: bool) -> Option<(String, String)> {
        let beside = from.and_then(|from| Path::new(from).parent());
        let path = beside.unwrap_or(Path::new("")).join(name);
        let text = fs::read_to_string(self.0.join(&path)).ok()?;
        Some((path.to_string_lossy().into_owned(), text))
    }
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let entries = folder.read_dir().expect("the folder of fixtures");
    let paths = entries.map(|entry| entry.expect("a fixture").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "p4"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures in {}", folder.display());
    paths
}

fn parse(path: &Path) -> Parsed {
    let name = path.file_name().expect("a name").to_string_lossy();
    let folder = path.parent().expect("a folder").to_path_buf();
    Parsed::file(path, &name, &mut Within(folder))
}

#[test]
fn valid_syntax_parses_without_a_word() {
    for path in fixtures("ok/syntax") {
        let parsed = parse(&path);
        assert!(parsed.diagnostics.is_empty(), "{}", parsed.rendered());
        assert!(parsed.program.is_some(), "{}", path.display());
    }
}

#[test]
fn invalid_syntax_is_explained() {
    for path in fixtures("err/syntax") {
        let parsed = parse(&path);
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(!parsed.diagnostics.is_empty(), "{name} has no errors");
        insta::with_settings!({
            snapshot_path => path.parent().expect("a folder"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name.as_ref(), parsed.rendered());
        });
    }
}
