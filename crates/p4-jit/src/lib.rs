//! Compiles the engine's bytecode to machine code with Cranelift.
//!
//! [`install`] makes the engine compile the programs that it translates from then on, on x86-64 Linux. The map of this
//! crate:
//! - `module`: from bytecode to functions of machine code, one for each sequence of blocks, other block and subroutine;
//! - `procedure`: the control flow of a function;
//! - `word`, `wide`, `place`, `packet`, `checksum`: the instructions, by kind of operand;
//! - `emitter`: common parts: storage, checks, calls of the interpreter;
//! - `context`: calls to and from machine code.
//!
//! The interpreter executes instructions that are not compiled, one at a time. It also executes the rare cases of many
//! others, such as a header that does not begin at an octet boundary, or an index out of range. Every program therefore
//! runs, and the interpreter defines the behaviour of its instructions. Constants of the program become operands.
//! Accesses to storage are checked when the code is compiled, or before each access if the place is found at run time.
//! Code that accesses a place outside of storage is not compiled.
//!
//! Only `context` has `unsafe` code. It relies on the following: machine code accesses only places that the checks
//! allow; [`Places`](p4_vm::native::Places) are valid as long as documented; what a table look-up
//! [found](p4_vm::native::Found) is kept only until the table changes.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod compiled {
    pub mod checksum;
    pub mod context;
    pub mod emitter;
    pub mod hash;
    pub mod module;
    pub mod packet;
    pub mod place;
    pub mod procedure;
    pub mod wide;
    pub mod word;
}

/// Makes the engine compile programs to machine code from now on. Returns whether this machine is supported.
pub fn install() -> bool {
    match compiler() {
        Some(compiler) => {
            p4_vm::native::install(compiler);
            true
        }
        None => false,
    }
}

/// Whether the system forbids this process to execute the machine code that it writes, as `MemoryDenyWriteExecute` of
/// systemd and SELinux can. Programs are then interpreted.
pub fn is_forbidden() -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        !compiled::module::is_permitted()
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    false
}

/// The compiler, for a program that wraps it in its own. `None` if this machine is not supported.
pub fn compiler() -> Option<&'static dyn p4_vm::native::Compiler> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        Some(&compiled::module::Cranelift)
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    None
}
