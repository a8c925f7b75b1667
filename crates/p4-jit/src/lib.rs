//! Compiles the engine's bytecode to machine code with Cranelift.
//!
//! [`install`] makes the engine compile the programs that it translates from then on, on x86-64 Linux. The map of
//! this crate:
//! - `module`: from bytecode to functions of machine code, one for each sequence of blocks, other block and subroutine;
//! - `procedure`: the control flow of a function;
//! - `word`, `wide`, `place`, `packet`, `checksum`: its instructions, by what they work on;
//! - `emitter`: what these share: storage, checks, calls of the interpreter;
//! - `context`: calls from and to machine code.
//!
//! An instruction that is not compiled is executed by the interpreter, called for this one, and so are the rare cases of
//! many others: a header that does not begin with an octet, an index out of range. So each program runs, and the
//! interpreter says what its instructions do. Its constants become operands. Whether a place is within storage is
//! checked when the code is compiled, or before each access if the place is found at run time; code in which a place
//! is outside is not compiled.
//!
//! `context` alone has `unsafe` code. What it relies on: machine code accesses only the places that the checks allow,
//! [`Places`](p4_vm::native::Places) are valid as long as they say, and what a table [found](p4_vm::native::Found) is
//! kept no longer than the table stays as it is.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod compiled {
    pub mod checksum;
    pub mod context;
    pub mod emitter;
    pub mod module;
    pub mod packet;
    pub mod place;
    pub mod procedure;
    pub mod wide;
    pub mod word;
}

/// Has the engine compile programs to machine code from now on; says whether this machine is one for which it can.
pub fn install() -> bool {
    match compiler() {
        Some(compiler) => {
            p4_vm::native::install(compiler);
            true
        }
        None => false,
    }
}

/// The compiler, for a program that installs one of its own around it; `None`: this machine is none for which it compiles.
pub fn compiler() -> Option<&'static dyn p4_vm::native::Compiler> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        Some(&compiled::module::Cranelift)
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    None
}
