//! From bytecode to machine code.

use super::context::{CALLBACKS, CONVENTION, MachineCode};
use super::emitter::{Callbacks, Program};
use super::procedure::{self, Start};
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Signature, Type, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use p4_vm::Target;
use p4_vm::native::{Compiler, Native, Source};
use std::collections::BTreeMap;

/// The longest program that is compiled, in instructions of bytecode. It takes about a second.
const MOST: usize = 1 << 16;

/// Compiles with Cranelift.
#[derive(Debug)]
pub struct Cranelift;

impl Compiler for Cranelift {
    fn compile(&self, source: &Source<'_>) -> Option<Box<dyn Native>> {
        if source.code.ops.len() > MOST {
            return None;
        }
        let mut writer = Writer::new(source)?;
        let code = writer.write();
        if code.is_none() {
            writer.free();
            return None;
        }
        let Writer {
            module,
            functions,
            sequences,
            ..
        } = writer;
        let blocks = source.entries.iter().map(|entry| functions[entry]);
        let functions = sequences.into_iter().chain(blocks);
        let words = source.code.constants_at + source.code.constants.len();
        Some(Box::new(MachineCode::new(module, functions, words)))
    }
}

/// Compiles the functions of a program.
struct Writer<'a> {
    program: Program<'a>,
    module: JITModule,
    /// The functions by their first instruction.
    functions: BTreeMap<Target, FuncId>,
    /// The functions of sequences.
    sequences: Vec<FuncId>,
    callbacks: [FuncId; CALLBACKS.len()],
    /// Functions that are declared and not yet compiled.
    left: Vec<Target>,
}

/// Options of the code generator. The code calls nothing that walks its stack.
fn flags() -> Option<Flags> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("is_pic", "false").ok()?;
    flags.set("unwind_info", "false").ok()?;
    flags.set("enable_probestack", "false").ok()?;
    flags
        .set("enable_verifier", &cfg!(debug_assertions).to_string())
        .ok()?;
    Some(Flags::new(flags))
}

/// Whether an empty function can be made executable.
pub fn is_permitted() -> bool {
    let Some(isa) = isa() else {
        return false;
    };
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut compile = || {
        let mut context = module.make_context();
        let mut functions = FunctionBuilderContext::new();
        let mut build = FunctionBuilder::new(&mut context.func, &mut functions);
        let block = build.create_block();
        build.switch_to_block(block);
        build.seal_all_blocks();
        build.ins().return_(&[]);
        build.finalize();
        let signature = context.func.signature.clone();
        let function = module.declare_anonymous_function(&signature).ok()?;
        module.define_function(function, &mut context).ok()?;
        module.finalize_definitions().ok()
    };
    let permitted = compile().is_some();
    drop(MachineCode::new(module, std::iter::empty(), 0));
    permitted
}

/// This machine's instruction set.
fn isa() -> Option<OwnedTargetIsa> {
    cranelift_native::builder().ok()?.finish(flags()?).ok()
}

impl<'a> Writer<'a> {
    fn new(source: &'a Source<'a>) -> Option<Self> {
        let mut builder = JITBuilder::with_isa(isa()?, default_libcall_names());
        builder.symbols(CALLBACKS);
        let mut module = JITModule::new(builder);
        let mut callbacks = Vec::new();
        for (name, _) in CALLBACKS {
            let args: &[_] = match name {
                "reject" => &[types::I64],
                "find" => &[types::I32, types::I64, types::I32],
                "note" => &[types::I32, types::I32],
                "aborted" => &[],
                _ => &[types::I32],
            };
            let mut signature = signature(&module, args);
            signature.call_conv = CONVENTION;
            callbacks.push(
                module
                    .declare_function(name, Linkage::Import, &signature)
                    .ok()?,
            );
        }
        Some(Writer {
            program: Program::new(source),
            module,
            functions: BTreeMap::new(),
            sequences: Vec::new(),
            callbacks: callbacks.try_into().ok()?,
            left: Vec::new(),
        })
    }

    /// Compiles all functions. Returns `None` if one of them cannot be compiled.
    fn write(&mut self) -> Option<()> {
        for &entry in self.program.source.entries {
            declare(&mut self.module, &mut self.functions, &mut self.left, entry)?;
        }
        let mut context = self.module.make_context();
        let mut builder = FunctionBuilderContext::new();
        let sequences = self.program.source.sequences.iter();
        let mut sequences = sequences.map(Start::Sequence);
        loop {
            let code = |left: &mut Vec<Target>| left.pop().map(Start::Code);
            let Some(start) = sequences.next().or_else(|| code(&mut self.left)) else {
                break;
            };
            context.func.signature = signature(&self.module, &[types::I64]);
            self.function(start, &mut context.func, &mut builder)?;
            let id = match start {
                Start::Code(start) => self.functions[&start],
                Start::Sequence(_) => {
                    let signature = signature(&self.module, &[types::I64]);
                    let id = self.module.declare_anonymous_function(&signature).ok()?;
                    self.sequences.push(id);
                    id
                }
            };
            self.module.define_function(id, &mut context).ok()?;
            self.module.clear_context(&mut context);
        }
        self.module.finalize_definitions().ok()
    }

    fn function(
        &mut self,
        start: Start<'_>,
        function: &mut Function,
        builder: &mut FunctionBuilderContext,
    ) -> Option<()> {
        let (module, functions, left) = (&mut self.module, &mut self.functions, &mut self.left);
        let [step, find, note, call, reject, aborted] = self
            .callbacks
            .map(|callback| module.declare_func_in_func(callback, function));
        let callbacks = Callbacks {
            step,
            find,
            note,
            call,
            reject,
            aborted,
        };
        let mut declared = true;
        let mut import = |target, build: &mut FunctionBuilder<'_>| -> FuncRef {
            match declare(module, functions, left, target) {
                Some(id) => module.declare_func_in_func(id, build.func),
                None => {
                    declared = false;
                    step
                }
            }
        };
        let build = FunctionBuilder::new(function, builder);
        let inside = procedure::write(&self.program, build, callbacks, start, &mut import);
        (inside && declared).then_some(())
    }

    /// Frees the memory of code that is not used.
    fn free(self) {
        drop(MachineCode::new(self.module, std::iter::empty(), 0));
    }
}

/// Declares the function that begins with an instruction.
fn declare(
    module: &mut JITModule,
    functions: &mut BTreeMap<Target, FuncId>,
    left: &mut Vec<Target>,
    start: Target,
) -> Option<FuncId> {
    if let Some(&id) = functions.get(&start) {
        return Some(id);
    }
    let signature = signature(module, &[types::I64]);
    let id = module.declare_anonymous_function(&signature).ok()?;
    functions.insert(start, id);
    left.push(start);
    Some(id)
}

/// The signature of a function that takes the context and further arguments, and returns 32 bits.
fn signature(module: &JITModule, args: &[Type]) -> Signature {
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(types::I64));
    let args = args.iter().copied().map(AbiParam::new);
    signature.params.extend(args);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_vm::native::{Code, Context, Found, Next, Op, Places, Vm};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// An interpreter that counts its calls, and panics when it is called for instruction `bad`.
    struct Counting {
        bad: Target,
        calls: u32,
        cursor: usize,
        emitted: usize,
    }

    impl Counting {
        fn places(&mut self) -> Places {
            Places {
                octets: std::ptr::dangling(),
                held: 0,
                bits: 0,
                cursor: &mut self.cursor,
                length: 0,
                cells: std::ptr::null(),
                now: 0,
                recent: std::ptr::null(),
                error: std::ptr::null(),
                checksum_error: std::ptr::null(),
                emitted: std::ptr::dangling_mut(),
                room: 0,
                emitted_len: &mut self.emitted,
            }
        }
    }

    impl Vm for Counting {
        fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next {
            assert_ne!(at, self.bad, "the bad instruction");
            words[0] += 10;
            self.calls += 1;
            *places = self.places();
            Next::Step
        }

        fn find(&mut self, _: &[u64], _: u32, _: &[u64]) -> Found {
            panic!("no table");
        }

        fn note(&mut self, _: u32, _: u32) {
            panic!("no table");
        }

        fn call(&mut self, _: &mut [u64], _: u32, _: &mut Places) -> Next {
            panic!("no extern");
        }

        fn aborted(&self) -> bool {
            false
        }

        fn reject(&mut self, _: u64) {}
    }

    /// Runs instructions on three words: two variables and the constant 5. Returns the words and the interpreter
    /// afterwards, or `None` if the instructions are not compiled.
    fn run(ops: Vec<Op>, bad: Target) -> Option<([u64; 3], Counting, bool)> {
        let code = Code {
            ops,
            constants_at: 2,
            constants: vec![5],
            ..Code::default()
        };
        let native = Cranelift.compile(&Source {
            code: &code,
            sequences: &[],
            entries: &[0],
            objects: &[],
            keys: &[],
            noted: p4_vm::native::Noted::default(),
        })?;
        let mut words = [0, 1, 5];
        let mut vm = Counting {
            bad,
            calls: 0,
            cursor: 0,
            emitted: 0,
        };
        let places = vm.places();
        let run =
            AssertUnwindSafe(|| native.run(0, &mut Context::new(places, &mut words, 2, &mut vm)));
        let panicked = catch_unwind(run).is_err();
        Some((words, vm, panicked))
    }

    /// An instruction that the interpreter executes.
    const INTERPRETED: Op = Op::Enter { number: 0 };

    #[test]
    fn a_panic_of_the_interpreter_passes_through() {
        let add = Op::Add {
            d: 0,
            a: 0,
            b: 2,
            sh: 0,
        };
        let ops = vec![add, INTERPRETED, add, INTERPRETED, add, Op::Halt];
        let (words, vm, panicked) = run(ops.clone(), Target::MAX).expect("it compiles");
        assert_eq!((words, vm.calls, panicked), ([35, 1, 5], 2, false));
        let (words, vm, panicked) = run(ops, 3).expect("it compiles");
        assert_eq!((words, vm.calls, panicked), ([20, 1, 5], 1, true));
    }

    #[test]
    fn steps_are_counted_in_subroutines_too() {
        let add = Op::Add {
            d: 0,
            a: 0,
            b: 1,
            sh: 0,
        };
        // The subroutine at 3 leaves the block after two steps.
        let ops = vec![
            Op::Call { to: 3 },
            add,
            Op::Jmp { to: 0 },
            Op::Step { to: 6 },
            add,
            Op::Ret,
            Op::Halt,
        ];
        let (words, ..) = run(ops, 0).expect("it compiles");
        assert_eq!(words, [4, 1, 5]);
    }

    #[test]
    fn code_with_a_place_outside_of_storage_is_not_compiled() {
        for (d, a) in [(0, 3), (3, 0), (2, 0), (0, u32::MAX)] {
            assert!(run(vec![Op::Mov { d, a }], 0).is_none(), "{d} {a}");
        }
        let many = Op::StoreX {
            base: 2,
            off: 0,
            a: 0,
            n: 2,
        };
        assert!(run(vec![many], 0).is_none());
        assert!(run(vec![Op::Mov { d: 0, a: 2 }], 0).is_some());
    }

    #[test]
    fn a_place_beyond_storage_is_left_to_the_interpreter() {
        let load = Op::LoadX {
            d: 0,
            base: 0,
            off: 1,
            n: 1,
        };
        let count = |offset: u64| {
            let by = Op::Mul {
                d: 1,
                a: 2,
                b: 1,
                sh: 0,
            };
            let ops = vec![by; offset as usize].into_iter().chain([load]);
            run(ops.collect(), Target::MAX)
                .expect("it compiles")
                .1
                .calls
        };
        // The offsets are 1 and 5.
        assert_eq!([count(0), count(1)], [0, 1]);
    }
}
