//! Hardware generations.

/// A generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    #[default]
    Tofino1,
    Tofino2,
}

impl Generation {
    /// Octets of port metadata behind the ingress metadata.
    pub fn port_metadata(self) -> usize {
        match self {
            Generation::Tofino1 => 8,
            Generation::Tofino2 => 24,
        }
    }

    /// Octets of data that a resubmitted packet may carry in their place.
    pub fn resubmit_data(self) -> usize {
        match self {
            Generation::Tofino1 => 8,
            Generation::Tofino2 => 16,
        }
    }

    /// The pipeline that serves each of the four pipes if a program has `count` pipelines. One serves all; two serve
    /// pipes alternately (Tofino 1) or in pairs (Tofino 2).
    pub fn serves(self, count: usize) -> [usize; 4] {
        match (count, self) {
            (2, Generation::Tofino1) => [0, 1, 0, 1],
            (2, Generation::Tofino2) => [0, 0, 1, 1],
            _ => [0, 1, 2, 3].map(|pipe| if pipe < count { pipe } else { 0 }),
        }
    }

    /// The first recirculation port of a pipe.
    pub fn recirculation_port(self) -> u64 {
        match self {
            Generation::Tofino1 => 68,
            Generation::Tofino2 => 6,
        }
    }

    /// Width of the number of an application of the packet generator, in bits.
    pub fn generator_app_bits(self) -> u32 {
        match self {
            Generation::Tofino1 => 3,
            Generation::Tofino2 => 4,
        }
    }

    /// Number of applications of a pipe's packet generator.
    pub fn generator_apps(self) -> u8 {
        1 << self.generator_app_bits()
    }

    /// Octets per cell of the packet buffer.
    pub fn cell_octets(self) -> u32 {
        match self {
            Generation::Tofino1 => 80,
            Generation::Tofino2 => 176,
        }
    }
}
