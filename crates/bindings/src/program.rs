//! Compiling P4 programs.

use crate::errors::CompileError;
use engine::Pipeline;
use p4_frontend::preprocess::MAX_OCTETS;
use p4_frontend::render::MAX_SHOWN;
use p4_frontend::{Diagnostic, FileId, Loader, SourceMap};
use pyo3::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled P4 program.
#[pyclass(frozen, module = "waymark._core")]
pub struct Program {
    name: String,
    warnings: Vec<String>,
    sha256: String,
    source: String,
    pub(crate) ir: p4_ir::Program,
    /// The error message if the switch cannot run the program.
    pub(crate) pipeline: Result<Arc<Pipeline>, String>,
}

impl Program {
    /// Returns an error if the switch cannot run the program.
    pub(crate) fn check_runs(&self) -> PyResult<()> {
        match &self.pipeline {
            Ok(_) => Ok(()),
            Err(refusal) => Err(CompileError::new_err(format!("{}: {refusal}", self.name))),
        }
    }
}

#[pymethods]
impl Program {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    #[getter]
    fn tables(&self) -> Vec<String> {
        self.ir.tables.iter().map(|t| t.name.clone()).collect()
    }

    #[getter]
    fn sha256(&self) -> &str {
        &self.sha256
    }

    #[getter]
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    #[getter]
    fn package(&self) -> &str {
        &self.ir.package
    }

    /// The name of the architecture in includes, such as `v1model`. Empty if the program's architecture is not
    /// supported.
    #[getter]
    fn architecture(&self) -> &'static str {
        engine::architecture(&self.ir).map_or("", |known| known.include.trim_end_matches(".p4"))
    }

    #[getter]
    fn refusal(&self) -> Option<&str> {
        self.pipeline.as_ref().err().map(String::as_str)
    }

    fn dump(&self) -> String {
        self.ir.to_string()
    }

    fn p4info(&self) -> PyResult<String> {
        let made = p4_info::p4info(&self.ir);
        made.map(|info| p4_info::text::to_text(&info))
            .map_err(|errors| {
                let told = errors
                    .iter()
                    .map(|e| told(&self.ir, &self.name, &e.loc, &e.message));
                CompileError::new_err(listed(told))
            })
    }

    fn __repr__(&self) -> String {
        format!("<Program {:?}>", self.name)
    }
}

/// Formats an error with its location, like a compiler. Without a location, it applies to the whole file.
fn told(ir: &p4_ir::Program, path: &str, loc: &p4_ir::SourceLoc, message: &str) -> String {
    format!("{}: {message}", ir.describe(*loc, path))
}

/// The first messages, one per line, and the number of further ones.
fn listed(messages: impl ExactSizeIterator<Item = String>) -> String {
    let more = messages.len().saturating_sub(MAX_SHOWN);
    let mut lines: Vec<String> = messages.take(MAX_SHOWN).collect();
    if more > 0 {
        lines.push(format!("... and {more} more errors"));
    }
    lines.join("\n")
}

/// Finds included files next to the including file, then in the given folders.
struct Files {
    include_dirs: Vec<PathBuf>,
    /// Why the last requested file was not read although it exists.
    refusal: Option<String>,
}

impl Loader for Files {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let beside = from
            .filter(|_| !system)
            .and_then(|from| Path::new(from).parent());
        let folders = beside
            .into_iter()
            .chain(self.include_dirs.iter().map(PathBuf::as_path));
        self.refusal = None;
        for path in folders.map(|folder| folder.join(name)) {
            match read_text(&path) {
                Ok(text) => return Some((path.to_string_lossy().into_owned(), text)),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) => {}
                Err(error) => {
                    self.refusal = Some(error.to_string());
                    return None;
                }
            }
        }
        None
    }

    fn refusal(&self) -> Option<String> {
        self.refusal.clone()
    }
}

/// The text of a regular file or a pipe. Like p4c, it accepts any octets in comments. A device may have no end.
fn read_text(path: &Path) -> io::Result<String> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(io::Error::other(match kind.is_dir() {
            true => "is a folder",
            false => "not a regular file",
        }));
    }
    let mut octets = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_OCTETS as u64 + 1).read_to_end(&mut octets)?;
    if octets.len() > MAX_OCTETS {
        let most = MAX_OCTETS >> 20;
        return Err(io::Error::other(format!("longer than {most} MiB")));
    }
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

#[pyfunction]
#[pyo3(signature = (path, *, text=None, include_dirs=Vec::new(), defines=BTreeMap::new(), color=false, target_rules=true))]
pub fn compile(
    py: Python<'_>,
    path: String,
    text: Option<String>,
    include_dirs: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    color: bool,
    target_rules: bool,
) -> PyResult<Program> {
    let text = match text {
        Some(text) => text,
        None => py.detach(|| read_text(Path::new(&path)))?,
    };
    let compiled = py.detach(|| match path.ends_with(".json") {
        true => read_config(path, &text),
        false => compile_text(path, text, include_dirs, defines, color, target_rules),
    });
    compiled.map_err(|refusal| {
        let error = CompileError::new_err(refusal.text);
        match error.value(py).setattr("places", refusal.places) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Why there is no program.
struct Refusal {
    text: String,
    /// File and line of each error.
    places: Vec<(String, u32)>,
}

/// Reads a program that p4c compiled for BMv2.
fn read_config(path: String, text: &str) -> Result<Program, Refusal> {
    let ir = bmv2_json::read(text).map_err(|error| Refusal {
        text: format!("{path}: {error}"),
        places: vec![(path.clone(), 0)],
    })?;
    let pipeline = pipeline(&ir, &path)?;
    Ok(Program {
        warnings: Vec::new(),
        sha256: hexadecimal(Sha256::new().chain_update(text)),
        source: text.to_owned(),
        name: path,
        ir,
        pipeline,
    })
}

/// Compiles a program, or returns all errors.
fn compile_text(
    path: String,
    text: String,
    include_dirs: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    color: bool,
    target_rules: bool,
) -> Result<Program, Refusal> {
    let defines: Vec<(String, String)> = defines.into_iter().collect();
    let mut files = Files {
        include_dirs,
        refusal: None,
    };
    let mut sources = SourceMap::new();
    let entry = sources.add(&path, text.as_str());
    let (source, _) = p4_frontend::preprocessed_text(&mut sources, entry, &mut files, &defines);
    let mut sources = SourceMap::new();
    let entry = sources.add(&path, text);
    let (program, mut diagnostics) =
        p4_frontend::compile(&mut sources, entry, &mut files, &defines);
    if let Some(program) = program.as_ref().filter(|_| target_rules) {
        let broken = tofino_rules::check(program).into_iter();
        diagnostics.extend(broken.map(|violation| diagnostic(&sources, violation)));
    }
    let told = p4_frontend::render_all(&sources, &diagnostics, color);
    let fits = !diagnostics.iter().any(Diagnostic::is_error);
    let Some(ir) = program.filter(|_| fits) else {
        let errors = diagnostics.iter().filter(|d| d.is_error());
        let spans = errors.filter_map(Diagnostic::primary);
        let place = |span: p4_frontend::Span| {
            let file = sources.file(span.file).name.to_string();
            (file, sources.line_column(span).line)
        };
        return Err(Refusal {
            places: spans.map(place).collect(),
            text: told.join("\n"),
        });
    };
    let pipeline = pipeline(&ir, &path)?;
    Ok(Program {
        warnings: told,
        sha256: sha256(&sources, ir.files.len() as u32),
        name: path,
        source,
        ir,
        pipeline,
    })
}

/// Converts a violation of a hardware rule to an error of the program.
fn diagnostic(sources: &SourceMap, violation: tofino_rules::Violation) -> Diagnostic {
    Diagnostic::error(violation.rule, violation.message)
        .label(sources.rest_from(violation.loc), "Tofino cannot do this")
        .note("--no-target-rules compiles it for the software switch only")
        .help(violation.help)
}

/// Translates the program for the engine. Returns it, or why the switch cannot run it, or the features that its
/// architecture does not support.
fn pipeline(ir: &p4_ir::Program, path: &str) -> Result<Result<Arc<Pipeline>, String>, Refusal> {
    if ir.package.is_empty() {
        return Ok(Err("the program has no `main`".to_owned()));
    }
    if engine::architecture(ir).is_none() {
        return Ok(Err(engine::refusal(ir)));
    }
    Pipeline::compile(ir).map(Ok).map_err(|errors| {
        let file = |loc: p4_ir::SourceLoc| {
            let named = ir.files.get(loc.file as usize);
            named.map_or(path, String::as_str).to_owned()
        };
        let told = errors.iter().map(|e| told(ir, path, &e.loc, &e.message));
        Refusal {
            text: listed(told),
            places: errors.iter().map(|e| (file(e.loc), e.loc.line)).collect(),
        }
    })
}

/// The hash of the texts of the first `files` files.
fn sha256(sources: &SourceMap, files: u32) -> String {
    let mut hash = Sha256::new();
    for index in 0..files {
        let file = sources.file(FileId(index));
        hash.update((file.text.len() as u64).to_le_bytes());
        hash.update(file.text.as_bytes());
    }
    hexadecimal(hash)
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
