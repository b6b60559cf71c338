//! `ipi_wake` under real firmware with the instruction clock: an SGI costs the same from each state
//! beside the timer, and a delay of the wake-up is found in the rows of its CPU, to the tick.

use std::collections::BTreeMap;

use hardware::board::Mpidr;
use suite::measure::Metric;
use suite::plan::{ScenarioId, Variant};

use crate::common;

/// Each CPU's median by variant and `power_state`, in ticks.
type Figures = BTreeMap<(Mpidr, Variant, u64), u64>;

fn figures(options: &str) -> Figures {
    let spec = common::spec(&format!("--icount {options}"), "only=ipi_wake iterations=3");
    let log = common::expect_pass(&spec);
    let cells = log.of_metric(ScenarioId::named("ipi_wake"), Metric::Wake);
    let figures = cells.map(|(mpidr, shown)| {
        let step = shown.cell.step;
        let state = step.value.expect("a state");
        ((mpidr, step.variant, state), shown.series.summary.median)
    });
    figures.collect()
}

const STANDBY: u64 = 0x1;
const CORE_OFF: u64 = 0x1_0002;

#[test]
fn sgi_adds_the_same_to_each_state() {
    let figures = figures("--smp 6");
    let [timer, near, far] = ["timer", "sgi_near", "sgi_far"].map(Variant::new);
    // Each of six CPUs has a neighbor in its cluster and one in the other, in four states.
    assert_eq!(figures.len(), 6 * 3 * 4);
    for cpu in [1, 2, 4, 5].map(Mpidr::new) {
        for variant in [near, far] {
            let added = |state| figures[&(cpu, variant, state)] - figures[&(cpu, timer, state)];
            let (shallow, deep) = (added(STANDBY), added(CORE_OFF));
            assert!(
                shallow > 0 && shallow.abs_diff(deep) <= 2,
                "{cpu} {variant:?}: {shallow} {deep}"
            );
        }
    }
}

#[test]
fn late_wake_up_is_found_on_its_cpu() {
    let options = "--smp 3 --fault suspend-late,cpu=0x1";
    let [short, long] = [100, 200].map(|us| figures(&format!("{options},arg={us}")));
    let victim = Mpidr::new(1);
    assert!(short.keys().eq(long.keys()));
    // All CPUs are in one cluster.
    assert!(
        short
            .keys()
            .all(|(_, variant, _)| *variant != Variant::new("sgi_far"))
    );
    for (key, ticks) in &long {
        let (cpu, _, state) = *key;
        let expected: u64 = if cpu == victim && state != STANDBY {
            6_250
        } else {
            0
        };
        let more = ticks - short[key];
        assert!(more.abs_diff(expected) <= 2, "{key:?}: {more}");
    }
}
