//! Arithmetic on values wider than 64 bits: limbs in storage, least significant first.
//!
//! Operands are word offsets into one array `x`; the result may be an operand itself, never overlap
//! one in part. Every operation leaves the bits above the width zero, as p4-ir asks.

use num_bigint::BigUint;
use p4_ir::Scalar;

/// The widest value that programs may have, in limbs.
pub const MAX_LIMBS: usize = 64;
/// The widest value that programs may have, in bits.
pub const MAX_WIDTH: u32 = MAX_LIMBS as u32 * 64;
/// The widest `varbit`, in bits. Nothing computes with one, but it is compared with its length as one value of at most
/// 2^16 - 64 bits.
pub const MAX_VARBIT: u32 = (1 << 16) - 128;

/// Words that `width` bits take.
pub const fn limbs(width: u32) -> usize {
    width.div_ceil(64) as usize
}

/// Words that a value takes in storage, a `varbit`'s length included; none if it has no bits.
pub fn words_of_value(ty: Scalar) -> u32 {
    let limbs = ty.width().div_ceil(64);
    match ty {
        Scalar::Varbit(_) => 1 + limbs,
        _ => limbs,
    }
}

/// A number's limbs, cut or filled up to `words`.
pub fn limbs_of(value: &BigUint, words: u32) -> Vec<u64> {
    let mut limbs = value.to_u64_digits();
    limbs.resize(words as usize, 0);
    limbs
}

/// The bits of the last limb that a value of `width` bits uses.
const fn top_mask(width: u32) -> u64 {
    u64::MAX >> ((64 - width % 64) % 64)
}

fn trim(x: &mut [u64], d: usize, width: u32) {
    x[d + limbs(width) - 1] &= top_mask(width);
}

fn fill(x: &mut [u64], d: usize, width: u32, with: u64) {
    x[d..d + limbs(width)].fill(with);
    trim(x, d, width);
}

fn sign(x: &[u64], a: usize, width: u32) -> bool {
    bit(x, a, width - 1)
}

fn bit(x: &[u64], a: usize, at: u32) -> bool {
    x[a + (at / 64) as usize] >> (at % 64) & 1 == 1
}

/// d = a + b; returns the carry out of `width` bits.
#[inline(never)]
pub fn add(x: &mut [u64], d: usize, a: usize, b: usize, width: u32) -> bool {
    let mut carry = false;
    for i in 0..limbs(width) {
        let (s, c1) = x[a + i].overflowing_add(x[b + i]);
        let (s, c2) = s.overflowing_add(carry as u64);
        x[d + i] = s;
        carry = c1 | c2;
    }
    let over = x[d + limbs(width) - 1] & !top_mask(width) != 0;
    trim(x, d, width);
    carry || over
}

/// d = a − b; returns whether it borrowed.
#[inline(never)]
pub fn sub(x: &mut [u64], d: usize, a: usize, b: usize, width: u32) -> bool {
    let mut borrow = false;
    for i in 0..limbs(width) {
        let (s, c1) = x[a + i].overflowing_sub(x[b + i]);
        let (s, c2) = s.overflowing_sub(borrow as u64);
        x[d + i] = s;
        borrow = c1 | c2;
    }
    trim(x, d, width);
    borrow
}

/// d = a |+| b.
#[inline(never)]
pub fn sat_add(x: &mut [u64], d: usize, a: usize, b: usize, width: u32, signed: bool) {
    let (sa, sb) = (sign(x, a, width), sign(x, b, width));
    let carry = add(x, d, a, b, width);
    if !signed && carry {
        fill(x, d, width, u64::MAX);
    } else if signed && sa == sb && sign(x, d, width) != sa {
        extreme(x, d, width, sa);
    }
}

/// d = a |−| b.
#[inline(never)]
pub fn sat_sub(x: &mut [u64], d: usize, a: usize, b: usize, width: u32, signed: bool) {
    let (sa, sb) = (sign(x, a, width), sign(x, b, width));
    let borrow = sub(x, d, a, b, width);
    if !signed && borrow {
        fill(x, d, width, 0);
    } else if signed && sa != sb && sign(x, d, width) != sa {
        extreme(x, d, width, sa);
    }
}

/// The least or the greatest `int<width>`.
fn extreme(x: &mut [u64], d: usize, width: u32, least: bool) {
    fill(x, d, width, if least { 0 } else { u64::MAX });
    x[d + limbs(width) - 1] ^= 1 << ((width - 1) % 64);
}

/// d = a · b.
#[inline(never)]
pub fn mul(x: &mut [u64], d: usize, a: usize, b: usize, width: u32) {
    let n = limbs(width);
    let mut product = [0u64; MAX_LIMBS];
    for i in 0..n {
        let mut carry = 0u128;
        for j in 0..n - i {
            let sum = product[i + j] as u128 + x[a + i] as u128 * x[b + j] as u128 + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
    }
    x[d..d + n].copy_from_slice(&product[..n]);
    trim(x, d, width);
}

/// d = a ÷ b (`quotient`) or a mod b, unsigned; 0 where b is 0. One bit at a time: programs seldom divide.
#[inline(never)]
pub fn div_mod(x: &mut [u64], d: usize, a: usize, b: usize, width: u32, quotient: bool) {
    let n = limbs(width);
    let mut rest = [0u64; MAX_LIMBS + 1];
    let mut result = [0u64; MAX_LIMBS];
    if x[b..b + n].iter().all(|&limb| limb == 0) {
        x[d..d + n].fill(0);
        return;
    }
    for at in (0..width).rev() {
        for i in (1..=n).rev() {
            rest[i] = rest[i] << 1 | rest[i - 1] >> 63;
        }
        rest[0] = rest[0] << 1 | bit(x, a, at) as u64;
        let fits = rest[n] != 0
            || (0..n)
                .rev()
                .map(|i| rest[i].cmp(&x[b + i]))
                .find(|order| order.is_ne())
                .is_none_or(|order| order.is_gt());
        if fits {
            let mut borrow = false;
            for i in 0..n {
                let (s, c1) = rest[i].overflowing_sub(x[b + i]);
                let (s, c2) = s.overflowing_sub(borrow as u64);
                rest[i] = s;
                borrow = c1 | c2;
            }
            rest[n] = 0;
            result[(at / 64) as usize] |= 1 << (at % 64);
        }
    }
    let from = if quotient { &result[..n] } else { &rest[..n] };
    x[d..d + n].copy_from_slice(from);
}

/// d = −a.
#[inline(never)]
pub fn neg(x: &mut [u64], d: usize, a: usize, width: u32) {
    let mut carry = true;
    for i in 0..limbs(width) {
        let (s, c) = (!x[a + i]).overflowing_add(carry as u64);
        x[d + i] = s;
        carry = c;
    }
    trim(x, d, width);
}

/// d = ~a.
#[inline(never)]
pub fn not(x: &mut [u64], d: usize, a: usize, width: u32) {
    for i in 0..limbs(width) {
        x[d + i] = !x[a + i];
    }
    trim(x, d, width);
}

/// d = a « by.
#[inline(never)]
pub fn shl(x: &mut [u64], d: usize, a: usize, by: u64, width: u32) {
    let n = limbs(width);
    if by >= width as u64 {
        x[d..d + n].fill(0);
        return;
    }
    let (words, bits) = ((by / 64) as usize, by % 64);
    for i in (0..n).rev() {
        let high = if i >= words { x[a + i - words] } else { 0 };
        let low = if bits > 0 && i > words {
            x[a + i - words - 1]
        } else {
            0
        };
        x[d + i] = if bits == 0 {
            high
        } else {
            high << bits | low >> (64 - bits)
        };
    }
    trim(x, d, width);
}

/// d = a » by, the sign drawn in if `signed`.
#[inline(never)]
pub fn shr(x: &mut [u64], d: usize, a: usize, by: u64, width: u32, signed: bool) {
    let n = limbs(width);
    let negative = signed && sign(x, a, width);
    if by >= width as u64 {
        fill(x, d, width, if negative { u64::MAX } else { 0 });
        return;
    }
    let (words, bits) = ((by / 64) as usize, by % 64);
    for i in 0..n {
        let low = if i + words < n { x[a + i + words] } else { 0 };
        let high = if bits > 0 && i + words + 1 < n {
            x[a + i + words + 1]
        } else {
            0
        };
        x[d + i] = if bits == 0 {
            low
        } else {
            low >> bits | high << (64 - bits)
        };
    }
    if negative {
        set_from(x, d, width - by as u32, width);
    }
}

/// Sets bits `from..width`, of which there may be none.
fn set_from(x: &mut [u64], d: usize, from: u32, width: u32) {
    if from == width {
        return;
    }
    let first = (from / 64) as usize;
    x[d + first] |= u64::MAX << (from % 64);
    x[d + first + 1..d + limbs(width)].fill(u64::MAX);
    trim(x, d, width);
}

/// d = bits `lo..lo + width` of a.
#[inline(never)]
pub fn slice(x: &mut [u64], d: usize, a: usize, lo: u32, width: u32) {
    let words = (lo / 64) as usize;
    let bits = lo % 64;
    let last = ((lo + width - 1) / 64) as usize;
    for i in 0..limbs(width) {
        let low = x[a + words + i];
        let high = if bits > 0 && words + i < last {
            x[a + words + i + 1]
        } else {
            0
        };
        x[d + i] = if bits == 0 {
            low
        } else {
            low >> bits | high << (64 - bits)
        };
    }
    trim(x, d, width);
}

/// Bits `lo..lo + width` of d = a.
#[inline(never)]
pub fn insert(x: &mut [u64], d: usize, a: usize, lo: u32, width: u32) {
    let mut done = 0;
    while done < width {
        let at = lo + done;
        let count = (64 - at % 64).min(64 - done % 64).min(width - done);
        let mask = u64::MAX >> (64 - count);
        let piece = x[a + (done / 64) as usize] >> (done % 64) & mask;
        let word = &mut x[d + (at / 64) as usize];
        *word = *word & !(mask << (at % 64)) | piece << (at % 64);
        done += count;
    }
}

/// d = a of `from` bits, extended by its sign or by zeros, or truncated, to `to` bits.
#[inline(never)]
pub fn resize(x: &mut [u64], d: usize, a: usize, from: u32, to: u32, signed: bool) {
    let negative = signed && to > from && sign(x, a, from);
    let (source, target) = (limbs(from), limbs(to));
    for i in 0..target {
        x[d + i] = if i < source { x[a + i] } else { 0 };
    }
    if negative {
        set_from(x, d, from, to);
    }
    trim(x, d, to);
}

/// a < b.
#[inline(never)]
pub fn less(x: &[u64], a: usize, b: usize, width: u32, signed: bool) -> bool {
    if signed && sign(x, a, width) != sign(x, b, width) {
        return sign(x, a, width);
    }
    (0..limbs(width))
        .rev()
        .map(|i| x[a + i].cmp(&x[b + i]))
        .find(|order| order.is_ne())
        .is_some_and(|order| order.is_lt())
}

/// a = b.
#[inline(never)]
pub fn equal(x: &[u64], a: usize, b: usize, width: u32) -> bool {
    x[a..a + limbs(width)] == x[b..b + limbs(width)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::{BigInt, BigUint};
    use proptest::prelude::*;

    fn put(x: &mut [u64], at: usize, v: &BigUint) {
        for (i, limb) in v.iter_u64_digits().enumerate() {
            x[at + i] = limb;
        }
    }

    fn get(x: &[u64], at: usize, width: u32) -> BigUint {
        let bytes: Vec<u8> = x[at..at + limbs(width)]
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        BigUint::from_bytes_le(&bytes)
    }

    fn modulus(width: u32) -> BigUint {
        BigUint::from(1u8) << width
    }

    fn as_signed(v: &BigUint, width: u32) -> BigInt {
        if v.bit(width as u64 - 1) {
            BigInt::from(v.clone()) - BigInt::from(modulus(width))
        } else {
            BigInt::from(v.clone())
        }
    }

    fn wrap(v: BigInt, width: u32) -> BigUint {
        let m = BigInt::from(modulus(width));
        (((v % &m) + &m) % &m).to_biguint().unwrap()
    }

    fn clamp(v: BigInt, width: u32, signed: bool) -> BigUint {
        let (low, high) = if signed {
            let half = BigInt::from(modulus(width - 1));
            (-half.clone(), half - 1)
        } else {
            (BigInt::from(0), BigInt::from(modulus(width)) - 1)
        };
        wrap(v.clamp(low, high), width)
    }

    /// Most limbs of a value under test, and words before each operand.
    const MOST: usize = 32;

    /// Values with runs of zeros and ones, so that carries go far.
    fn value() -> impl Strategy<Value = BigUint> {
        prop::collection::vec(
            prop_oneof![Just(0u32), Just(u32::MAX), any::<u32>()],
            2 * MOST,
        )
        .prop_map(BigUint::new)
    }

    /// 1 to 2048, every other one a limb's end or next to it.
    fn width() -> impl Strategy<Value = u32> {
        let most = 64 * MOST as u32;
        prop_oneof![1..=most, limb_ends(most)]
    }

    /// Numbers from 1 to `most` at the end of a limb or next to it.
    fn limb_ends(most: u32) -> impl Strategy<Value = u32> {
        (0..=most / 64, 0u32..3)
            .prop_map(move |(limbs, near)| (64 * limbs + near).clamp(2, most + 1) - 1)
    }

    /// Zero, any amount, or one near a limb's end.
    fn amount() -> impl Strategy<Value = u64> {
        prop_oneof![
            Just(0),
            0..2100u64,
            limb_ends(2112).prop_map(u64::from),
            any::<u64>()
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_big_integers(
            width in width(), a in value(), b in value(), by in amount(), signed: bool, same: bool,
        ) {
            let m = modulus(width);
            let (a, b) = (a % &m, b % &m);
            let (sa, sb) = (as_signed(&a, width), as_signed(&b, width));
            let (ia, ib) = if signed { (sa, sb) } else { (a.clone().into(), b.clone().into()) };
            // `same`: the result is written over the left operand.
            let d = if same { MOST } else { 0 };
            let (at_a, at_b) = (MOST, 2 * MOST);
            let run = |f: &dyn Fn(&mut [u64])| {
                let mut x = [0u64; 3 * MOST];
                put(&mut x, at_a, &a);
                put(&mut x, at_b, &b);
                f(&mut x);
                get(&x, d, width)
            };
            prop_assert_eq!(run(&|x| { add(x, d, at_a, at_b, width); }), wrap(&ia + &ib, width));
            prop_assert_eq!(run(&|x| { sub(x, d, at_a, at_b, width); }), wrap(&ia - &ib, width));
            prop_assert_eq!(run(&|x| mul(x, d, at_a, at_b, width)), wrap(&ia * &ib, width));
            prop_assert_eq!(run(&|x| neg(x, d, at_a, width)), wrap(-&ia, width));
            prop_assert_eq!(run(&|x| not(x, d, at_a, width)), &m - 1u8 - &a);
            prop_assert_eq!(run(&|x| sat_add(x, d, at_a, at_b, width, signed)), clamp(&ia + &ib, width, signed));
            prop_assert_eq!(run(&|x| sat_sub(x, d, at_a, at_b, width, signed)), clamp(&ia - &ib, width, signed));
            let shift = by.min(width as u64);
            prop_assert_eq!(run(&|x| shl(x, d, at_a, by, width)), (&a << shift) % &m);
            prop_assert_eq!(run(&|x| shr(x, d, at_a, by, width, signed)), wrap(&ia >> shift, width));
            let zero = BigUint::default();
            let (q, r) = if b == zero { (zero.clone(), zero) } else { (&a / &b, &a % &b) };
            prop_assert_eq!(run(&|x| div_mod(x, d, at_a, at_b, width, true)), q);
            prop_assert_eq!(run(&|x| div_mod(x, d, at_a, at_b, width, false)), r);
            let mut x = [0u64; 3 * MOST];
            put(&mut x, at_a, &a);
            put(&mut x, at_b, &b);
            prop_assert_eq!(less(&x, at_a, at_b, width, signed), ia < ib);
            prop_assert_eq!(equal(&x, at_a, at_b, width), a == b);
        }

        #[test]
        fn parts_agree_with_big_integers(
            width in width(), a in value(), b in value(), to in width(), cut in 0u32..2048, part in width(),
            signed: bool,
        ) {
            let m = modulus(width);
            let a = a % &m;
            let lo = cut % width;
            let part = part.min(width - lo);
            let mut x = [0u64; 3 * MOST];
            put(&mut x, MOST, &a);
            slice(&mut x, 0, MOST, lo, part);
            prop_assert_eq!(get(&x, 0, part), (&a >> lo) % modulus(part));
            let b = b % modulus(part);
            put(&mut x, 2 * MOST, &b);
            insert(&mut x, MOST, 2 * MOST, lo, part);
            let old = ((&a >> lo) % modulus(part)) << lo;
            prop_assert_eq!(get(&x, MOST, width), &a - old + (&b << lo));

            let mut x = [0u64; 3 * MOST];
            put(&mut x, MOST, &a);
            resize(&mut x, 0, MOST, width, to, signed);
            let ia = if signed { as_signed(&a, width) } else { a.into() };
            prop_assert_eq!(get(&x, 0, to), wrap(ia, to));
        }
    }

    #[test]
    fn a_negative_number_shifted_by_nothing_stays() {
        for width in [65, 128, 192, 2048] {
            let least = modulus(width - 1);
            let mut x = [0; 2 * MOST];
            put(&mut x, MOST, &least);
            shr(&mut x, 0, MOST, 0, width, true);
            assert_eq!(get(&x, 0, width), least, "int<{width}>");
        }
    }
}
