//! Calls from Rust to machine code, and from there back to the interpreter.
//!
//! A panic of the interpreter cannot unwind through machine code: it is caught, the code ends, and the panic goes on
//! behind it.

#![allow(unsafe_code, reason = "machine code is called by its address")]

use cranelift_jit::JITModule;
use p4_vm::Target;
use p4_vm::native::{Next, Places, Vm};
use std::any::Any;
use std::fmt;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

/// What machine code works with besides storage.
#[repr(C)]
pub struct Context<'a> {
    places: Places,
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
pub const STEPS: usize = offset_of!(Context<'static>, steps);

/// What a function of machine code returns if the packet leaves the block, rather than only the function.
pub const END: i64 = 1;

/// A function of machine code: its context, storage; 0 or [`END`].
type Function = unsafe extern "C" fn(*mut Context<'_>, *mut u64) -> u32;

/// The functions that machine code calls, by name.
pub const CALLBACKS: [(&str, *const u8); 4] = [
    ("step", step as *const u8),
    ("apply", apply as *const u8),
    ("call", call as *const u8),
    ("reject", reject as *const u8),
];

/// Lets the interpreter work on storage. Behind a panic it is not called again.
fn interpret<T>(
    context: *mut Context<'_>,
    after_panic: T,
    work: impl FnOnce(&mut dyn Vm, &mut [u64], &mut Places) -> T,
) -> T {
    // SAFETY: `MachineCode::run` gives the code the only pointer to its context, which lives as long as the call.
    let context = unsafe { &mut *context };
    // SAFETY: they are the place and the length of the slice that `MachineCode::run` has, which it does not use
    // before the code ends. The code has no reference to it.
    let words = unsafe { std::slice::from_raw_parts_mut(context.words, context.len) };
    let (vm, places) = (&mut *context.vm, &mut context.places);
    catch_unwind(AssertUnwindSafe(|| work(vm, words, places))).unwrap_or_else(|panic| {
        context.panic = Some(panic);
        after_panic
    })
}

extern "C" fn step(context: *mut Context<'_>, at: Target) -> Next {
    interpret(context, Next::End, |vm, words, places| {
        vm.step(words, at, places)
    })
}

/// What [`apply`] returns instead of a target when the code must end.
pub const PANICKED: Target = Target::MAX - 1;

extern "C" fn apply(context: *mut Context<'_>, site: u32) -> Target {
    interpret(context, PANICKED, |vm, words, places| {
        vm.apply(words, site, places)
    })
}

extern "C" fn call(context: *mut Context<'_>, call: u32) -> Next {
    interpret(context, Next::End, |vm, words, places| {
        vm.call(words, call, places)
    })
}

extern "C" fn reject(context: *mut Context<'_>, error: u64) -> Next {
    interpret(context, Next::End, |vm, _, _| {
        vm.reject(error);
        Next::End
    })
}

/// A program's machine code.
pub struct MachineCode {
    /// The functions and where their bytecode begins. They are few.
    functions: Vec<(Target, Function)>,
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
        let function = |(start, id)| {
            let code = module.get_finalized_function(id);
            // SAFETY: all functions are declared with this signature, and the module is kept as long as they are.
            (start, unsafe {
                std::mem::transmute::<*const u8, Function>(code)
            })
        };
        MachineCode {
            functions: blocks.map(function).collect(),
            words,
            module: Mutex::new(Some(module)),
        }
    }
}

impl p4_vm::native::Native for MachineCode {
    fn run(&self, start: Target, words: &mut [u64], vm: &mut dyn Vm) {
        assert!(words.len() >= self.words, "storage of this program");
        let found = self.functions.iter().find(|(begin, _)| *begin == start);
        let (_, function) = *found.expect("a block of this program");
        let mut context = Context {
            places: vm.places(),
            steps: vm.steps(),
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
            .field("functions", &self.functions.len())
            .finish_non_exhaustive()
    }
}
