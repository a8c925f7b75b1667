//! Compiles the page's files, with diagnostics at their places.

use engine::Pipeline;
use p4_frontend::{Diagnostic, Loader, SourceMap, Span};
use p4_ir::SourceLoc;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts by path, such as `v1model/waymark.p4`.
pub type Files = BTreeMap<String, String>;

/// Finds included files next to the file that includes them, then from the root of the paths.
struct Included<'a>(&'a Files);

impl Loader for Included<'_> {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let folder = from.and_then(|from| from.rsplit_once('/'));
        let beside = folder.filter(|_| !system);
        let paths = [beside.map_or("", |(folder, _)| folder), ""].map(|base| resolved(base, name));
        let path = paths.into_iter().find(|path| self.0.contains_key(path))?;
        let text = self.0[&path].clone();
        Some((path, text))
    }
}

/// `name` as seen from a folder, without `.` and `..`.
fn resolved(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The diagnostics of a program, and whether a switch can run it.
pub fn check(files: &Files, main: &str) -> Value {
    let (compiled, diagnostics) = compiled(files, main);
    json!({"diagnostics": diagnostics, "runs": compiled.is_some()})
}

/// What packet scripts, given as name and text, find in a program; see [`stf::grade`].
///
/// # Errors
/// The program's diagnostics, or what cannot be read in the scripts.
pub fn grade(files: &Files, main: &str, scripts: &[(String, String)]) -> Result<Value, Value> {
    let (program, diagnostics) = parsed(files, main);
    let refused = |diagnostics| json!({"program": main, "diagnostics": diagnostics});
    let Some(program) = program else {
        return Err(refused(diagnostics));
    };
    let scripts: Vec<(&str, &str)> = scripts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let verdict = stf::grade(&program, &scripts).map_err(|errors| {
        let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        json!(format!("{}: {}", names.join(" and "), errors.join("\n")))
    })?;
    Ok(json!(verdict))
}

/// The program as the engine runs it.
///
/// # Errors
/// Its diagnostics.
pub fn pipeline(files: &Files, main: &str) -> Result<Arc<Pipeline>, Value> {
    match compiled(files, main) {
        (Some(pipeline), _) => Ok(pipeline),
        (None, diagnostics) => Err(json!({"program": main, "diagnostics": diagnostics})),
    }
}

fn compiled(files: &Files, main: &str) -> (Option<Arc<Pipeline>>, Vec<Value>) {
    let (program, mut told) = parsed(files, main);
    let Some(program) = program else {
        return (None, told);
    };
    match Pipeline::compile(&program) {
        Ok(pipeline) => (Some(pipeline), told),
        Err(errors) => {
            told.extend(errors.iter().map(|e| located(&program, e.loc, &e.message)));
            (None, told)
        }
    }
}

/// The program, if it has no errors, and its diagnostics.
fn parsed(files: &Files, main: &str) -> (Option<p4_ir::Program>, Vec<Value>) {
    let Some(text) = files.get(main) else {
        let message = format!("there is no file {main}");
        return (None, vec![without_place(&message)]);
    };
    let mut sources = SourceMap::new();
    let entry = sources.add(main, text.as_str());
    let (program, diagnostics) =
        p4_frontend::compile(&mut sources, entry, &mut Included(files), &[]);
    let told = diagnostics.iter().map(|d| placed(&sources, d)).collect();
    (program, told)
}

/// A diagnostic with the places it labels; lines and columns (of characters) count from 1.
fn placed(sources: &SourceMap, diagnostic: &Diagnostic) -> Value {
    let label = |(span, text): &(Span, String)| {
        let from = sources.line_column(*span);
        let to = sources.line_column(span.after());
        json!({
            "file": &*sources.file(span.file).name,
            "line": from.line, "column": from.column,
            "end_line": to.line, "end_column": to.column,
            "text": text,
        })
    };
    json!({
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "code": diagnostic.code,
        "message": diagnostic.message,
        "labels": diagnostic.labels.iter().map(label).collect::<Vec<_>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
}

fn located(program: &p4_ir::Program, loc: SourceLoc, message: &str) -> Value {
    let mut told = without_place(message);
    if let Some(file) = program
        .files
        .get(loc.file as usize)
        .filter(|_| loc.line != 0)
    {
        told["labels"] = json!([{
            "file": file,
            "line": loc.line, "column": loc.column,
            "end_line": loc.line, "end_column": loc.column + 1,
            "text": "",
        }]);
    }
    told
}

fn without_place(message: &str) -> Value {
    json!({"severity": "error", "code": "refused", "message": message, "labels": [], "notes": [], "help": null})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_at_its_place_in_an_included_file() {
        let files = Files::from([
            ("v1model/a.p4".into(), "#include \"../lib/b.p4\"\n".into()),
            (
                "lib/b.p4".into(),
                "#include \"c.p4\"\nconst bit<8> x = 1 + true;\n".into(),
            ),
            ("lib/c.p4".into(), "\n".into()),
        ]);
        let told = check(&files, "v1model/a.p4");
        assert_eq!(told["runs"], false);
        let first = &told["diagnostics"][0]["labels"][0];
        assert_eq!(
            (&first["file"], &first["line"]),
            (&json!("lib/b.p4"), &json!(2))
        );
    }
}
