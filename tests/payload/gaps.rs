//! `gaps`: what the firmware takes away from a CPU that masks interrupts, to the tick. Under
//! `-icount` a tick is an instruction.

use suite::measure::Metric;
use suite::model::Cell;
use suite::plan::ScenarioId;

use crate::common;

/// Ticks in a microsecond.
const MHZ: f64 = 62.5;
/// Ticks from one tick of the secure timer to the next, of which there are 1,000 in a second.
const PERIOD: u64 = 62_500;

/// Returns the cells of a run of two seconds.
fn cells(options: &str, args: &str) -> Vec<Cell> {
    let args = format!("only=gaps stress=idle timers=alone {args}");
    let log = common::expect_pass(&common::spec(&format!("--icount {options}"), &args));
    let mut scenarios = log.scenarios(ScenarioId::named("gaps"));
    scenarios.next().expect("the scenario").cells.clone()
}

fn stolen(cell: &Cell) -> u64 {
    cell.series_of(Metric::Stolen)
        .expect("a series")
        .summary
        .max
}

#[test]
fn correct_firmware_takes_nothing_away() {
    for options in ["--smp 3", "--smp 2 --gic 2 --el 1", "--smp 1"] {
        for cell in cells(options, "duration=2") {
            let gaps = &cell.series_of(Metric::Gap).expect("a series").summary;
            assert_eq!((gaps.n, stolen(&cell)), (0, 0), "{options}");
            assert!(cell.longest_gaps.is_empty(), "{options}");
            // Each second has a sample.
            assert_eq!(cell.valid(), 2, "{options}");
        }
    }
}

/// The firmware counts its own ticks. The CPU is the only one, because an emulator that runs CPUs in
/// turn takes the time away from all of them.
#[test]
fn secure_timer_is_found_with_its_period_and_length() {
    let length = |us: u32| {
        let options = format!("--smp 1 --fault secure-timer,arg={us}");
        let cells = cells(&options, "duration=1");
        let [cell] = &cells[..] else {
            panic!("{options}: {cells:?}")
        };
        let gaps = &cell.series_of(Metric::Gap).expect("a series").summary;
        assert!((999..=1_000).contains(&gaps.n), "{options}: {gaps:?}");
        let longest: Vec<u64> = cell.longest_gaps.iter().map(|gap| gap.begin).collect();
        let loop_ticks = cell.series_of(Metric::Loop).expect("a series").summary.min;
        for pair in longest.windows(2) {
            let apart = pair[0].abs_diff(pair[1]);
            let off = apart % PERIOD;
            // A gap begins with the last read before the timer is due.
            assert!(
                off.min(PERIOD - off) <= loop_ticks,
                "{options}: {longest:?}"
            );
        }
        let sum = u64::from(gaps.n) * gaps.min..=u64::from(gaps.n) * gaps.max;
        assert!(sum.contains(&stolen(cell)), "{options}: {cell:?}");
        (gaps.median, loop_ticks)
    };
    let (short, _) = length(2);
    assert!(short as f64 >= 2.0 * MHZ, "{short}");
    let (long, loop_ticks) = length(52);
    let more = long - short;
    let expected = (50.0 * MHZ) as u64;
    // The bins of the median are up to 1/16 wide.
    let slack = loop_ticks + long / 16;
    assert!(more.abs_diff(expected) <= slack, "{more}");
}
