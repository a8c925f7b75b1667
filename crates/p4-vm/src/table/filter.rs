//! A filter that determines, from a few octets of a key, which of many groups may hold the key.

/// The number of octets of a key that are tested. Four are enough to separate masks with a few bits in each octet.
const OCTETS: usize = 4;

/// What the entries of a group have in common: for each word of the packed key, the bits in which they agree, and their
/// values.
pub type Agreed = [(u64, u64)];

/// For each value of some octets of the key, a bit set of the groups whose entries it may hit. Only groups that all
/// octets admit need a look-up.
#[derive(Debug)]
pub struct Filter {
    /// Word and shift of each octet.
    octets: [(usize, u32); OCTETS],
    /// A row for each value of each octet.
    rows: Vec<u64>,
    /// Words in a row.
    columns: usize,
}

impl Filter {
    /// Creates a filter for these groups, at least one, with room for as many again. It tests the octets in which the
    /// groups have the most bits that count. A key has at least one word.
    pub fn new<'a>(groups: impl ExactSizeIterator<Item = &'a Agreed> + Clone) -> Self {
        let words = groups.clone().map(<[_]>::len).max().unwrap_or(0);
        let mut places: Vec<_> = (0..words)
            .flat_map(|word| (0..64).step_by(8).map(move |shift| (word, shift)))
            .collect();
        let counting = |&(word, shift): &(usize, u32)| -> u32 {
            let bits = groups.clone().map(|agreed| agreed[word].0 >> shift & 0xff);
            bits.map(u64::count_ones).sum()
        };
        places.sort_by_cached_key(|place| std::cmp::Reverse(counting(place)));
        let columns = (2 * groups.len()).div_ceil(64).max(1);
        let mut filter = Filter {
            octets: std::array::from_fn(|i| places[i]),
            rows: vec![0; OCTETS * 256 * columns],
            columns,
        };
        for (group, agreed) in groups.enumerate() {
            filter.set(group, Some(agreed));
        }
        filter
    }

    /// How many groups it has room for.
    pub fn room(&self) -> usize {
        64 * self.columns
    }

    /// Sets what the entries of a group have in common. `None` means that the group is empty.
    pub fn set(&mut self, group: usize, agreed: Option<&Agreed>) {
        let (column, bit) = (group / 64, 1 << (group % 64));
        let rows = self.rows.chunks_exact_mut(256 * self.columns);
        for (rows, &(word, shift)) in rows.zip(&self.octets) {
            let octet = agreed.map(|agreed| (agreed[word].0 >> shift, agreed[word].1 >> shift));
            for (value, row) in (0..256).zip(rows.chunks_exact_mut(self.columns)) {
                let holds = octet.is_some_and(|(bits, agreed)| (value ^ agreed) & bits & 0xff == 0);
                row[column] = row[column] & !bit | if holds { bit } else { 0 };
            }
        }
    }

    /// Visits the groups that may hold a key.
    #[inline]
    pub fn candidates(&self, key: &[u64], mut visit: impl FnMut(usize)) {
        let row = |i: usize| {
            let (word, shift) = self.octets[i];
            let value = (key[word] >> shift & 0xff) as usize;
            &self.rows[(256 * i + value) * self.columns..][..self.columns]
        };
        let [a, b, c, d] = std::array::from_fn(row);
        let columns = a.iter().zip(b).zip(c.iter().zip(d));
        for (column, ((a, b), (c, d))) in columns.enumerate() {
            let mut bits = a & b & c & d;
            while bits != 0 {
                visit(64 * column + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}
