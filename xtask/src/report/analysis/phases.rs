//! The phases of a CPU between the instants of a sample, for time lines.

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

    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|it| it.0 == self);
        found.map_or("", |it| it.1)
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
    let mut all: Vec<Placed<'_>> = rows
        .filter_map(|row| {
            let instants = row.shown.as_ref()?;
            Some(Placed {
                row,
                instants,
                shift: 0,
            })
        })
        .collect();
    if !scenario.id.is_parallel() {
        all.sort_by_key(|it| it.instants.base);
        return all.into_iter().map(|it| vec![it]).collect();
    }
    let first = all.iter().map(|it| it.instants.base).min().unwrap_or(0);
    for it in &mut all {
        it.shift = i64::try_from(it.instants.base - first).unwrap_or(i64::MAX);
    }
    if all.is_empty() {
        Vec::new()
    } else {
        vec![all]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_the_ends_of_phases() {
        use Instant::{After, Before, Due, Entered, SeenOff, Stamp, TurnedOn};
        use Phase::*;
        let down = vec![
            (Before, 0),
            (Stamp(EnterPsci), 1),
            (Stamp(EnterCflush), 2),
            (Stamp(ExitCflush), 3),
            (Stamp(EnterHwLowPwr), 4),
        ];
        let up = vec![(Due, 8), (Stamp(ExitHwLowPwr), 9), (Stamp(ExitPsci), 10)];
        let lacks = |all: &[(Instant, i64)], lost: &[Instant]| {
            let all = all.iter().filter(|it| !lost.contains(&it.0));
            all.copied().collect::<Vec<_>>()
        };
        let whole = [down.clone(), up, vec![(After, 11)]].concat();
        let flush = [Stamp(EnterCflush), Stamp(ExitCflush)];
        let off = vec![(Before, 0), (SeenOff, 5), (TurnedOn, 7), (Entered, 9)];
        let backwards = vec![(Stamp(EnterHwLowPwr), 4), (Stamp(ExitHwLowPwr), 3)];
        for (instants, expected) in [
            (
                whole.clone(),
                vec![Call, Entry, Flush, Descent, LowPower, Wake, Return],
            ),
            (
                lacks(&whole, &flush),
                vec![Call, Entry, LowPower, Wake, Return],
            ),
            (lacks(&down, &flush[..1]), vec![Call, Descent]),
            (
                vec![
                    (Before, 0),
                    (Stamp(EnterPsci), 1),
                    (Stamp(ExitPsci), 4),
                    (After, 9),
                ],
                vec![Call, Firmware, Return],
            ),
            (backwards, vec![]),
            (vec![], vec![]),
            (
                vec![(Before, 0), (Due, 5), (After, 7)],
                vec![Asleep, Resume],
            ),
            (vec![(Before, 0), (After, 7)], vec![Called]),
            (off, vec![TurnOff, TurnOn]),
        ] {
            let mut sample = Instants::default();
            for (instant, ticks) in &instants {
                sample.set(*instant, *ticks);
            }
            let phases: Vec<Phase> = slices(&sample).iter().map(|it| it.phase).collect();
            assert_eq!(phases, expected, "{instants:?}");
        }
    }
}
