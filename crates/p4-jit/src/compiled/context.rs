//! Calls from Rust to machine code, and from there back to the interpreter.
//!
//! A panic of the interpreter cannot unwind through machine code. It is caught, the machine code returns, and then the
//! panic is resumed.

#![allow(unsafe_code, reason = "machine code is called by its address")]

use cranelift_codegen::isa::CallConv;
use cranelift_jit::JITModule;
use p4_vm::Target;
use p4_vm::native::{Context, Found, Next, Places, Vm};
use std::fmt;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

pub const OCTETS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, octets);
pub const HELD: usize = offset_of!(Context<'static>, places) + offset_of!(Places, held);
pub const BITS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, bits);
pub const CURSOR: usize = offset_of!(Context<'static>, places) + offset_of!(Places, cursor);
pub const LENGTH: usize = offset_of!(Context<'static>, places) + offset_of!(Places, length);
pub const NOW: usize = offset_of!(Context<'static>, places) + offset_of!(Places, now);
pub const CELLS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, cells);
pub const EMITTED: usize = offset_of!(Context<'static>, places) + offset_of!(Places, emitted);
pub const ROOM: usize = offset_of!(Context<'static>, places) + offset_of!(Places, room);
pub const EMITTED_LEN: usize =
    offset_of!(Context<'static>, places) + offset_of!(Places, emitted_len);
pub const RECENT: usize = offset_of!(Context<'static>, places) + offset_of!(Places, recent);
pub const ERROR: usize = offset_of!(Context<'static>, places) + offset_of!(Places, error);
pub const CHECKSUM_ERROR: usize =
    offset_of!(Context<'static>, places) + offset_of!(Places, checksum_error);
pub const FOUND: usize = offset_of!(Context<'static>, found);
pub const MOST_STEPS: usize = offset_of!(Context<'static>, most_steps);
pub const STEPS: usize = offset_of!(Context<'static>, steps);

/// Returned by a function of machine code if the packet leaves the block rather than only the function, and by the
/// function of a sequence if the sequence ends early.
pub const END: i64 = 1;

/// A function of machine code. Its arguments are the context and the storage. It returns 0 or [`END`].
type Function = unsafe extern "C" fn(*mut Context<'_>, *mut u64) -> u32;

/// The calling convention for calls of the interpreter. Calls are rare, and this convention preserves `rdi` and `rsi`,
/// in which a function receives its arguments, and five other registers. Linux's convention preserves only those five,
/// so that code around each call would have to save and reload context and storage.
pub const CONVENTION: CallConv = CallConv::WindowsFastcall;

/// The functions that machine code calls, by name.
pub const CALLBACKS: [(&str, *const u8); 6] = [
    ("step", step as *const u8),
    ("find", find as *const u8),
    ("note", note as *const u8),
    ("call", call as *const u8),
    ("reject", reject as *const u8),
    ("aborted", aborted as *const u8),
];

/// Calls the interpreter. After a panic it is not called again.
fn interpret<T>(
    context: *mut Context<'_>,
    after_panic: T,
    work: impl FnOnce(&mut dyn Vm, &mut [u64], &mut Places, &mut Found) -> T,
) -> T {
    // SAFETY: `MachineCode::run` passes the only pointer to the context to the code. The context lives as long as the
    // call.
    let context = unsafe { &mut *context };
    let Context {
        vm,
        words,
        places,
        found,
        ..
    } = context;
    let work = AssertUnwindSafe(|| work(&mut **vm, words, places, found));
    catch_unwind(work).unwrap_or_else(|panic| {
        context.panic = Some(panic);
        after_panic
    })
}

extern "win64" fn step(context: *mut Context<'_>, at: Target) -> Next {
    interpret(context, Next::End, |vm, words, places, _| {
        vm.step(words, at, places)
    })
}

/// Looks up a key of `len` words. The result is stored in the context.
extern "win64" fn find(context: *mut Context<'_>, site: u32, key: *const u64, len: u32) -> Next {
    // SAFETY: it points to a slot of `len` words on the code's stack, all of which the code has written.
    let key = unsafe { std::slice::from_raw_parts(key, len as usize) };
    interpret(context, Next::End, |vm, words, _, found| {
        *found = vm.find(words, site, key);
        Next::Step
    })
}

/// Performs the side effects of a table look-up that compiled code did itself.
extern "win64" fn note(context: *mut Context<'_>, table: u32, noted: u32) -> Next {
    interpret(context, Next::End, |vm, _, _, _| {
        vm.note(table, noted);
        Next::Step
    })
}

extern "win64" fn call(context: *mut Context<'_>, call: u32) -> Next {
    interpret(context, Next::End, |vm, words, places, _| {
        vm.call(words, call, places)
    })
}

extern "win64" fn reject(context: *mut Context<'_>, error: u64) -> Next {
    interpret(context, Next::End, |vm, _, _, _| {
        vm.reject(error);
        Next::End
    })
}

/// Whether the packet leaves all blocks, because it is dropped regardless of the program or because of a panic.
extern "win64" fn aborted(context: *mut Context<'_>) -> u32 {
    // SAFETY: as in `interpret`; nothing in the context changes.
    let context = unsafe { &*context };
    u32::from(context.panic.is_some() || context.vm.aborted())
}

/// A program's machine code.
pub struct MachineCode {
    /// The functions of sequences, followed by the functions of blocks.
    functions: Vec<Function>,
    /// Words of storage that the code accesses.
    words: usize,
    /// The memory that holds the code.
    module: Mutex<Option<JITModule>>,
}

impl MachineCode {
    /// Takes these functions of a module. Their definitions are finalized, and they access `words` words of storage.
    pub fn new(
        module: JITModule,
        functions: impl Iterator<Item = cranelift_module::FuncId>,
        words: usize,
    ) -> Self {
        let address = |id| {
            let code = module.get_finalized_function(id);
            // SAFETY: all functions are declared with this signature, and the module is kept as long as they are.
            unsafe { std::mem::transmute::<*const u8, Function>(code) }
        };
        MachineCode {
            functions: functions.map(address).collect(),
            words,
            module: Mutex::new(Some(module)),
        }
    }
}

impl p4_vm::native::Native for MachineCode {
    fn run(&self, number: usize, context: &mut Context<'_>) -> bool {
        assert!(context.words.len() >= self.words, "storage of this program");
        let function = self.functions[number];
        let words = context.words.as_mut_ptr();
        // SAFETY: the code accesses storage, which has at least `words` words, and the places in the context. It
        // receives the only pointers to them.
        let status = unsafe { function(context, words) };
        if let Some(panic) = context.panic.take() {
            resume_unwind(panic);
        }
        status == 0
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        let module = self.module.get_mut();
        if let Some(module) = module.ok().and_then(Option::take) {
            // SAFETY: the functions are called only through `self`.
            unsafe { module.free_memory() };
        }
    }
}

impl fmt::Debug for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineCode")
            .field("functions", &self.functions.len())
            .finish_non_exhaustive()
    }
}
