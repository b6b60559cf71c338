//! `gaps` on the fake machine.

use crate::measure::{Gap, Metric};
use crate::testing::synthetic;
use hardware::board::CpuIndex;

use super::*;

#[test]
fn gaps_are_counted_and_the_longest_keep_their_instants() {
    let gaps = |cpu: CpuIndex, window: u64| match (cpu.index(), window) {
        (0, _) => Vec::new(),
        (_, 0) => [(10_000, 125), (20_000, 250)].to_vec(),
        (..) => [(30_000, 1_250)].to_vec(),
    };
    let args = "only=gaps duration=2 stress=idle timers=alone";
    let ran = run(Fake::new(2).with_gaps(gaps), args);
    assert_eq!(ran.failure(), None);
    let figures: Vec<_> = ran
        .series()
        .map(|shown| {
            let summary = &shown.series.summary;
            let (n, min, max) = (summary.n, summary.min, summary.max);
            (shown.cell.cpu.index(), shown.series.metric, n, min, max)
        })
        .collect();
    assert_eq!(
        figures,
        [
            (0, Metric::Gap, 0, 0, 0),
            (0, Metric::Stolen, 2, 0, 0),
            (0, Metric::Loop, 2, 20, 20),
            (1, Metric::Gap, 3, 125, 1_250),
            (1, Metric::Stolen, 2, 375, 1_250),
            (1, Metric::Loop, 2, 20, 20),
        ]
    );
    let [scenario] = &ran.scenarios[..] else {
        panic!("{:?}", ran.scenarios)
    };
    let cells = &scenario.cells;
    assert!(cells[0].longest_gaps.is_empty());
    let second = 62_500_000;
    let lengths = cells[1].longest_gaps.iter().map(|gap| gap.length);
    assert!(lengths.eq([1_250, 250, 125]));
    let Gap { begin, .. } = cells[1].longest_gaps[0];
    assert!((second + 30_000..2 * second).contains(&begin), "{begin}");
    let run = synthetic::run_with(2, |_| ());
    let text = (scenario.id.descriptor().explanation)(&run, scenario);
    assert!(
        text.contains("of CPU 0.1 (idle) that were longest: 20.00 us after"),
        "{text}"
    );
}
