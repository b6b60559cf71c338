//! How long the firmware took to boot, by stage, from TF-A's boot timestamps.

use serde::{Serialize, Serializer};

use crate::log::{BootPoint, BootTimestamp, LoggedRun};

/// The time between two boot timestamps.
#[derive(Debug, PartialEq, Eq)]
pub struct BootStage {
    /// The name in JSON.
    pub word: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// How the stage relates to the others.
    pub kind: BootStageKind,
    from: BootPoint,
    to: BootPoint,
}

/// How a stage relates to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootStageKind {
    /// An image runs.
    Image,
    /// One image hands over to the next.
    HandOver,
    /// It is a part of the stage before it.
    Part,
    /// It contains all the others.
    Total,
}

/// All stages, in boot order.
static STAGES: [BootStage; 8] = {
    use BootPoint::{
        Bl1Entry, Bl1Exit, Bl1LoadEnd, Bl1LoadStart, Bl2Entry, Bl2Exit, Bl2LoadEnd, Bl2LoadStart,
        Bl31Entry, Bl31Exit,
    };
    use BootStageKind::{HandOver, Image, Part, Total};
    [
        stage(("bl1", "BL1"), Image, (Bl1Entry, Bl1Exit)),
        stage(
            ("bl1-load", "BL1, loading BL2"),
            Part,
            (Bl1LoadStart, Bl1LoadEnd),
        ),
        stage(("to-bl2", "BL1 to BL2"), HandOver, (Bl1Exit, Bl2Entry)),
        stage(("bl2", "BL2"), Image, (Bl2Entry, Bl2Exit)),
        stage(
            ("bl2-load", "BL2, loading images"),
            Part,
            (Bl2LoadStart, Bl2LoadEnd),
        ),
        stage(("to-bl31", "BL2 to BL31"), HandOver, (Bl2Exit, Bl31Entry)),
        stage(("bl31", "BL31"), Image, (Bl31Entry, Bl31Exit)),
        stage(("total", "Total"), Total, (Bl1Entry, Bl31Exit)),
    ]
};

const fn stage(
    (word, title): (&'static str, &'static str),
    kind: BootStageKind,
    (from, to): (BootPoint, BootPoint),
) -> BootStage {
    BootStage {
        word,
        title,
        kind,
        from,
        to,
    }
}

impl Serialize for BootStage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word)
    }
}

/// A stage of one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BootTime {
    /// The stage.
    pub stage: &'static BootStage,
    /// The counter's value at the start, in ticks.
    pub start: u64,
    /// The duration in ticks.
    pub ticks: u64,
    /// The duration in nanoseconds, if the counter's frequency is known.
    pub ns: Option<u64>,
}

/// The durations of a stage in several boots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BootRow {
    /// The stage.
    pub stage: &'static BootStage,
    /// The duration in each boot, in nanoseconds, or in ticks if the counters' frequencies are
    /// unknown. None if a log lacks it.
    pub values: Vec<Option<f64>>,
}

/// Returns the times of the stages that a log shows. If the counter was reset during a stage, its
/// time is unknown.
pub fn boot_times(logged: &LoggedRun) -> Vec<BootTime> {
    let at = |point: BootPoint| {
        let mut timestamps = logged.boot.iter();
        let timestamp: &BootTimestamp = timestamps.find(|timestamp| timestamp.point == point)?;
        Some(timestamp.ticks)
    };
    let is_monotonic = logged.boot.is_sorted_by_key(|timestamp| timestamp.ticks);
    let times = STAGES.iter().filter_map(|stage| {
        let start = at(stage.from)?;
        let ticks = at(stage.to)?.checked_sub(start)?;
        let is_known = is_monotonic || stage.kind != BootStageKind::Total;
        is_known.then_some(BootTime {
            stage,
            start,
            ticks,
            ns: logged.boot_clock().ns(ticks),
        })
    });
    times.collect()
}

/// Returns the times of the stages of several boots, side by side. Returns nothing if fewer than two
/// of the logs show any, or if only some of those name the counter's frequency.
pub fn boot_rows(runs: &[&LoggedRun]) -> Vec<BootRow> {
    let boots: Vec<Vec<BootTime>> = runs.iter().map(|logged| boot_times(logged)).collect();
    let mut shown = runs
        .iter()
        .zip(&boots)
        .filter(|(_, times)| !times.is_empty());
    let Some((first, _)) = shown.next() else {
        return Vec::new();
    };
    let is_known = first.boot_clock().is_known();
    let others: Vec<bool> = shown
        .map(|(logged, _)| logged.boot_clock().is_known())
        .collect();
    if others.is_empty() || others.contains(&!is_known) {
        return Vec::new();
    }
    let value = |times: &[BootTime], stage: &BootStage| {
        let time = times.iter().find(|time| time.stage == stage)?;
        Some(time.ns.unwrap_or(time.ticks) as f64)
    };
    let rows = STAGES.iter().map(|stage| BootRow {
        stage,
        values: boots.iter().map(|times| value(times, stage)).collect(),
    });
    rows.filter(|row| row.values.iter().any(Option::is_some))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::edits;
    use crate::log::LogReadError;
    use crate::log::read;
    use crate::synthetic_run::{BOOT, passed_log};

    type Edit = fn(&mut LoggedRun);

    /// Returns the words and the ticks of the stages in a log that contains these lines before its
    /// run.
    fn stages(boot: &str) -> Vec<(&'static str, u64)> {
        let times = boot_times(&logged(boot));
        times
            .iter()
            .map(|time| (time.stage.word, time.ticks))
            .collect()
    }

    fn logged(boot: &str) -> LoggedRun {
        let log = boot.to_owned() + passed_log();
        read("a.log", log.as_bytes()).expect("a run").remove(0)
    }

    #[test]
    fn stages_are_between_their_timestamps() {
        let ten = [
            ("bl1", 200_000),
            ("bl1-load", 120_000),
            ("to-bl2", 40_000),
            ("bl2", 1_080_000),
            ("bl2-load", 1_000_000),
            ("to-bl31", 80_000),
            ("bl31", 100_000),
            ("total", 1_500_000),
        ];
        assert_eq!(stages(BOOT), ten);
        let without = |ids: &[&str]| -> String {
            let is_kept = |line: &&str| !ids.iter().any(|id| line.contains(&format!("tid {id}\t")));
            BOOT.split_inclusive('\n').filter(is_kept).collect()
        };
        // TF-A v2.12 has no timestamps around the loading of images.
        let six: Vec<_> = ten
            .into_iter()
            .filter(|(word, _)| !word.ends_with("load"))
            .collect();
        assert_eq!(stages(&without(&["6", "7", "8", "9"])), six);
        // BL31 was started by other firmware.
        let all = ["0", "6", "7", "1", "2", "8", "9", "3"];
        assert_eq!(stages(&without(&all)), [("bl31", 100_000)]);
        assert_eq!(stages(&without(&["4"])).len(), ten.len() - 2);
        assert_eq!(stages(""), []);
    }

    #[test]
    fn stage_in_which_the_counter_is_reset_has_no_time() {
        let reset = BOOT
            .replace("ts 1420000", "ts 20")
            .replace("ts 1500000", "ts 50");
        let words: Vec<_> = stages(&reset).into_iter().map(|(word, _)| word).collect();
        assert_eq!(
            words,
            ["bl1", "bl1-load", "to-bl2", "bl2-load", "to-bl31", "bl31"]
        );
    }

    #[test]
    fn boots_are_side_by_side_only_in_the_same_unit() {
        let first = logged(BOOT);
        let second = logged(&BOOT.replace("ts 1600000", "ts 1700000"));
        let none = logged("");
        let rows = boot_rows(&[&first, &none, &second]);
        assert_eq!(rows.len(), 8);
        let bl31 = &rows[6];
        // The counter runs at 62.5 MHz.
        let values = [Some(1_600_000.0), None, Some(3_200_000.0)];
        assert_eq!(
            (bl31.stage.word, bl31.values.as_slice()),
            ("bl31", values.as_slice())
        );
        assert_eq!(boot_rows(&[&first, &none]), []);
        assert_eq!(boot_rows(&[&none, &none]), []);
        let edited = |edit: Edit| {
            let mut edited = first.clone();
            edit(&mut edited);
            edited
        };
        let unknown = edited(edits::no_facts);
        assert_eq!(boot_rows(&[&first, &unknown]), []);
        let in_ticks = boot_rows(&[&unknown, &unknown]);
        assert_eq!(in_ticks[6].values, [Some(100_000.0); 2]);
        let mut given = unknown;
        given.given_hz = Some(31_250_000);
        assert_eq!(boot_rows(&[&first, &given])[6].values[1], Some(3_200_000.0));
    }

    /// The figures of a log from TFTF are in nanoseconds, but its boot timestamps are not.
    #[test]
    fn boot_times_without_a_run_are_in_ticks() {
        let Err(LogReadError::NoRun(boot)) = read("a.log", BOOT.as_bytes()) else {
            panic!("a run");
        };
        let times = boot_times(&boot);
        assert_eq!((times[0].ticks, times[0].ns), (200_000, None));
    }
}
