//! The extern objects that TNA declares.

use p4_ir::{ExternObject, Program};
use p4_vm::Object;

/// The object as it is when the switch starts; an error says what its constructor needs.
pub fn new(_program: &Program, object: &ExternObject) -> Result<Object, String> {
    match object.type_name.as_str() {
        "Mirror" | "Resubmit" => Ok(Object::Stateless),
        other => Err(format!("TNA's extern `{other}` is not supported")),
    }
}
