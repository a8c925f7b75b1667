//! Common parts of compiled instructions: storage, values, calls of the interpreter.

use super::context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AliasRegion, Block, BlockArg, FuncRef, InstBuilder, MemFlags, StackSlot, StackSlotData,
    StackSlotKind, Type, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use p4_vm::native::{
    ActionCode, ApplySite, Found, Key, Note, PLACES_BITS, SPREAD, Source, TURN, place_words,
};
use p4_vm::{MetaField, NONE, Reported, Slot, Target};
use std::cell::Cell;
use std::collections::HashSet;
use std::mem::offset_of;

/// The functions of the interpreter, as declared in a function of machine code.
#[derive(Clone, Copy)]
pub struct Callbacks {
    pub step: FuncRef,
    pub find: FuncRef,
    pub note: FuncRef,
    pub call: FuncRef,
    pub reject: FuncRef,
    pub aborted: FuncRef,
}

/// The bytecode, with indices for fast look-up.
pub struct Program<'a> {
    pub source: &'a Source<'a>,
    /// Words among the constants that a switch may set.
    pub settings: HashSet<Slot>,
    /// Words of storage.
    pub words: usize,
    /// How many instructions of actions may still be inlined.
    in_place: Cell<usize>,
}

/// The most instructions of actions that are inlined per program. Each table has its own copy of an action's code.
/// Without this bound, many tables with many actions would take seconds to compile.
const MOST_IN_PLACE: usize = 1 << 14;

impl<'a> Program<'a> {
    pub fn new(source: &'a Source<'a>) -> Self {
        let code = source.code;
        Program {
            source,
            settings: code.settings.iter().copied().collect(),
            words: code.constants_at + code.constants.len(),
            in_place: Cell::new(MOST_IN_PLACE),
        }
    }

    /// Whether this many instructions of an action may be inlined. If so, subtracts them from the remaining number.
    pub fn take_in_place(&self, instructions: usize) -> bool {
        let left = self.in_place.get().checked_sub(instructions);
        self.in_place.set(left.unwrap_or(self.in_place.get()));
        left.is_some()
    }

    /// The value of a word that never changes, if it is one.
    pub fn constant(&self, slot: Slot) -> Option<u64> {
        let code = self.source.code;
        let at = (slot as usize).checked_sub(code.constants_at)?;
        let value = *code.constants.get(at)?;
        (!self.settings.contains(&slot)).then_some(value)
    }
}

/// Emits the instructions of a function.
pub struct Emitter<'a, 'f> {
    pub program: &'a Program<'a>,
    pub build: FunctionBuilder<'f>,
    pub callbacks: Callbacks,
    pub context: Value,
    pub words: Value,
    /// The exit if the interpreter returned that the packet leaves the block.
    pub end: Block,
    /// The stack slot for keys.
    pub key: Option<StackSlot>,
    /// Whether an access was outside of storage. If so, the code must not be used.
    pub outside: bool,
}

/// Flags for storage, which is never accessed through another pointer.
fn storage() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

/// Flags for the context and the places in it.
fn places() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Flags for memory that is constant while code runs, whatever the interpreter does.
fn fixed() -> MemFlags {
    places().with_readonly().with_can_move()
}

/// Flags for the packet's octets.
fn octets() -> MemFlags {
    MemFlags::new()
        .with_notrap()
        .with_alias_region(Some(AliasRegion::Table))
}

impl Emitter<'_, '_> {
    // -- storage ------------------------------------------------------------------------------

    /// Whether `words` words from `slot` on are within storage. If not, the code is discarded.
    pub fn inside(&mut self, slot: Slot, words: u32) -> bool {
        let inside = slot as u64 + words as u64 <= self.program.words as u64;
        self.outside |= !inside;
        inside
    }

    pub fn load(&mut self, slot: Slot) -> Value {
        if let Some(value) = self.program.constant(slot) {
            return self.number(value);
        }
        if !self.inside(slot, 1) {
            return self.number(0);
        }
        let at = slot as i32 * 8;
        let words = self.words;
        self.build.ins().load(types::I64, storage(), words, at)
    }

    pub fn store(&mut self, slot: Slot, value: Value) {
        self.outside |= self.program.constant(slot).is_some();
        if self.inside(slot, 1) {
            let at = slot as i32 * 8;
            let words = self.words;
            self.build.ins().store(storage(), value, words, at);
        }
    }

    /// Sets words to zero, in pairs where they are adjacent. `slots` are ascending.
    pub fn clear(&mut self, mut slots: &[Slot]) {
        if slots.is_empty() {
            return;
        }
        let zeros = self.build.func.dfg.constants.insert([0; 16][..].into());
        let zeros = self.build.ins().vconst(types::I64X2, zeros);
        let zero = self.number(0);
        while let [slot, rest @ ..] = slots {
            slots = rest;
            match rest {
                [next, rest @ ..] if *next == slot + 1 && self.inside(*slot, 2) => {
                    let words = self.words;
                    let at = *slot as i32 * 8;
                    self.build.ins().store(storage(), zeros, words, at);
                    slots = rest;
                }
                _ => self.store(*slot, zero),
            }
        }
    }

    /// The address of word `at`, a value that has been checked.
    pub fn word_at(&mut self, at: Value) -> Value {
        let octets = self.build.ins().ishl_imm(at, 3);
        self.build.ins().iadd(self.words, octets)
    }

    /// A word relative to an address that has been checked.
    pub fn load_at(&mut self, place: Value, word: u32) -> Value {
        let at = word as i32 * 8;
        self.build.ins().load(types::I64, storage(), place, at)
    }

    pub fn store_at(&mut self, place: Value, word: u32, value: Value) {
        let at = word as i32 * 8;
        self.build.ins().store(storage(), value, place, at);
    }

    // -- the context --------------------------------------------------------------------------

    pub fn field(&mut self, ty: Type, offset: usize) -> Value {
        let context = self.context;
        self.build.ins().load(ty, places(), context, offset as i32)
    }

    /// A field of the context that is constant while code runs.
    pub fn fixed_field(&mut self, offset: usize) -> Value {
        let context = self.context;
        self.load_fixed(context, offset as i32)
    }

    /// A word that is constant while code runs.
    pub fn load_fixed(&mut self, place: Value, offset: i32) -> Value {
        self.build.ins().load(types::I64, fixed(), place, offset)
    }

    /// A 32-bit number that is constant while code runs, extended with zeros.
    pub fn load_fixed_number(&mut self, place: Value, offset: i32) -> Value {
        self.build.ins().uload32(fixed(), place, offset)
    }

    pub fn set_field(&mut self, offset: usize, value: Value) {
        let context = self.context;
        self.build
            .ins()
            .store(places(), value, context, offset as i32);
    }

    /// A word at an address from the context.
    pub fn load_place(&mut self, place: Value, offset: i32) -> Value {
        self.build.ins().load(types::I64, places(), place, offset)
    }

    /// A 32-bit number at an address from the context.
    pub fn load_number(&mut self, place: Value, offset: i32) -> Value {
        self.build.ins().load(types::I32, places(), place, offset)
    }

    pub fn store_place(&mut self, place: Value, offset: i32, value: Value) {
        self.build.ins().store(places(), value, place, offset);
    }

    /// Eight octets of the packet as a number.
    pub fn eight_octets(&mut self, place: Value, offset: i32) -> Value {
        let eight = self.build.ins().load(types::I64, octets(), place, offset);
        self.build.ins().bswap(eight)
    }

    /// 1, 2, 4 or 8 octets of the packet as the high octets of a number. The other octets are 0.
    pub fn high_octets(&mut self, place: Value, octets_read: u32) -> Value {
        let load = self.build.ins();
        let low = match octets_read {
            1 => load.uload8(types::I64, octets(), place, 0),
            2 => load.uload16(types::I64, octets(), place, 0),
            4 => load.uload32(octets(), place, 0),
            _ => load.load(types::I64, octets(), place, 0),
        };
        self.build.ins().bswap(low)
    }

    pub fn store_eight_octets(&mut self, place: Value, offset: i32, eight: Value) {
        let eight = self.build.ins().bswap(eight);
        self.build.ins().store(octets(), eight, place, offset);
    }

    // -- values -------------------------------------------------------------------------------

    pub fn number(&mut self, value: u64) -> Value {
        self.build.ins().iconst(types::I64, value as i64)
    }

    /// The low `64 − sh` bits of the value.
    pub fn cut(&mut self, value: Value, sh: u8) -> Value {
        match sh {
            0 => value,
            _ => {
                let mask = self.number(u64::MAX >> sh);
                self.build.ins().band(value, mask)
            }
        }
    }

    pub fn up(&mut self, value: Value, by: u64) -> Value {
        match by {
            0 => value,
            _ => self.build.ins().ishl_imm(value, by as i64),
        }
    }

    pub fn down(&mut self, value: Value, by: u64) -> Value {
        match by {
            0 => value,
            _ => self.build.ins().ushr_imm(value, by as i64),
        }
    }

    /// Sign-extends a value of `64 − sh` bits.
    pub fn extend(&mut self, value: Value, sh: u8) -> Value {
        match sh {
            0 => value,
            _ => {
                let up = self.build.ins().ishl_imm(value, sh as i64);
                self.build.ins().sshr_imm(up, sh as i64)
            }
        }
    }

    /// The result of a comparison: 1 or 0.
    pub fn compare(&mut self, how: IntCC, a: Value, b: Value) -> Value {
        let bit = self.build.ins().icmp(how, a, b);
        self.build.ins().uextend(types::I64, bit)
    }

    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        self.build.ins().select(condition, then, otherwise)
    }

    // -- control flow -------------------------------------------------------------------------

    pub fn jump(&mut self, to: Block) {
        self.build.ins().jump(to, &[] as &[BlockArg]);
    }

    /// Branches to `then` if the condition is not 0.
    pub fn branch(&mut self, condition: Value, then: Block, otherwise: Block) {
        let none: &[BlockArg] = &[];
        self.build
            .ins()
            .brif(condition, then, none, otherwise, none);
    }

    /// Branches to `to` if the condition is not 0. Otherwise continues here.
    pub fn leave_if(&mut self, condition: Value, to: Block) {
        let on = self.build.create_block();
        let here = self.build.current_block();
        if here.is_some_and(|here| self.build.func.layout.is_cold(here)) {
            self.build.set_cold_block(on);
        }
        self.branch(condition, to, on);
        self.build.switch_to_block(on);
    }

    /// Creates a block that is rarely reached.
    pub fn cold_block(&mut self) -> Block {
        let block = self.build.create_block();
        self.build.set_cold_block(block);
        block
    }

    // -- the interpreter ----------------------------------------------------------------------

    fn callback(&mut self, function: FuncRef, ty: Type, arg: u64) -> Value {
        let arg = self.build.ins().iconst(ty, arg as i64);
        let call = self.build.ins().call(function, &[self.context, arg]);
        self.build.inst_results(call)[0]
    }

    /// Calls the interpreter for instruction `at`. Returns what follows it.
    pub fn step(&mut self, at: Target) -> Value {
        self.callback(self.callbacks.step, types::I32, at.into())
    }

    /// Like [`Self::step`], for an instruction that may end the block but not jump.
    pub fn step_or_end(&mut self, at: Target) {
        let next = self.step(at);
        let end = self.end;
        self.leave_if(next, end);
    }

    /// Looks up the key of a site. Returns the address of a [`Found`].
    pub fn find(&mut self, site: u32) -> Value {
        let Source { code, keys, .. } = self.program.source;
        let slots = &code.sites[site as usize];
        let key = &keys[slots.table as usize];
        let own = self
            .build
            .ins()
            .iadd_imm(self.context, context::FOUND as i64);
        let words = self.pack(key, slots);
        if !key.repeats {
            self.ask(site, &words);
            return own;
        }
        let [known, found] = [self.build.create_block(), self.build.create_block()];
        let place = self.build.append_block_param(found, types::I64);
        let asked = self.cold_block();
        let recent = self.recent(slots.table, &words);
        let differ = self.differs(recent, &words);
        self.branch(differ, asked, known);
        self.build.switch_to_block(asked);
        self.ask(site, &words);
        self.build.ins().jump(found, &[BlockArg::Value(own)]);
        self.build.switch_to_block(known);
        self.note(slots.table, key.note, recent);
        self.build.ins().jump(found, &[BlockArg::Value(recent)]);
        self.build.switch_to_block(found);
        place
    }

    /// Not 0 if the key stored behind a [`Found`] is a different one.
    fn differs(&mut self, found: Value, key: &[Value]) -> Value {
        let held =
            |e: &mut Self, word: usize| e.load_place(found, (size_of::<Found>() + 8 * word) as i32);
        if let &[word] = key {
            let held = held(self, 0);
            return self.build.ins().icmp(IntCC::NotEqual, word, held);
        }
        let mut differ = self.number(0);
        for (at, &word) in key.iter().enumerate() {
            let held = held(self, at);
            let bits = self.build.ins().bxor(held, word);
            differ = self.build.ins().bor(differ, bits);
        }
        differ
    }

    /// The words of the key of a site.
    fn pack(&mut self, key: &Key, site: &ApplySite) -> Vec<Value> {
        let mut words = vec![None; key.words];
        for part in &key.fields {
            let first = site.keys[part.index as usize];
            for (word, slot) in (part.word..).zip(first..first + part.limbs) {
                let value = self.load(slot);
                let value = self.up(value, part.shift.into());
                words[word] = Some(match words[word] {
                    Some(before) => self.build.ins().bor(before, value),
                    None => value,
                });
            }
        }
        let words = words.into_iter();
        words
            .map(|word| word.unwrap_or_else(|| self.number(0)))
            .collect()
    }

    /// Performs the side effects of a look-up. `found` is its result.
    fn note(&mut self, table: u32, note: Note, found: Value) {
        if note == Note::Nothing {
            return;
        }
        let noted = self.load_place(found, offset_of!(Found, noted) as i32);
        let Note::Counted(counted) = note else {
            let table = self.build.ins().iconst(types::I32, i64::from(table));
            let noted = self.build.ins().ireduce(types::I32, noted);
            let arguments = [self.context, table, noted];
            let call = self.build.ins().call(self.callbacks.note, &arguments);
            let next = self.build.inst_results(call)[0];
            self.leave_if(next, self.end);
            return;
        };
        let at = self.program.source.noted;
        let now = self.fixed_field(context::NOW);
        self.store_place(noted, at.last_hit as i32, now);
        let Some(counted) = counted else { return };
        if counted.packets {
            let packets = self.load_place(noted, at.packets as i32);
            let packets = self.build.ins().iadd_imm(packets, 1);
            self.store_place(noted, at.packets as i32, packets);
        }
        if counted.octets {
            let length = self.fixed_field(context::LENGTH);
            let octets = self.load_place(noted, at.octets as i32);
            let octets = self.build.ins().iadd(octets, length);
            self.store_place(noted, at.octets as i32, octets);
        }
    }

    /// Calls the interpreter to look up a key.
    fn ask(&mut self, site: u32, key: &[Value]) {
        let slot = self.key_slot(key.len());
        for (&word, at) in key.iter().zip((0..).step_by(8)) {
            self.build.ins().stack_store(word, slot, at);
        }
        let site = self.build.ins().iconst(types::I32, i64::from(site));
        let place = self.build.ins().stack_addr(types::I64, slot, 0);
        let len = self.build.ins().iconst(types::I32, key.len() as i64);
        let arguments = [self.context, site, place, len];
        let call = self.build.ins().call(self.callbacks.find, &arguments);
        let next = self.build.inst_results(call)[0];
        self.leave_if(next, self.end);
    }

    /// The stack slot for a key of the given number of words. All keys of a function share it.
    fn key_slot(&mut self, words: usize) -> StackSlot {
        let octets = words as u32 * 8;
        let slots = &mut self.build.func.sized_stack_slots;
        if let Some(slot) = self.key {
            slots[slot].size = slots[slot].size.max(octets);
            return slot;
        }
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, octets, 3);
        *self.key.insert(self.build.create_sized_stack_slot(data))
    }

    /// The address of a key's place in the cache of recent look-ups of a table.
    fn recent(&mut self, table: u32, key: &[Value]) -> Value {
        let tables = self.fixed_field(context::RECENT);
        let first = self.load_fixed(tables, table as i32 * size_of::<usize>() as i32);
        let mut mixed = key[0];
        for &word in &key[1..] {
            let turned = self.build.ins().rotl_imm(mixed, i64::from(TURN));
            mixed = self.build.ins().bxor(turned, word);
        }
        let spread = self.number(SPREAD);
        let spread = self.build.ins().imul(mixed, spread);
        let place = self.down(spread, (64 - PLACES_BITS).into());
        let octets = place_words(key.len()) as i64 * 8;
        let offset = self.build.ins().imul_imm(place, octets);
        self.build.ins().iadd(first, offset)
    }

    /// Stores the data of an action, and executes the copies at the start of its body. `found` is the result of the
    /// look-up; `index` is the index of the action in the table.
    pub fn begin_action(
        &mut self,
        found: Value,
        site: &ApplySite,
        index: u64,
        action: &ActionCode,
    ) {
        if site.action_run != NONE {
            let index = self.number(index);
            self.store(site.action_run, index);
        }
        if !action.data.is_empty() {
            let args = self.load_place(found, offset_of!(Found, args) as i32);
            for (word, &slot) in (0..).step_by(8).zip(&action.data) {
                let value = self.load_place(args, word);
                self.store(slot, value);
            }
        }
        for &(d, a) in &action.moves {
            let value = self.load(a);
            self.store(d, value);
        }
    }

    /// Calls an extern, which may end the block.
    pub fn call(&mut self, call: u32) {
        let next = self.callback(self.callbacks.call, types::I32, call.into());
        let end = self.end;
        self.leave_if(next, end);
    }

    /// Rejects the packet if the condition is not 0.
    pub fn reject_if(&mut self, condition: Value, error: u64) {
        let rejected = self.cold_block();
        let on = self.build.create_block();
        self.branch(condition, rejected, on);
        self.build.switch_to_block(rejected);
        self.callback(self.callbacks.reject, types::I64, error);
        self.jump(self.end);
        self.build.switch_to_block(on);
    }

    /// Compiles instruction `at`: `common` emits the common case, and the interpreter, which may end the block,
    /// executes the rare case. The case is rare if one of `rare` is not 0.
    pub fn unless(&mut self, rare: &[Value], at: Target, common: impl FnOnce(&mut Self)) {
        let [interpreted, after] = [self.cold_block(), self.build.create_block()];
        for &rare in rare {
            self.leave_if(rare, interpreted);
        }
        common(self);
        self.jump(after);
        self.build.switch_to_block(interpreted);
        self.step_or_end(at);
        self.jump(after);
        self.build.switch_to_block(after);
    }

    /// Branches to `to` if the packet is dropped regardless of the program.
    pub fn leave_if_aborted(&mut self, to: Block) {
        let call = self
            .build
            .ins()
            .call(self.callbacks.aborted, &[self.context]);
        let aborted = self.build.inst_results(call)[0];
        self.leave_if(aborted, to);
    }

    /// Stores a result of a block in metadata.
    pub fn report(&mut self, reported: Reported, to: MetaField) {
        if to.slot == NONE {
            return;
        }
        let value = match reported {
            Reported::ParserError => {
                let place = self.fixed_field(context::ERROR);
                self.load_place(place, 0)
            }
            Reported::ChecksumError => {
                let place = self.fixed_field(context::CHECKSUM_ERROR);
                let bit = self.build.ins().load(types::I8, places(), place, 0);
                self.build.ins().uextend(types::I64, bit)
            }
        };
        let mask = self.number(to.mask);
        let value = self.build.ins().band(value, mask);
        self.store(to.slot, value);
    }

    /// The number of parsed bits, and its address.
    pub fn cursor(&mut self) -> (Value, Value) {
        let place = self.fixed_field(context::CURSOR);
        (self.load_place(place, 0), place)
    }
}
