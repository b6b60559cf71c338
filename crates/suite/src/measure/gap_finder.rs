//! Finds gaps between reads of the counter in a loop. Whatever takes the CPU away from the loop
//! leaves one: an interrupt to the secure world, a hypervisor, or an emulator that runs other CPUs.

use super::tally::Gap;

/// How many loops show how long the loop itself takes.
const TRIAL_LOOPS: u32 = 256;

/// Finds gaps that are longer than twice the loop's own time.
#[derive(Clone, Copy, Debug)]
pub struct GapFinder {
    /// The shortest time from one read to the next, in ticks.
    pub shortest: u64,
    /// Ticks from one read to the next above which there is a gap.
    threshold: u64,
    previous: u64,
}

impl GapFinder {
    /// Reads the counter in a loop to find out how long the loop takes.
    pub fn new(mut now: impl FnMut() -> u64) -> Self {
        let mut previous = now();
        let mut shortest = u64::MAX;
        for _ in 0..TRIAL_LOOPS {
            let instant = now();
            shortest = shortest.min(instant.saturating_sub(previous));
            previous = instant;
        }
        Self {
            shortest,
            // A slow counter may not advance within a loop, or by one tick.
            threshold: (2 * shortest).max(2),
            previous: now(),
        }
    }

    /// Reads the counter in a loop until `end`. Calls `note` with each gap, which the next loop does
    /// not include.
    pub fn read_until(
        &mut self,
        end: u64,
        mut now: impl FnMut() -> u64,
        mut note: impl FnMut(Gap),
    ) {
        while self.previous < end {
            let instant = now();
            let length = instant.saturating_sub(self.previous);
            if length > self.threshold {
                note(Gap {
                    begin: self.previous,
                    length,
                });
                self.previous = now();
            } else {
                self.previous = instant;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Returns the gaps found by reads `step` ticks apart, of which one takes 7 ticks more, and
    /// another one 8 more.
    fn find(step: u64) -> Vec<Gap> {
        let (mut instant, mut reads) = (1_000, 0);
        let mut now = || {
            reads += 1;
            instant += step
                + match reads {
                    400 => 7,
                    500 => 8,
                    _ => 0,
                };
            instant
        };
        let mut finder = GapFinder::new(&mut now);
        assert_eq!(finder.shortest, step);
        let mut gaps = Vec::new();
        finder.read_until(1_000 + 600 * step, &mut now, |gap| gaps.push(gap));
        gaps
    }

    #[test]
    fn only_a_read_later_than_twice_the_loop_is_a_gap() {
        let gap = |begin, length| Gap { begin, length };
        assert_eq!(find(7), [gap(1_000 + 7 * 499 + 7, 15)]);
        assert_eq!(find(8), []);
        assert_eq!(find(1), [gap(1_399, 8), gap(1_506, 9)]);
        // The counter stands still.
        let mut finder = GapFinder::new(|| 5);
        finder.read_until(5, || 5, |gap| panic!("{gap:?}"));
        assert_eq!((finder.shortest, finder.threshold), (0, 2));
    }
}
