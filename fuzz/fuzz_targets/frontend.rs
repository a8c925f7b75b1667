//! Any text goes through the whole front end: it compiles or is refused, with words that can be rendered; what compiles
//! has a P4Info or errors, can be dumped, and is taken or refused by the engine.
#![no_main]

use engine::Pipeline;
use libfuzzer_sys::fuzz_target;
use p4_frontend::{NoLoader, SourceMap, compile, render};

fuzz_target!(|text: &str| {
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.p4", text);
    let (program, diagnostics) = compile(&mut sources, file, &mut NoLoader, &[]);
    for diagnostic in &diagnostics {
        assert!(!render(&sources, diagnostic, false).is_empty());
    }
    let Some(program) = program else {
        assert!(
            diagnostics.iter().any(|d| d.is_error()),
            "refused, and no error"
        );
        return;
    };
    let _ = p4_ir::dump(&program);
    let _ = p4_info::p4info(&program);
    let _ = Pipeline::compile(&program);
});
