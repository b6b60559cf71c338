//! What a CPU does between two instants of a sample: for time lines.

use psci_bench::spec::pmf::Stamp::{
    EnterCflush, EnterHwLowPwr, EnterPsci, ExitCflush, ExitHwLowPwr, ExitPsci,
};

use crate::report::model::{Instants, Point, Row, Test};

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// From the caller to the firmware's first timestamp.
    Call,
    /// The firmware's way to the flush, or to low power where it flushes
    /// nothing: here CPUs queue for its locks.
    Entry,
    /// The cache flush.
    Flush,
    /// From the flush to low power.
    Descent,
    /// Down, or waiting for an interrupt.
    LowPower,
    /// The firmware's way back.
    Wake,
    /// From the firmware's last timestamp to the caller.
    Return,
    /// In the firmware, by a call that only returns.
    Firmware,
    /// The call, where the caller's side is all there is.
    Called,
    /// From the call to the due wake-up, as the caller sees it.
    Asleep,
    /// From the due wake-up to the caller, as that one sees it.
    Resume,
    /// From CPU_OFF to AFFINITY_INFO saying OFF.
    TurnOff,
    /// From the lead's CPU_ON to the CPU's first instruction.
    TurnOn,
}

/// The side of low power on which a phase lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before it.
    Down,
    /// In it.
    Between,
    /// Behind it.
    Up,
}

impl Phase {
    /// All of them, in the order of legends.
    pub(crate) const ALL: [Self; 13] = [
        Self::Call,
        Self::Entry,
        Self::Flush,
        Self::Descent,
        Self::LowPower,
        Self::Wake,
        Self::Return,
        Self::Firmware,
        Self::Called,
        Self::Asleep,
        Self::Resume,
        Self::TurnOff,
        Self::TurnOn,
    ];

    /// Its name, in a word or two.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Entry => "entry",
            Self::Flush => "cache flush",
            Self::Descent => "to low power",
            Self::LowPower => "low power",
            Self::Wake => "wake-up",
            Self::Return => "return",
            Self::Firmware => "PSCI",
            Self::Called => "call and return",
            Self::Asleep => "until the wake-up is due",
            Self::Resume => "wake",
            Self::TurnOff => "turn off",
            Self::TurnOn => "turn on",
        }
    }

    /// The side of low power on which it lies.
    pub(crate) const fn side(self) -> Side {
        match self {
            Self::LowPower | Self::Asleep => Side::Between,
            Self::Wake | Self::Return | Self::Resume | Self::TurnOn => Side::Up,
            _ => Side::Down,
        }
    }
}

/// A phase of one sample, in ticks from [`Instants::base`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) phase: Phase,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// What lies between two instants that follow each other on a path. A pair
/// that is not here is none: an instant between them was lost.
const PATH: [(Point, Point, Phase); 9] = [
    (Point::Before, Point::Stamp(EnterPsci), Phase::Call),
    (
        Point::Stamp(EnterPsci),
        Point::Stamp(EnterCflush),
        Phase::Entry,
    ),
    (
        Point::Stamp(EnterPsci),
        Point::Stamp(EnterHwLowPwr),
        Phase::Entry,
    ),
    (
        Point::Stamp(EnterPsci),
        Point::Stamp(ExitPsci),
        Phase::Firmware,
    ),
    (
        Point::Stamp(EnterCflush),
        Point::Stamp(ExitCflush),
        Phase::Flush,
    ),
    (
        Point::Stamp(ExitCflush),
        Point::Stamp(EnterHwLowPwr),
        Phase::Descent,
    ),
    (
        Point::Stamp(EnterHwLowPwr),
        Point::Stamp(ExitHwLowPwr),
        Phase::LowPower,
    ),
    (
        Point::Stamp(ExitHwLowPwr),
        Point::Stamp(ExitPsci),
        Phase::Wake,
    ),
    (Point::Stamp(ExitPsci), Point::After, Phase::Return),
];

/// The path's instants in their order.
const POINTS: [Point; 8] = [
    Point::Before,
    Point::Stamp(EnterPsci),
    Point::Stamp(EnterCflush),
    Point::Stamp(ExitCflush),
    Point::Stamp(EnterHwLowPwr),
    Point::Stamp(ExitHwLowPwr),
    Point::Stamp(ExitPsci),
    Point::After,
];

/// The caller's view, for firmware without timestamps.
const CALLER: [(Point, Point, Phase); 4] = [
    (Point::Before, Point::Due, Phase::Asleep),
    (Point::Due, Point::After, Phase::Resume),
    (Point::Before, Point::SeenOff, Phase::TurnOff),
    (Point::TurnedOn, Point::Entered, Phase::TurnOn),
];

/// The phases of a sample, in time's order.
pub(crate) fn slices(instants: &Instants) -> Vec<Slice> {
    let between = |(from, to, phase): &(Point, Point, Phase)| {
        let (from, to) = (instants.at(*from)?, instants.at(*to)?);
        let phase = *phase;
        (from <= to).then_some(Slice { phase, from, to })
    };
    let there: Vec<Point> = POINTS
        .into_iter()
        .filter(|point| instants.at(*point).is_some())
        .collect();
    if there.iter().any(|point| matches!(point, Point::Stamp(_))) {
        let pairs = there.iter().zip(there.iter().skip(1));
        return pairs
            .filter_map(|(a, b)| PATH.iter().find(|it| it.0 == *a && it.1 == *b))
            .filter_map(between)
            .collect();
    }
    // CPUs are turned on before the call and off behind it, which is no part
    // of it: unless the call is CPU_OFF, which CPU_ON follows.
    let suspended = instants.at(Point::Due).is_some();
    let off = instants.span(Point::Before, Point::TurnedOn).is_some();
    let [asleep, resume, turn_off, turn_on] = CALLER;
    let part = match (suspended, off) {
        (true, _) => vec![asleep, resume],
        (false, true) => vec![turn_off, turn_on],
        (false, false) => vec![(Point::Before, Point::After, Phase::Called)],
    };
    part.iter().filter_map(between).collect()
}

/// Rows whose instants lie on one axis.
pub(crate) struct Group {
    /// Indices into [`Test::rows`].
    pub(super) rows: Vec<usize>,
}

/// A row's instants, and what is added to them on the axis of its group.
pub(crate) struct Placed<'r> {
    pub(crate) row: &'r Row,
    pub(crate) instants: &'r Instants,
    /// Ticks from the least base of the group to this row's.
    pub(crate) shift: i64,
}

impl Group {
    /// Its rows on one axis, which begins at the least base of all: their
    /// counter values are comparable.
    pub(crate) fn placed<'r>(&self, test: &'r Test) -> Vec<Placed<'r>> {
        let rows = self.rows.iter().filter_map(|place| test.rows.get(*place));
        let rows = rows.filter_map(|row| Some((row, row.event.as_ref()?)));
        let first = rows.clone().filter_map(|(_, instants)| instants.base).min();
        rows.map(|(row, instants)| Placed {
            row,
            instants,
            shift: match (instants.base, first) {
                (Some(own), Some(first)) => i64::try_from(own - first).unwrap_or(i64::MAX),
                _ => 0,
            },
        })
        .collect()
    }
}

/// The rows of `test` that have instants, as they can be placed: those of a
/// parallel scenario together, if their counter values say how; else each by
/// itself, in the order of time.
pub(crate) fn groups(test: &Test) -> Vec<Group> {
    let with: Vec<(usize, &Instants)> = test
        .rows
        .iter()
        .enumerate()
        .filter_map(|(place, row)| Some((place, row.event.as_ref()?)))
        .collect();
    let together = test.is_parallel() && with.iter().all(|(_, it)| it.base.is_some());
    if together && !with.is_empty() {
        let rows = with.into_iter().map(|(place, _)| place).collect();
        return vec![Group { rows }];
    }
    let mut apart = with;
    apart.sort_by_key(|(place, it)| (it.base.is_none(), it.base, *place));
    let alone = |(place, _)| Group { rows: vec![place] };
    apart.into_iter().map(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(points: &[(&str, i64)]) -> Instants {
        let mut all = Instants::default();
        for (key, ticks) in points {
            all.set(Point::of(key).expect("a point"), *ticks);
        }
        all
    }

    fn phases(points: &[(&str, i64)]) -> Vec<Phase> {
        slices(&sample(points)).iter().map(|it| it.phase).collect()
    }

    #[test]
    fn paths() {
        use Phase::*;
        let down = [("before", 0), ("s0", 1), ("s4", 2), ("s5", 3), ("s2", 4)];
        let up = [("s3", 9), ("s1", 10), ("due", 8), ("after", 11)];
        let whole = [down.as_slice(), up.as_slice()].concat();
        assert_eq!(
            phases(&whole),
            [Call, Entry, Flush, Descent, LowPower, Wake, Return]
        );
        let standby = [("before", 0), ("s0", 1), ("s2", 4), ("s3", 9), ("s1", 10)];
        assert_eq!(phases(&standby), [Call, Entry, LowPower, Wake]);
        let version = [("before", 0), ("s0", 1), ("s1", 4), ("after", 9)];
        assert_eq!(phases(&version), [Call, Firmware, Return]);
    }

    #[test]
    fn what_was_lost_is_not_made_up() {
        let gap = [("before", 0), ("s0", 1), ("s5", 3), ("s2", 4)];
        assert_eq!(phases(&gap), [Phase::Call, Phase::Descent]);
        assert_eq!(phases(&[("s2", 4), ("s3", 3)]), []);
        assert_eq!(phases(&[]), []);
    }

    #[test]
    fn the_caller_alone() {
        use Phase::*;
        let suspend = [("before", 0), ("due", 5), ("after", 7)];
        assert_eq!(phases(&suspend), [Asleep, Resume]);
        assert_eq!(phases(&[("before", 0), ("after", 7)]), [Called]);
        let off = [
            ("before", 0),
            ("seen_off", 5),
            ("turned_on", 7),
            ("entered", 9),
        ];
        assert_eq!(phases(&off), [TurnOff, TurnOn]);
    }
}
