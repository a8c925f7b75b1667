//! Internet checksums (RFC 1071) of values in storage.
//!
//! As in the interpreter, the values are not concatenated: in a ones' complement sum of 16-bit words, a bit has the
//! same weight in each word.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4_vm::native::{ExternCode, SumGroup, SumLane};

/// The most values of a checksum that is compiled. The sum of this many values of [`SHORT`] bits cannot overflow 64
/// bits.
const MOST: usize = 1 << 12;

/// The most bits of a value, shifted to its position, that is added as a whole.
const SHORT: u32 = 48;

impl Emitter<'_, '_> {
    /// Compiles a call of an extern. Returns `false` if it does not update or verify a checksum.
    ///
    /// The interpreter computes all other checksums: those that are no Internet checksum of short values, or that have
    /// a `varbit` which is not empty. It is also called if the verification fails.
    pub fn checksum(&mut self, call: u32) -> bool {
        let ExternCode::Checksum {
            verify,
            condition,
            groups,
            sum: (sum, width),
            ..
        } = &self.program.source.code.externs[call as usize]
        else {
            return false;
        };
        let after = self.build.create_block();
        if self.program.constant(*condition) != Some(1) {
            let condition = self.load(*condition);
            let not = self.build.ins().icmp_imm(IntCC::Equal, condition, 0);
            self.leave_if(not, after);
        }
        let values =
            |groups: &[SumGroup]| groups.iter().map(|group| group.lanes.len()).sum::<usize>();
        let short = groups.as_deref().filter(|groups| values(groups) <= MOST);
        let Some(groups) = short.filter(|_| (1..=64).contains(width)) else {
            self.call(call);
            self.jump(after);
            self.build.switch_to_block(after);
            return true;
        };
        let interpreted = self.cold_block();
        let varbits = groups.iter().filter_map(|group| group.varbit);
        let lengths = varbits.map(|(length, _)| self.load(length));
        let lengths: Vec<_> = lengths.collect();
        if let Some(some) = lengths
            .into_iter()
            .reduce(|a, b| self.build.ins().bor(a, b))
        {
            self.leave_if(some, interpreted);
        }
        let computed = self.ones_complement(groups);
        let computed = self.cut(computed, (64 - width.min(&16)) as u8);
        if *verify {
            let held = self.load(*sum);
            let differs = self.build.ins().icmp(IntCC::NotEqual, computed, held);
            self.branch(differs, interpreted, after);
        } else {
            self.store(*sum, computed);
            self.jump(after);
        }
        self.build.switch_to_block(interpreted);
        self.call(call);
        self.jump(after);
        self.build.switch_to_block(after);
        true
    }

    /// The complement of the sum of the values of valid headers, in the low 16 bits.
    fn ones_complement(&mut self, groups: &[SumGroup]) -> Value {
        let total = self.build.declare_var(types::I64);
        let zero = self.number(0);
        self.build.def_var(total, zero);
        for group in groups.iter().filter(|group| !group.lanes.is_empty()) {
            let next = self.build.create_block();
            if group.valid != p4_vm::NONE {
                let valid = self.load(group.valid);
                let not = self.build.ins().icmp_imm(IntCC::Equal, valid, 0);
                self.leave_if(not, next);
            }
            let mut sum = self.build.use_var(total);
            for lane in &group.lanes {
                sum = self.add_lane(sum, lane);
            }
            self.build.def_var(total, sum);
            self.jump(next);
            self.build.switch_to_block(next);
        }
        let mut sum = self.build.use_var(total);
        let lanes = groups.iter().flat_map(|group| &group.lanes);
        let mut most = lanes.map(most_added).sum::<u64>();
        while most > 0xffff {
            let half: u32 = if most >> 48 > 0 { 32 } else { 16 };
            let high = self.down(sum, half.into());
            let low = self.cut(sum, (64 - half) as u8);
            sum = self.build.ins().iadd(high, low);
            let folded = (most >> half) + (u64::MAX >> (64 - half));
            // 0x10000 folds to 1, and smaller values do not change.
            most = if most == 0x10000 { 0xffff } else { folded };
        }
        self.build.ins().bnot(sum)
    }

    fn add_lane(&mut self, sum: Value, lane: &SumLane) -> Value {
        let value = self.load(lane.slot);
        if is_short(lane) {
            let value = self.up(value, lane.up.into());
            return self.build.ins().iadd(sum, value);
        }
        let value = self.build.ins().rotl_imm(value, i64::from(lane.up));
        let (high, low) = (self.down(value, 32), self.cut(value, 32));
        let sum = self.build.ins().iadd(sum, high);
        self.build.ins().iadd(sum, low)
    }
}

/// Whether a value is added as a whole.
fn is_short(lane: &SumLane) -> bool {
    u32::from(lane.width) + u32::from(lane.up) <= SHORT
}

/// The largest amount that a value adds to the sum.
fn most_added(lane: &SumLane) -> u64 {
    match is_short(lane) {
        true => ((1 << lane.width) - 1) << lane.up,
        false => 2 * u64::from(u32::MAX),
    }
}
