//! Groups of nodes that stay together, and their division into parts of about equal load.

use std::collections::VecDeque;

/// Groups of nodes that stay together (a disjoint-set forest).
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    /// For each node, another node of the same piece, or itself for the representative.
    above: Vec<usize>,
}

impl Pieces {
    /// Puts each node into its own piece.
    pub fn new(nodes: usize) -> Self {
        Pieces {
            above: (0..nodes).collect(),
        }
    }

    /// The representative of a node's piece.
    fn of(&self, mut node: usize) -> usize {
        while self.above[node] != node {
            node = self.above[node];
        }
        node
    }

    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.above[a.max(b)] = a.min(b);
    }

    pub fn count(&self) -> usize {
        let nodes = self.above.iter().enumerate();
        nodes.filter(|(node, above)| node == *above).count()
    }

    /// The part of each node. There are up to `parts` parts of about equal load, each of neighbouring pieces.
    pub fn cut(&self, links: &[[usize; 2]], load: &[f64], parts: usize) -> Vec<u32> {
        let piece: Vec<usize> = (0..load.len()).map(|node| self.of(node)).collect();
        let mut neighbours = vec![Vec::new(); load.len()];
        for &[a, b] in links {
            neighbours[piece[a]].push(piece[b]);
            neighbours[piece[b]].push(piece[a]);
        }
        let mut loads = vec![0.0; load.len()];
        for (node, load) in load.iter().enumerate() {
            loads[piece[node]] += load;
        }
        let total: f64 = loads.iter().sum();
        let left = self.count();
        let mut seen = vec![false; load.len()];
        let mut part = vec![0; load.len()];
        let (mut before, mut present, mut pieces) = (0.0, 0, 0);
        for &start in &piece {
            let mut queue = VecDeque::from([start]);
            while let Some(next) = queue.pop_front() {
                if std::mem::replace(&mut seen[next], true) {
                    continue;
                }
                // The middle of a piece decides, and each part has at least one piece.
                let middle = before + loads[next] / 2.0;
                let due = (middle / total * parts as f64) as usize;
                let latest = parts.saturating_sub(left - pieces);
                if pieces > 0 && (due > present || latest > present) && present + 1 < parts {
                    present += 1;
                }
                part[next] = present;
                before += loads[next];
                pieces += 1;
                queue.extend(&neighbours[next]);
            }
        }
        piece.into_iter().map(|piece| part[piece] as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_cut_into_parts_of_the_same_load() {
        let links = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]];
        let pieces = Pieces::new(6);
        assert_eq!(pieces.cut(&links, &[1.0; 6], 2), [0, 0, 0, 1, 1, 1]);
        assert_eq!(pieces.cut(&links, &[1.0; 6], 3), [0, 0, 1, 1, 2, 2]);
        let uneven = [5.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(pieces.cut(&links, &uneven, 2), [0, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn what_is_joined_stays_together() {
        let mut pieces = Pieces::new(4);
        pieces.join(3, 0);
        assert_eq!(pieces.count(), 3);
        let part = pieces.cut(&[[0, 1], [1, 2], [2, 3]], &[1.0; 4], 4);
        assert_eq!(part[0], part[3]);
        assert_eq!(part.iter().max(), Some(&2));
    }
}
