//! The history of a value, in constant space.

/// Recent values, at a minimum distance in time.
#[derive(Clone, Debug)]
pub(crate) struct History {
    points: [Point; Self::POINTS],
    /// Number of points in use.
    len: usize,
    /// The index of the next point.
    next: usize,
    /// Times that differ by at most this are considered equal.
    slack: f64,
}

/// A value, and its start time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) time: f64,
    pub(crate) value: f64,
}

impl History {
    const POINTS: usize = 64;

    pub(crate) fn new(slack: f64) -> Self {
        History {
            points: [Point::default(); Self::POINTS],
            len: 0,
            next: 0,
            slack,
        }
    }

    /// Removes all values.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Records the value from `time` on, unless the newest recorded point is less than `apart` before it.
    pub(crate) fn push(&mut self, time: f64, value: f64, apart: f64) {
        if self
            .back(0)
            .is_some_and(|newest| time < newest.time + apart - self.slack)
        {
            return;
        }
        self.points[self.next] = Point { time, value };
        self.next = (self.next + 1) % Self::POINTS;
        self.len = (self.len + 1).min(Self::POINTS);
    }

    /// The newest point that is not later than `time` and whose value is accepted, or else the oldest point.
    pub(crate) fn newest(&self, time: f64, accepts: impl Fn(f64) -> bool) -> Option<Point> {
        let past = (0..self.len)
            .filter_map(|back| self.back(back))
            .find(|point| point.time <= time + self.slack && accepts(point.value));
        past.or_else(|| self.back(self.len.checked_sub(1)?))
    }

    /// The oldest point that is later than `time`.
    pub(crate) fn after(&self, time: f64) -> Option<Point> {
        (0..self.len)
            .filter_map(|back| self.back(back))
            .take_while(|point| point.time > time + self.slack)
            .last()
    }

    /// The point that is `back` points before the newest.
    fn back(&self, back: usize) -> Option<Point> {
        (back < self.len).then(|| self.points[(self.next + Self::POINTS - 1 - back) % Self::POINTS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(history: &History, time: f64) -> Option<f64> {
        history.newest(time, |_| true).map(|point| point.value)
    }

    #[test]
    fn a_value_holds_until_the_next() {
        let mut history = History::new(0.0);
        assert_eq!(at(&history, 1.0), None);
        history.push(1.0, 10.0, 0.0);
        history.push(2.0, 20.0, 0.0);
        assert_eq!(
            [1.0, 1.9, 2.0, 9.0].map(|time| at(&history, time)),
            [10.0, 10.0, 20.0, 20.0].map(Some)
        );
    }

    #[test]
    fn before_its_first_point_it_has_that_one() {
        let mut history = History::new(0.0);
        history.push(1.0, 10.0, 0.0);
        assert_eq!(at(&history, 0.0), Some(10.0));
        history.clear();
        assert_eq!(at(&history, 0.0), None);
    }

    #[test]
    fn points_too_close_are_left_out_and_old_ones_are_forgotten() {
        let mut history = History::new(0.0);
        for tenth in 0..2000 {
            history.push(f64::from(tenth) / 10.0, f64::from(tenth), 1.0);
        }
        assert_eq!(at(&history, 199.9), Some(1990.0));
        assert_eq!(at(&history, 198.0), Some(1980.0));
        assert_eq!(at(&history, 0.0), Some(1360.0));
    }
}
