//! A CPU's phases between a sample's instants, for timelines.

use hardware::spec::pmf::Stamp::{
    EnterCflush, EnterHwLowPwr, EnterPsci, ExitCflush, ExitHwLowPwr, ExitPsci,
};
use itertools::Itertools as _;
use suite::measure::Instant::{self, After, Before, Due, Entered, SeenOff, Stamp, TurnedOn};
use suite::measure::Instants;
use suite::model::{Cell, Scenario};

/// A CPU's state between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPhase {
    /// The name in the legend.
    pub name: &'static str,
    /// The CSS class.
    pub class: &'static str,
    /// Whether the phase comes before, during or after low power.
    pub side: PowerSide,
    /// The pairs of instants between which the phase can lie.
    ends: &'static [(Instant, Instant)],
}

/// Whether a phase comes before, during or after low power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerSide {
    /// Before low power.
    Down,
    /// In low power.
    Between,
    /// After low power.
    Up,
}

const fn phase(
    name: &'static str,
    class: &'static str,
    side: PowerSide,
    ends: &'static [(Instant, Instant)],
) -> CpuPhase {
    CpuPhase {
        name,
        class,
        side,
        ends,
    }
}

const ENTER: Instant = Stamp(EnterPsci);
const FLUSH: Instant = Stamp(EnterCflush);
const FLUSHED: Instant = Stamp(ExitCflush);
const DOWN: Instant = Stamp(EnterHwLowPwr);
const UP: Instant = Stamp(ExitHwLowPwr);
const EXIT: Instant = Stamp(ExitPsci);

/// All phases, in legend order.
pub const PHASES: [CpuPhase; 13] = [
    phase("call", "p-call", PowerSide::Down, &[(Before, ENTER)]),
    // From entry to the flush, or to low power if there is no flush. CPUs queue for firmware locks
    // in this phase.
    phase(
        "entry",
        "p-entry",
        PowerSide::Down,
        &[(ENTER, FLUSH), (ENTER, DOWN)],
    ),
    phase(
        "cache flush",
        "p-flush",
        PowerSide::Down,
        &[(FLUSH, FLUSHED)],
    ),
    phase(
        "to low power",
        "p-descent",
        PowerSide::Down,
        &[(FLUSHED, DOWN)],
    ),
    phase("low power", "p-low", PowerSide::Between, &[(DOWN, UP)]),
    phase("wake-up", "p-wake", PowerSide::Up, &[(UP, EXIT)]),
    phase("return", "p-call", PowerSide::Up, &[(EXIT, After)]),
    // A call that returns without entering low power.
    phase("PSCI", "p-entry", PowerSide::Down, &[(ENTER, EXIT)]),
    phase(
        "call and return",
        "p-call",
        PowerSide::Down,
        &[(Before, After)],
    ),
    phase(UNTIL_DUE, "p-low", PowerSide::Between, &[(Before, Due)]),
    phase("wake", "p-wake", PowerSide::Up, &[(Due, After)]),
    phase(
        "turn off",
        "p-descent",
        PowerSide::Down,
        &[(Before, SeenOff)],
    ),
    phase("turn on", "p-wake", PowerSide::Up, &[(TurnedOn, Entered)]),
];

const UNTIL_DUE: &str = "until the wake-up is due";

/// One phase of a sample, in ticks from [`Instants::base`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The phase.
    pub phase: CpuPhase,
    /// Its start.
    pub from: i64,
    /// Its end.
    pub to: i64,
}

/// Returns a sample's phases in chronological order.
pub fn slices(instants: &Instants) -> Vec<Slice> {
    let is_on_path = |instant: &Instant| {
        matches!(instant, Before | Stamp(_) | After) && instants.at(*instant).is_some()
    };
    let path: Vec<Instant> = Instant::ALL.into_iter().filter(is_on_path).collect();
    let has_stamps = path.iter().any(|instant| matches!(instant, Stamp(_)));
    let pairs = if has_stamps {
        path.into_iter().tuple_windows().collect()
    } else if instants.at(Due).is_some() {
        vec![(Before, Due), (Due, After)]
    } else if instants.span(Before, TurnedOn).is_some() {
        // CPU_ON is the last phase only after CPU_OFF. Otherwise, the CPU is turned on before the
        // call.
        vec![(Before, SeenOff), (TurnedOn, Entered)]
    } else {
        vec![(Before, After)]
    };
    let slices = pairs
        .into_iter()
        .filter_map(|(first_instant, last_instant)| {
            // There is no phase between two instants if an instant between them was lost.
            let phase = phase_between(first_instant, last_instant)?;
            let from = instants.at(first_instant)?;
            let to = instants.at(last_instant)?;
            (from <= to).then_some(Slice { phase, from, to })
        });
    slices.collect()
}

/// Returns the phase between two instants; None if no phase has these ends.
pub fn phase_between(from: Instant, to: Instant) -> Option<CpuPhase> {
    PHASES
        .into_iter()
        .find(|phase| phase.ends.contains(&(from, to)))
}

/// A cell's instants on its group's time axis.
#[derive(Clone, Copy, Debug)]
pub struct PlacedCell<'r> {
    /// The cell.
    pub cell: &'r Cell,
    /// Its instants.
    pub instants: &'r Instants,
    /// The number of ticks from the group's smallest base to the cell's base.
    pub shift: i64,
}

/// Returns the cells that have instants, grouped by time axis. The cells of a parallel scenario
/// share one axis, because their counter values are comparable. In other scenarios, each cell
/// has its own axis, and the groups are in chronological order.
pub fn groups(scenario: &Scenario) -> Vec<Vec<PlacedCell<'_>>> {
    let cells = scenario
        .suite_cells()
        .iter()
        .filter_map(|cell| Some((cell, cell.shown.as_ref()?)));
    if !scenario.id.is_parallel() {
        let separate = cells.map(|(cell, instants)| PlacedCell {
            cell,
            instants,
            shift: 0,
        });
        return separate
            .sorted_by_key(|placed_cell| placed_cell.instants.base)
            .map(|placed_cell| vec![placed_cell])
            .collect();
    }
    let bases = cells.clone().map(|(_, instants)| instants.base);
    let Some(first) = bases.min() else {
        return Vec::new();
    };
    let together = cells.map(|(cell, instants)| PlacedCell {
        cell,
        instants,
        shift: i64::try_from(instants.base - first).unwrap_or(i64::MAX),
    });
    vec![together.collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_the_ends_of_phases() {
        let all = [Before, ENTER, FLUSH, FLUSHED, DOWN, Due, UP, EXIT, After];
        let unflushed = [Before, ENTER, DOWN, Due, UP, EXIT, After];
        let names = "call, entry, cache flush, to low power, low power, wake-up, return";
        for (instants, expected) in [
            (&all[..], names),
            (&unflushed, "call, entry, low power, wake-up, return"),
            (&[Before, ENTER, FLUSHED, DOWN], "call, to low power"),
            (&[Before, ENTER, EXIT, After], "call, PSCI, return"),
            (&[UP, DOWN], ""),
            (&[], ""),
            (&[Before, Due, After], "until the wake-up is due, wake"),
            (&[Before, After], "call and return"),
            (&[Before, SeenOff, TurnedOn, Entered], "turn off, turn on"),
        ] {
            let mut sample = Instants::default();
            for (instant, ticks) in instants.iter().zip(0..) {
                sample.set(*instant, ticks);
            }
            let phases = slices(&sample)
                .iter()
                .map(|slice| slice.phase.name)
                .join(", ");
            assert_eq!(phases, expected, "{instants:?}");
        }
    }
}
