//! What programs mean: those in `ok/semantics` are next to their IR, those in `err/semantics` next to their
//! diagnostics. `INSTA_UPDATE=always` renews both.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use p4_frontend::{Loader, SourceMap, compile, render};
use proptest::prelude::*;

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

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn fixtures(name: &str) -> Vec<PathBuf> {
    let entries = folder(name).read_dir().expect("the folder of fixtures");
    let paths = entries.map(|entry| entry.expect("a fixture").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "p4"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures in {name}");
    paths
}

/// The IR as text if there is one, and all that is said.
fn compiled(name: &str, text: &str, folder: &Path) -> (Option<String>, String) {
    let mut sources = SourceMap::new();
    let entry = sources.add(name, text);
    let mut loader = Within(folder.to_path_buf());
    let (program, diagnostics) = compile(&mut sources, entry, &mut loader, &[]);
    let said: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| render(&sources, diagnostic, false))
        .collect();
    (program.map(|p| p.to_string()), said.join("\n"))
}

fn golden(path: &Path, text: &str) {
    let name = path.file_stem().expect("a name").to_string_lossy();
    insta::with_settings!({
        snapshot_path => path.parent().expect("a folder"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name.as_ref(), text);
    });
}

fn run(path: &Path) -> (Option<String>, String) {
    let name = path.file_name().expect("a name").to_string_lossy();
    let text = fs::read_to_string(path).expect("a fixture");
    compiled(&name, &text, path.parent().expect("a folder"))
}

#[test]
fn valid_programs_become_ir() {
    for path in fixtures("ok/semantics") {
        let (program, said) = run(&path);
        let program = program.unwrap_or_else(|| panic!("{} is refused:\n{said}", path.display()));
        golden(&path, &format!("{said}{program}"));
    }
}

#[test]
fn invalid_programs_are_explained() {
    for path in fixtures("err/semantics") {
        let (program, said) = run(&path);
        assert!(program.is_none(), "{} is accepted", path.display());
        golden(&path, &said);
    }
}

#[test]
fn the_projects_programs_compile_without_a_word() {
    let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src");
    let mains = ["v1model", "tna", "t2na"].iter().flat_map(|architecture| {
        let folder = p4src.join(architecture).read_dir();
        folder.expect("the programs")
    });
    for main in mains.map(|entry| entry.expect("a program").path()) {
        if main.extension().is_none_or(|e| e != "p4") {
            continue;
        }
        let text = fs::read_to_string(&main).expect("a program");
        let mut sources = SourceMap::new();
        let entry = sources.add(&main.to_string_lossy(), text);
        let mut loader = support::Folders {
            folders: vec![p4src.join("include"), p4src.clone()],
        };
        let (program, diagnostics) = compile(&mut sources, entry, &mut loader, &[]);
        let said = diagnostics.iter().map(|d| render(&sources, d, false));
        assert_eq!(said.collect::<Vec<_>>(), [""; 0], "{}", main.display());
        assert_eq!(program.expect("no errors").blocks.len(), 6);
    }
}

/// The words of all valid programs, and where each program starts.
fn words() -> Vec<Vec<String>> {
    let split = |path: PathBuf| {
        let text = fs::read_to_string(path).expect("a fixture");
        let mut words: Vec<String> = Vec::new();
        let mut was_word = false;
        for c in text.chars() {
            let is_word = c.is_alphanumeric() || c == '_' || c == '#';
            match words.last_mut() {
                Some(last) if (is_word && was_word) || c.is_whitespace() => last.push(c),
                _ => words.push(c.to_string()),
            }
            was_word = is_word;
        }
        words
    };
    fixtures("ok/semantics").into_iter().map(split).collect()
}

/// What nests in an action, as the text before and after what is nested.
const SHAPES: &[(&str, &str, &str, &str)] = &[
    ("x = ", "(", "x", ")"),
    ("x = ", "-", "x", ""),
    ("x = ", "(bit<8>)", "x", ""),
    ("x = ", "f(", "x", ")"),
    ("x = ", "x + ", "x", ""),
    ("x = ", "f(x) + ", "x", ""),
    ("x = ", "(x == 1) ? x : ", "x", ""),
    ("x = ", "x[7:0]", "", ""),
    ("tuple<bit<8>> y = ", "{", "x", "}"),
    ("", "{", "x = 1;", "}"),
    ("", "if (x == 1) ", "x = 1;", ""),
    ("", "if (x == 1) { } else ", "x = 1;", ""),
    ("", "for (bit<8> i in x .. 3) ", "x = 1;", ""),
    ("", "switch (x) { 1: {", "x = 1;", "} }"),
];

#[test]
fn deep_nesting_never_overflows_the_stack() {
    for (start, open, middle, close) in SHAPES {
        for depth in [10, 100, 150, 200, 1000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            let body = format!("{start}{open}{middle}{close};");
            let text = format!(
                "#include \"included/bare.p4\"
                bit<8> f(in bit<8> x) {{ return x; }}
                control C(inout headers_t hdr, inout intrinsic_t intrinsic) {{
                    apply {{ bit<8> x = 0; {body} }}
                }}
                Device(TakePair(), C(), PutPair()) main;"
            );
            compiled("deep.p4", &text, &folder("ok/semantics"));
        }
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Delete,
    Double,
    Swap(usize),
    From(usize, usize),
}

fn edit() -> impl Strategy<Value = (usize, Edit)> {
    let what = prop_oneof![
        Just(Edit::Delete),
        Just(Edit::Double),
        any::<usize>().prop_map(Edit::Swap),
        any::<(usize, usize)>().prop_map(|(a, b)| Edit::From(a, b)),
    ];
    (any::<usize>(), what)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn mutated_programs_never_panic(
        which in any::<usize>(),
        edits in proptest::collection::vec(edit(), 1..4),
    ) {
        let programs = words();
        let mut words = programs[which % programs.len()].clone();
        for (at, edit) in edits {
            let count = words.len();
            let at = at % count;
            match edit {
                Edit::Delete => drop(words.remove(at)),
                Edit::Double => words.insert(at, words[at].clone()),
                Edit::Swap(other) => words.swap(at, other % count),
                Edit::From(program, word) => {
                    let other = &programs[program % programs.len()];
                    words[at] = other[word % other.len()].clone();
                }
            }
        }
        compiled("mutated.p4", &words.concat(), &folder("ok/semantics"));
    }
}
