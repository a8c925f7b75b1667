//! Calls of what TNA declares `extern`.

use crate::Tna;
use crate::requests::{self, Asks};
use p4_ir::{Arg, ExternCall};
use p4_vm::{CallSite, Compiler};

type Lowering<'p> = Compiler<'p, Tna>;

/// A call that only TNA has.
#[derive(Debug)]
pub enum Call {
    /// A mirrored packet is wanted.
    Mirror(Asks),
    /// The packet is to be resubmitted.
    Resubmit(Asks),
}

/// Makes a call.
pub fn call(tna: &mut Tna, call: &Call, mut at: CallSite<'_>) {
    match call {
        Call::Mirror(asks) => tna.mirror = Some(asks.request(&mut at)),
        Call::Resubmit(asks) => tna.resubmit = Some(asks.request(&mut at)),
    }
}

/// Every function and method, as p4-ir names them.
const SUPPORTED: [&str; 4] = [
    "Mirror.emit",
    "Resubmit.emit",
    "port_metadata_unpack",
    "static_assert",
];

/// Translates a call. `None`: an argument is not what TNA declares there.
pub fn lower(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let args = &call.args[..];
    match (call.name.as_str(), args) {
        ("Mirror.emit", [session, header @ ..]) => {
            let asks = requests::mirror(c, session, header.first().unwrap_or(&Arg::None))?;
            c.own_call(Call::Mirror(asks));
            Some(())
        }
        ("Resubmit.emit", header) => {
            let asks = requests::resubmit(c, header.first().unwrap_or(&Arg::None))?;
            c.own_call(Call::Resubmit(asks));
            Some(())
        }
        ("port_metadata_unpack", _) => requests::unpack_port_metadata(c, call),
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
