//! A vector that grows in chunks. Its elements are never moved, so packets do not wait for a reallocation.

use std::ops::{Index, IndexMut};

/// Elements of a chunk, as a power of two.
const BITS: u32 = 10;
const LEN: usize = 1 << BITS;

/// A vector of chunks of equal length. Only the first chunk is reallocated as it grows.
#[derive(Debug)]
pub struct Chunks<T>(Vec<Vec<T>>);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks(Vec::new())
    }
}

impl<T> Chunks<T> {
    pub fn len(&self) -> usize {
        let full = self.0.len().saturating_sub(1) * LEN;
        full + self.0.last().map_or(0, Vec::len)
    }

    pub fn push(&mut self, value: T) {
        match self.0.last_mut() {
            Some(chunk) if chunk.len() < LEN => chunk.push(value),
            last => {
                let room = last.map_or(0, |_| LEN);
                let mut chunk = Vec::with_capacity(room);
                chunk.push(value);
                self.0.push(chunk);
            }
        }
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: usize) -> &T {
        &self.0[at >> BITS][at & (LEN - 1)]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    #[inline(always)]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.0[at >> BITS][at & (LEN - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_are_beyond_the_first_chunk() {
        let mut chunks = Chunks::default();
        let mut places = Vec::new();
        for value in 0..5 * LEN + 7 {
            assert_eq!(chunks.len(), value);
            chunks.push(value);
            places.push(&raw const chunks[value]);
        }
        chunks[3 * LEN] = 1;
        for (at, place) in places.into_iter().enumerate() {
            assert_eq!(chunks[at], if at == 3 * LEN { 1 } else { at });
            assert!(at < LEN || place == &raw const chunks[at]);
        }
    }
}
