//! Calls from Rust to machine code, and from there back to the interpreter.
//!
//! A panic of the interpreter cannot unwind through machine code: it is caught, the code ends, and the panic goes on
//! behind it.

#![allow(unsafe_code, reason = "machine code is called by its address")]

use cranelift_jit::JITModule;
use p4_vm::NONE;
use p4_vm::Target;
use p4_vm::native::{Found, Next, Places, Vm};
use std::any::Any;
use std::fmt;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

/// What machine code works with besides storage.
#[repr(C)]
pub struct Context<'a> {
    places: Places,
    found: Found,
    steps: u32,
    words: *mut u64,
    len: usize,
    vm: &'a mut dyn Vm,
    panic: Option<Box<dyn Any + Send>>,
}

pub const OCTETS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, octets);
pub const HELD: usize = offset_of!(Context<'static>, places) + offset_of!(Places, held);
pub const BITS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, bits);
pub const CURSOR: usize = offset_of!(Context<'static>, places) + offset_of!(Places, cursor);
pub const LENGTH: usize = offset_of!(Context<'static>, places) + offset_of!(Places, length);
pub const CELLS: usize = offset_of!(Context<'static>, places) + offset_of!(Places, cells);
pub const EMITTED: usize = offset_of!(Context<'static>, places) + offset_of!(Places, emitted);
pub const ROOM: usize = offset_of!(Context<'static>, places) + offset_of!(Places, room);
pub const EMITTED_LEN: usize =
    offset_of!(Context<'static>, places) + offset_of!(Places, emitted_len);
pub const HIT: usize = offset_of!(Context<'static>, found) + offset_of!(Found, hit);
pub const ARGS: usize = offset_of!(Context<'static>, found) + offset_of!(Found, args);
pub const STEPS: usize = offset_of!(Context<'static>, steps);

/// What a function of machine code returns if the packet leaves the block, rather than only the function.
pub const END: i64 = 1;

/// A function of machine code: its context, storage; 0 or [`END`].
type Function = unsafe extern "C" fn(*mut Context<'_>, *mut u64) -> u32;

/// The functions that machine code calls, by name.
pub const CALLBACKS: [(&str, *const u8); 5] = [
    ("step", step as *const u8),
    ("find", find as *const u8),
    ("find_wide", find_wide as *const u8),
    ("call", call as *const u8),
    ("reject", reject as *const u8),
];

/// Lets the interpreter work on storage. Behind a panic it is not called again.
fn interpret<T>(
    context: *mut Context<'_>,
    after_panic: T,
    work: impl FnOnce(&mut dyn Vm, &mut [u64], &mut Places, &mut Found) -> T,
) -> T {
    // SAFETY: `MachineCode::run` gives the code the only pointer to its context, which lives as long as the call.
    let context = unsafe { &mut *context };
    // SAFETY: they are the place and the length of the slice that `MachineCode::run` has, which it does not use
    // before the code ends. The code has no reference to it.
    let words = unsafe { std::slice::from_raw_parts_mut(context.words, context.len) };
    let Context {
        vm, places, found, ..
    } = context;
    let work = AssertUnwindSafe(|| work(&mut **vm, words, places, found));
    catch_unwind(work).unwrap_or_else(|panic| {
        context.panic = Some(panic);
        after_panic
    })
}

extern "C" fn step(context: *mut Context<'_>, at: Target) -> Next {
    interpret(context, Next::End, |vm, words, places, _| {
        vm.step(words, at, places)
    })
}

/// What [`find`] returns instead of an action when the code must end.
pub const PANICKED: u32 = NONE - 1;

/// Looks up a key; the number of the action, or [`NONE`].
extern "C" fn find(context: *mut Context<'_>, site: u32, key: u64) -> u32 {
    look_up(context, site, Some(key))
}

extern "C" fn find_wide(context: *mut Context<'_>, site: u32) -> u32 {
    look_up(context, site, None)
}

#[inline(always)]
fn look_up(context: *mut Context<'_>, site: u32, key: Option<u64>) -> u32 {
    interpret(context, PANICKED, |vm, words, _, found| {
        vm.find(words, site, key, found)
    })
}

extern "C" fn call(context: *mut Context<'_>, call: u32) -> Next {
    interpret(context, Next::End, |vm, words, places, _| {
        vm.call(words, call, places)
    })
}

extern "C" fn reject(context: *mut Context<'_>, error: u64) -> Next {
    interpret(context, Next::End, |vm, _, _, _| {
        vm.reject(error);
        Next::End
    })
}

/// A program's machine code.
pub struct MachineCode {
    /// The function of each block, at the number of its first instruction.
    functions: Vec<Option<Function>>,
    /// Words of storage that it takes.
    words: usize,
    /// The memory that holds it.
    module: Mutex<Option<JITModule>>,
}

impl MachineCode {
    /// The code of `blocks` in a module, whose definitions are finalized and which takes so many words of storage.
    pub fn new(
        module: JITModule,
        blocks: impl Iterator<Item = (Target, cranelift_module::FuncId)>,
        words: usize,
    ) -> Self {
        let mut functions = Vec::new();
        for (start, id) in blocks {
            let code = module.get_finalized_function(id);
            // SAFETY: all functions are declared with this signature, and the module is kept as long as they are.
            let function = unsafe { std::mem::transmute::<*const u8, Function>(code) };
            let start = start as usize;
            functions.resize(functions.len().max(start + 1), None);
            functions[start] = Some(function);
        }
        MachineCode {
            functions,
            words,
            module: Mutex::new(Some(module)),
        }
    }
}

impl p4_vm::native::Native for MachineCode {
    fn run(&self, start: Target, words: &mut [u64], places: Places, steps: u32, vm: &mut dyn Vm) {
        assert!(words.len() >= self.words, "storage of this program");
        let function = self.functions.get(start as usize).copied().flatten();
        let function = function.expect("a block of this program");
        let mut context = Context {
            places,
            found: Found {
                hit: 0,
                args: std::ptr::null(),
            },
            steps,
            words: words.as_mut_ptr(),
            len: words.len(),
            vm,
            panic: None,
        };
        let words = context.words;
        // SAFETY: the code accesses storage, of which it takes no more words than there are, and places in the
        // context. It gets the only pointers to them.
        unsafe { function(&mut context, words) };
        if let Some(panic) = context.panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        let module = self.module.get_mut();
        if let Some(module) = module.ok().and_then(Option::take) {
            // SAFETY: the functions are called by way of `self` alone.
            unsafe { module.free_memory() };
        }
    }
}

impl fmt::Debug for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineCode")
            .field("functions", &self.functions.iter().flatten().count())
            .finish_non_exhaustive()
    }
}
