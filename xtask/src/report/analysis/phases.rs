//! The phases of a CPU between the instants of a sample, for time lines.

use itertools::Itertools as _;
use psci_bench::model::{Instant, Instants, Row, Scenario};
use psci_bench::spec::pmf::Stamp::{
    EnterCflush, EnterHwLowPwr, EnterPsci, ExitCflush, ExitHwLowPwr, ExitPsci,
};

/// The state of a CPU between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From the caller to the firmware's first timestamp.
    Call,
    /// From there to the flush, or to low power without one: CPUs queue for the
    /// firmware's locks here.
    Entry,
    Flush,
    /// From the flush to low power.
    Descent,
    /// Down, or waiting for an interrupt.
    LowPower,
    Wake,
    /// From there to the caller.
    Return,
    /// In the firmware, by a call that only returns.
    Firmware,
    /// The call, if only the caller's side is known.
    Called,
    /// From the call to the due wake-up, on the caller's side.
    Asleep,
    /// From the due wake-up to the caller.
    Resume,
    /// From CPU_OFF to the AFFINITY_INFO that returns OFF.
    TurnOff,
    /// From the lead's CPU_ON to the CPU's first instruction.
    TurnOn,
}

/// The side of low power on which a phase lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Down,
    Between,
    Up,
}

impl Phase {
    /// All phases and their names, in the order of legends.
    pub const ALL: [(Self, &str); 13] = [
        (Self::Call, "call"),
        (Self::Entry, "entry"),
        (Self::Flush, "cache flush"),
        (Self::Descent, "to low power"),
        (Self::LowPower, "low power"),
        (Self::Wake, "wake-up"),
        (Self::Return, "return"),
        (Self::Firmware, "PSCI"),
        (Self::Called, "call and return"),
        (Self::Asleep, "until the wake-up is due"),
        (Self::Resume, "wake"),
        (Self::TurnOff, "turn off"),
        (Self::TurnOn, "turn on"),
    ];

    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub const fn side(self) -> Side {
        match self {
            Self::LowPower | Self::Asleep => Side::Between,
            Self::Wake | Self::Return | Self::Resume | Self::TurnOn => Side::Up,
            _ => Side::Down,
        }
    }

    /// Returns the phase between two instants that follow each other; None if an
    /// instant between them was lost.
    const fn between(from: Instant, to: Instant) -> Option<Self> {
        use Instant::{After, Before, Due, Entered, SeenOff, Stamp, TurnedOn};
        Some(match (from, to) {
            (Before, Stamp(EnterPsci)) => Self::Call,
            (Stamp(EnterPsci), Stamp(EnterCflush | EnterHwLowPwr)) => Self::Entry,
            (Stamp(EnterPsci), Stamp(ExitPsci)) => Self::Firmware,
            (Stamp(EnterCflush), Stamp(ExitCflush)) => Self::Flush,
            (Stamp(ExitCflush), Stamp(EnterHwLowPwr)) => Self::Descent,
            (Stamp(EnterHwLowPwr), Stamp(ExitHwLowPwr)) => Self::LowPower,
            (Stamp(ExitHwLowPwr), Stamp(ExitPsci)) => Self::Wake,
            (Stamp(ExitPsci), After) => Self::Return,
            (Before, After) => Self::Called,
            (Before, Due) => Self::Asleep,
            (Due, After) => Self::Resume,
            (Before, SeenOff) => Self::TurnOff,
            (TurnedOn, Entered) => Self::TurnOn,
            _ => return None,
        })
    }
}

/// A phase of one sample, in ticks from [`Instants::base`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    pub phase: Phase,
    pub from: i64,
    pub to: i64,
}

/// Returns the phases of a sample in time's order.
pub fn slices(instants: &Instants) -> Vec<Slice> {
    use Instant::{After, Before, Due, Entered, SeenOff, Stamp, TurnedOn};
    let is_on_path =
        |it: &Instant| matches!(it, Before | Stamp(_) | After) && instants.at(*it).is_some();
    let path: Vec<Instant> = Instant::ALL.into_iter().filter(is_on_path).collect();
    let pairs = if path.iter().any(|it| matches!(it, Stamp(_))) {
        path.windows(2).map(|pair| (pair[0], pair[1])).collect()
    } else if instants.at(Due).is_some() {
        vec![(Before, Due), (Due, After)]
    } else if instants.span(Before, TurnedOn).is_some() {
        // Only CPU_OFF is followed by CPU_ON: otherwise the CPU is turned on before
        // the call.
        vec![(Before, SeenOff), (TurnedOn, Entered)]
    } else {
        vec![(Before, After)]
    };
    let slices = pairs.into_iter().filter_map(|(from, to)| {
        let phase = Phase::between(from, to)?;
        let (from, to) = (instants.at(from)?, instants.at(to)?);
        (from <= to).then_some(Slice { phase, from, to })
    });
    slices.collect()
}

/// A row's instants on the axis of its group.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'r> {
    pub row: &'r Row,
    pub instants: &'r Instants,
    /// Ticks from the least base of the group to the row's.
    pub shift: i64,
}

/// Returns the rows that have instants, by the axis on which they lie: those of a
/// parallel scenario on one, as their counter values are comparable; the others
/// each on its own, in the order of time.
pub fn groups(scenario: &Scenario) -> Vec<Vec<Placed<'_>>> {
    let rows = scenario.rows.iter();
    let rows = rows.filter_map(|row| Some((row, row.shown.as_ref()?)));
    let is_parallel = scenario.id.is_parallel();
    let first = rows.clone().map(|it| it.1.base).min();
    let first = first.filter(|_| is_parallel);
    let placed = rows.map(|(row, instants)| {
        let shift = instants.base - first.unwrap_or(instants.base);
        let shift = i64::try_from(shift).unwrap_or(i64::MAX);
        Placed {
            row,
            instants,
            shift,
        }
    });
    match is_parallel {
        true if first.is_none() => Vec::new(),
        true => vec![placed.collect()],
        false => {
            let sorted = placed.sorted_by_key(|it| it.instants.base);
            sorted.map(|it| vec![it]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_the_ends_of_phases() {
        use Instant::{After, Before, Due, Entered, SeenOff, Stamp, TurnedOn};
        let [enter, exit] = [Stamp(EnterPsci), Stamp(ExitPsci)];
        let [flush, flushed] = [Stamp(EnterCflush), Stamp(ExitCflush)];
        let [down, up] = [Stamp(EnterHwLowPwr), Stamp(ExitHwLowPwr)];
        let all = [Before, enter, flush, flushed, down, Due, up, exit, After];
        let unflushed = [Before, enter, down, Due, up, exit, After];
        let names = "call, entry, cache flush, to low power, low power, wake-up, return";
        for (instants, expected) in [
            (&all[..], names),
            (&unflushed, "call, entry, low power, wake-up, return"),
            (&[Before, enter, flushed, down], "call, to low power"),
            (&[Before, enter, exit, After], "call, PSCI, return"),
            (&[up, down], ""),
            (&[], ""),
            (&[Before, Due, After], "until the wake-up is due, wake"),
            (&[Before, After], "call and return"),
            (&[Before, SeenOff, TurnedOn, Entered], "turn off, turn on"),
        ] {
            let mut sample = Instants::default();
            for (instant, ticks) in instants.iter().zip(0..) {
                sample.set(*instant, ticks);
            }
            let phases = slices(&sample).iter().map(|it| it.phase.name()).join(", ");
            assert_eq!(phases, expected, "{instants:?}");
        }
    }
}
