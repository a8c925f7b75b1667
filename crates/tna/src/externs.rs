//! Calls of what TNA declares `extern`.

use crate::Tna;
use p4_ir::ExternCall;
use p4_vm::{CallSite, Compiler};

type Lowering<'p> = Compiler<'p, Tna>;

/// A call that only TNA has.
#[derive(Debug)]
pub enum Call {}

/// Makes a call.
pub fn call(call: &Call, _at: CallSite<'_>) {
    match *call {}
}

/// Every function and method, as p4-ir names them.
const SUPPORTED: [&str; 1] = ["static_assert"];

/// Translates a call. `None`: an argument is not what TNA declares there.
pub fn lower(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let args = &call.args[..];
    match (call.name.as_str(), args) {
        ("static_assert", _) => Some(()),
        (name, _) => {
            c.error(format!(
                "`{name}` with {} arguments is not supported by TNA; it has {}",
                args.len(),
                SUPPORTED.join(", ")
            ));
            Some(())
        }
    }
}
