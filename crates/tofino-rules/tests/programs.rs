//! The programs in `ok` break no rule. Those in `err` break the rules that comments `//! RULE` name, on their lines.

use p4_frontend::{Loader, SourceMap, compile, render_all};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tofino_rules::{Violation, check};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// Finds files next to the one that includes them, and in `tests`.
struct Files;

impl Loader for Files {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        if system {
            return None;
        }
        let beside = from.and_then(|from| Some(Path::new(from).parent()?.join(name)));
        let folders = beside.into_iter().chain([Path::new(TESTS).join(name)]);
        folders
            .filter_map(|path| {
                Some((
                    path.to_string_lossy().into(),
                    fs::read_to_string(&path).ok()?,
                ))
            })
            .next()
    }
}

/// The rules that a program breaks when it is compiled for Tofino 1 or 2, each with its file and line.
fn broken(path: &Path, target: u32) -> Vec<(String, u32, Violation)> {
    let text = fs::read_to_string(path).expect("a program");
    let mut sources = SourceMap::new();
    let entry = sources.add(&path.to_string_lossy(), text);
    let defines = [("__TARGET_TOFINO__".to_owned(), target.to_string())];
    let (program, diagnostics) = compile(&mut sources, entry, &mut Files, &defines);
    let Some(program) = program else {
        panic!("{}", render_all(&sources, &diagnostics, false).join("\n"));
    };
    let place = |v: Violation| (program.files[v.loc.file as usize].clone(), v.loc.line, v);
    check(&program).into_iter().map(place).collect()
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(TESTS).join(folder)).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no programs in {folder}");
    paths
}

/// The generation that a program is for: the first, unless its name begins with `t2na`.
fn generation(path: &Path) -> u32 {
    let name = path.file_name().map(|name| name.to_string_lossy());
    if name.is_some_and(|name| name.starts_with("t2na")) {
        2
    } else {
        1
    }
}

#[test]
fn the_projects_programs_break_no_rule() {
    for (folder, target) in [("tna", 1), ("t2na", 2)] {
        for path in programs(&format!("../../../p4src/{folder}")) {
            assert_eq!(broken(&path, target), [], "{}", path.display());
        }
    }
}

#[test]
fn programs_that_fit_break_no_rule() {
    for path in programs("ok") {
        assert_eq!(broken(&path, generation(&path)), [], "{}", path.display());
    }
}

#[test]
fn programs_break_the_rules_that_they_name() {
    for path in programs("err") {
        let text = fs::read_to_string(&path).expect("a program");
        let name = path.to_string_lossy().into_owned();
        let named = (1..).zip(text.lines()).filter_map(|(line, text)| {
            let (_, rule) = text.split_once("//! ")?;
            Some((name.clone(), line, rule.to_owned()))
        });
        let found = broken(&path, generation(&path));
        let found: Vec<_> = found
            .into_iter()
            .map(|(file, line, violation)| (file, line, violation.rule.to_owned()))
            .collect();
        assert_eq!(found, named.collect::<Vec<_>>());
    }
}

/// p4c's Tofino backend accepts and refuses the same programs. It does not check two rules: a register that two stages
/// access gets memory in each, and one of both gresses is left to the assembler, which refuses it.
#[test]
fn p4c_agrees() {
    let Some(include) = std::env::var_os("P4C_TOFINO_INCLUDE") else {
        eprintln!("skipped: P4C_TOFINO_INCLUDE does not name p4c's folders of architectures");
        return;
    };
    let unchecked = ["register-gress", "register-table", "register-twice"];
    for (folder, fits) in [("ok", true), ("err", false)] {
        for path in programs(folder) {
            let stem = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            if !fits && stem.is_some_and(|stem| unchecked.contains(&stem.as_str())) {
                continue;
            }
            let Some(accepted) = accepted_by_p4c(&path, &include) else {
                eprintln!("skipped: p4c-barefoot is not on PATH");
                return;
            };
            assert_eq!(accepted, fits, "{}", path.display());
        }
    }
}

fn accepted_by_p4c(path: &Path, include: &std::ffi::OsStr) -> Option<bool> {
    let (target, architecture) = match generation(path) {
        1 => ("tofino", "tna"),
        _ => ("tofino2", "t2na"),
    };
    let out = std::env::temp_dir().join(format!("tofino-rules-{}", std::process::id()));
    let mut command = Command::new("p4c-barefoot");
    command.args(["--target", target, "--arch", architecture, "-I", TESTS]);
    for folder in std::env::split_paths(include) {
        command.arg("-I").arg(folder);
    }
    command.arg(format!("-D__TARGET_TOFINO__={}", generation(path)));
    let output = command.arg("-o").arg(&out).arg(path).output().ok()?;
    let _ = fs::remove_dir_all(&out);
    Some(output.status.success())
}
/// Programs that are known to fit break no rule: those of p4testgen, in p4c's sources, and of open-p4studio.
#[test]
fn programs_of_others_break_no_rule() {
    let named = |variable: &str, below: &str| {
        let folder = std::env::var_os(variable).map(|root| Path::new(&root).join(below));
        if folder.is_none() {
            eprintln!("skipped: {variable} is not set");
        }
        folder
    };
    let testgen = "../backends/p4tools/modules/testgen/targets/tofino/test/p4-programs";
    let folders = [
        named("P4C_TESTDATA", testgen),
        named("OPEN_P4STUDIO", "pkgsrc/p4-examples/p4_16_programs"),
    ];
    let (mut total, mut refused) = (0, Vec::new());
    for path in folders
        .into_iter()
        .flatten()
        .flat_map(|folder| below(&folder))
    {
        for target in [1, 2] {
            let Some(violations) = broken_elsewhere(&path, target) else {
                continue;
            };
            total += 1;
            let told = violations
                .iter()
                .map(|v| format!("{}: {v:?}", path.display()));
            refused.extend(told);
        }
    }
    println!("{total} programs");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The P4 files in a folder and the folders in it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        if path.is_dir() && !path.is_symlink() {
            files.extend(below(&path));
        } else if path.extension().is_some_and(|extension| extension == "p4") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The rules that a program breaks, if it is one and compiles.
fn broken_elsewhere(path: &Path, target: u32) -> Option<Vec<Violation>> {
    struct Beside;
    impl Loader for Beside {
        fn load(&mut self, from: Option<&str>, name: &str, _: bool) -> Option<(String, String)> {
            let path = Path::new(from?).parent()?.join(name);
            let text = fs::read_to_string(&path).ok()?;
            Some((path.to_string_lossy().into_owned(), text))
        }
    }
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
    let mut sources = SourceMap::new();
    let entry = sources.add(&path.to_string_lossy(), text);
    let defines = [("__TARGET_TOFINO__".to_owned(), target.to_string())];
    let (program, _) = compile(&mut sources, entry, &mut Beside, &defines);
    Some(check(&program?))
}
