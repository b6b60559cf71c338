//! The state that a suspend reached, based on the firmware's PSCI_STAT_COUNT and
//! PSCI_STAT_RESIDENCY statistics (PSCI, DEN0022, sections 5.22 and 5.21).
//!
//! Statistics for the requested state and all shallower states are read just before and after a
//! suspend. The suspend is not used as a sample, because reading the statistics warms the
//! firmware's caches. A state was reached if its count increased.

use serde::{Deserialize, Serialize};

/// The maximum number of states in a [`Ladder`]. A level can have several power-down states: with two
/// core power domains, for example, TF-A's platforms turn off one or both.
pub const RUNGS: usize = 6;

/// A power state whose statistics are read with PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rung {
    /// The `power_state` value. Zero is a valid value.
    pub state: u32,
    /// The power level, or None if neither the format nor the board specifies it.
    pub level: Option<u8>,
}

/// A requested state, preceded by the states at lower levels, shallowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ladder(pub [Option<Rung>; RUNGS]);

impl Ladder {
    /// Creates a ladder up to `asked`. `below` yields the shallower states, deepest first.
    pub fn new(asked: Rung, below: impl Iterator<Item = Rung>) -> Self {
        let mut ladder = Self::default();
        let entries = ladder.0.iter_mut().rev();
        for (entry, rung) in entries.zip(core::iter::once(asked).chain(below)) {
            *entry = Some(rung);
        }
        ladder
    }

    /// Returns true if there are no states with statistics.
    pub fn is_empty(&self) -> bool {
        self.rungs().next().is_none()
    }

    /// Returns the states with their indices.
    pub fn rungs(&self) -> impl Iterator<Item = (usize, Rung)> + '_ {
        let rungs = self.0.iter().enumerate();
        rungs.filter_map(|(index, rung)| Some((index, (*rung)?)))
    }

    /// Returns the state that should be reached if nothing above the `limit` power level can power
    /// down: the deepest one at the highest level that can. Returns None if the levels are unknown.
    pub fn due(&self, limit: Option<u8>) -> Option<u32> {
        let mut due = None;
        for (_, rung) in self.rungs() {
            match limit {
                Some(limit) if rung.level? > limit => {}
                _ => due = Some(rung.state),
            }
        }
        due
    }

    /// Returns true if both states are in the ladder and have the same level.
    fn are_at_one_level(&self, one: u32, other: u32) -> bool {
        let level = |state| {
            let mut rungs = self.rungs();
            rungs.find(|(_, rung)| rung.state == state)?.1.level
        };
        level(one).is_some_and(|level_of_one| level(other) == Some(level_of_one))
    }
}

/// The statistics for a ladder's states at one point in time, read by one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// PSCI_STAT_COUNT.
    pub counts: [u64; RUNGS],
    /// PSCI_STAT_RESIDENCY in microseconds.
    pub residencies: [u64; RUNGS],
}

/// The increase in the statistics during one suspend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rise {
    /// The increase in each state's count, capped at 255.
    pub counts: [u8; RUNGS],
    /// The residency increase, in microseconds, for the deepest state whose count increased.
    pub residency_us: u32,
}

impl Rise {
    /// Returns the increase from `before` to `after`.
    pub fn between(before: &Statistics, after: &Statistics) -> Self {
        let mut rise = Self::default();
        for index in 0..RUNGS {
            let count = after.counts[index].wrapping_sub(before.counts[index]);
            rise.counts[index] = u8::try_from(count).unwrap_or(u8::MAX);
            if count != 0 {
                let time = after.residencies[index].wrapping_sub(before.residencies[index]);
                rise.residency_us = u32::try_from(time).unwrap_or(u32::MAX);
            }
        }
        rise
    }
}

/// The state that a CPU reached and the state that it should have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// The deepest state whose count increased, if any.
    pub state: Option<u32>,
    /// The state that should have been reached, which is shallower than the requested state if
    /// another CPU keeps the cluster powered. If several states at its level are declared, any of
    /// them may be part of the requested state, so it is the one that was reached.
    pub due: u32,
    /// The increase in the reached state's count.
    pub times: u8,
    /// The increase in the reached state's residency, in microseconds.
    pub residency_us: u32,
    /// The upper limit for the residency, which is the duration of the call. None if the frequency
    /// is unknown.
    pub most_us: Option<u64>,
}

/// A mismatch between the expected state and the state that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The state is not the expected one.
    State,
    /// The count did not increase by one.
    Count,
    /// The residency did not increase, or increased by more than the duration of the call.
    Residency,
}

impl Reached {
    /// Determines which state in `ladder` was reached, based on `rise`.
    pub fn read(ladder: &Ladder, rise: &Rise, due: u32, most_us: Option<u64>) -> Self {
        let entered = ladder.rungs().filter(|(index, _)| rise.counts[*index] != 0);
        // The deepest state is last.
        let deepest = entered.last();
        let state = deepest.map(|(_, rung)| rung.state);
        let is_as_due = |state: &u32| ladder.are_at_one_level(*state, due);
        Self {
            state,
            due: state.filter(is_as_due).unwrap_or(due),
            times: deepest.map_or(0, |(index, _)| rise.counts[index]),
            residency_us: rise.residency_us,
            most_us,
        }
    }

    /// Returns the mismatch, if any.
    pub fn mismatch(&self) -> Option<Mismatch> {
        let too_long = |most_us: u64| u64::from(self.residency_us) > most_us.saturating_add(1);
        if self.state != Some(self.due) {
            Some(Mismatch::State)
        } else if self.times != 1 {
            Some(Mismatch::Count)
        } else if self.residency_us == 0 || self.most_us.is_some_and(too_long) {
            Some(Mismatch::Residency)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rung(state: u32, level: u8) -> Rung {
        Rung {
            state,
            level: Some(level),
        }
    }

    const CORE: Rung = rung(0x1_0002, 0);
    const CLUSTER: Rung = rung(0x101_0022, 1);
    const SYSTEM: Rung = rung(0x201_0222, 2);

    #[test]
    fn the_state_that_is_due_depends_on_the_cpus_that_are_awake() {
        let all = Ladder::new(SYSTEM, [CLUSTER, CORE].into_iter());
        let without_level = Rung {
            level: None,
            ..CLUSTER
        };
        let vague = Ladder::new(without_level, [CORE].into_iter());
        for (ladder, most, due) in [
            (&all, None, Some(SYSTEM)),
            (&all, Some(1), Some(CLUSTER)),
            (&all, Some(0), Some(CORE)),
            (&vague, Some(0), None),
            (&Ladder::default(), None, None),
        ] {
            assert_eq!(ladder.due(most), due.map(|rung| rung.state));
        }
        // If there are too many states, the ladder keeps the deepest ones.
        let shallow = [4, 3, 2, 1, 0, 9].map(|state| rung(state, 0));
        let long = Ladder::new(rung(5, 0), shallow.into_iter());
        assert_eq!(
            long.0.map(|rung| rung.map(|rung| rung.state)),
            [0, 1, 2, 3, 4, 5].map(Some)
        );
    }

    #[test]
    fn the_state_whose_count_rose_was_reached_if_the_residency_fits() {
        use Mismatch::{Count, Residency, State};
        let read = |counts, residencies| Statistics {
            counts,
            residencies,
        };
        let before = read([0, 0, 0, 0, 5, 2], [0, 0, 0, 0, 900, 400]);
        let after = read([0, 0, 0, 0, 6, 3], [0, 0, 0, 0, 1900, 1300]);
        let both = Rise::between(&before, &after);
        assert_eq!((both.counts, both.residency_us), ([0, 0, 0, 0, 1, 1], 900));
        let ladder = Ladder::new(CLUSTER, [CORE].into_iter());
        let core = CORE.state;
        let cluster = CLUSTER.state;
        let at_cluster = Some(cluster);
        let most = Some(1000);
        // Columns: core and cluster counts, the residency and its limit in microseconds, the
        // expected state, and the results.
        for (core_count, cluster_count, us, most, due, state, mismatch) in [
            (1, 1, 900, most, cluster, at_cluster, None),
            (1, 0, 900, most, cluster, Some(core), Some(State)),
            (1, 0, 900, most, core, Some(core), None),
            // Reaching a deeper state than expected is also a mismatch.
            (1, 1, 900, most, core, at_cluster, Some(State)),
            (0, 0, 0, most, core, None, Some(State)),
            (1, 1, 1001, most, cluster, at_cluster, None),
            (1, 2, 10, most, cluster, at_cluster, Some(Count)),
            (1, 1, 0, most, cluster, at_cluster, Some(Residency)),
            (1, 1, 1002, most, cluster, at_cluster, Some(Residency)),
            (1, 1, 5000, None, cluster, at_cluster, None),
        ] {
            let rise = Rise {
                counts: [0, 0, 0, 0, core_count, cluster_count],
                residency_us: us,
            };
            let found = Reached::read(&ladder, &rise, due, most);
            assert_eq!((found.state, found.mismatch()), (state, mismatch));
        }
    }

    /// If a core has two power-down states, firmware counts the one that the cluster's state
    /// includes.
    #[test]
    fn any_state_at_the_level_that_is_due_may_be_reached() {
        let one_off = rung(0x4000_0003, 0);
        let both_off = rung(0x4000_0004, 0);
        let cluster = rung(0x4000_0044, 1);
        let ladder = Ladder::new(cluster, [both_off, one_off].into_iter());
        let due = ladder.due(Some(0)).expect("levels");
        assert_eq!(due, both_off.state);
        for (counts, due, expected, mismatch) in [
            ([1, 0, 0], due, one_off, None),
            ([0, 1, 0], due, both_off, None),
            ([1, 0, 0], cluster.state, one_off, Some(Mismatch::State)),
            ([0, 1, 1], due, cluster, Some(Mismatch::State)),
        ] {
            let mut rise = Rise {
                residency_us: 10,
                ..Rise::default()
            };
            rise.counts[RUNGS - 3..].copy_from_slice(&counts);
            let found = Reached::read(&ladder, &rise, due, None);
            assert_eq!(
                (found.state, found.mismatch()),
                (Some(expected.state), mismatch)
            );
        }
    }
}
