//! The lines from a switch, by port.

/// No line.
const NONE: u32 = u32::MAX;

/// The indices of the lines at the ports of a switch.
#[derive(Debug, Default)]
pub(crate) struct LinesOut {
    by_port: Vec<u32>,
}

impl LinesOut {
    /// The line at a port.
    #[inline]
    pub fn at(&self, port: u16) -> Option<usize> {
        let line = *self.by_port.get(usize::from(port))?;
        (line != NONE).then_some(line as usize)
    }

    /// Each port that has a line, in order, with its line.
    pub fn iter(&self) -> impl Iterator<Item = (u16, usize)> {
        let lines = (0..).zip(&self.by_port);
        lines.filter_map(|(port, &line)| (line != NONE).then_some((port, line as usize)))
    }
}

impl FromIterator<(u16, usize)> for LinesOut {
    fn from_iter<I: IntoIterator<Item = (u16, usize)>>(lines: I) -> Self {
        let mut by_port = Vec::new();
        for (port, line) in lines {
            let port = usize::from(port);
            by_port.resize(by_port.len().max(port + 1), NONE);
            by_port[port] = line as u32;
        }
        LinesOut { by_port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_without_a_line_have_none() {
        let lines: LinesOut = [(7, 1), (2, 0)].into_iter().collect();
        assert_eq!([2, 7].map(|port| lines.at(port)), [Some(0), Some(1)]);
        assert_eq!([0, 3, 8, 65_535].map(|port| lines.at(port)), [None; 4]);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [(2, 0), (7, 1)]);
    }
}
