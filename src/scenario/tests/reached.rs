//! The states that PSCI_STAT shows as reached.

use super::*;
use crate::spec::stat::{Ladder, Reached, Rise};

const CORE: u32 = STATES[0].power_state;
const CLUSTER: u32 = STATES[1].power_state;

/// Returns the state that each CPU of a scenario reached.
fn states(ran: &Ran, id: ScenarioId) -> Vec<Option<u32>> {
    let reached = ran.of(id).rows.iter().map(|row| row.reached);
    reached.map(|it| it.expect("a reading").state).collect()
}

#[test]
fn an_awake_cpu_keeps_its_cluster_up() {
    let mut fake = Fake::new(8).with_statistics();
    let args = "iterations=2 warmup=0 only=susp_deep_parallel,susp_deep_serial";
    let ran = run(&mut fake, args, 8);
    assert_eq!(ran.counts(), [2, 0, 0]);
    let all = states(&ran, ScenarioId::SuspendDeepParallel);
    assert_eq!(all, [Some(CLUSTER); 8]);
    let serial = states(&ran, ScenarioId::SuspendDeepSerial);
    let expected = |cpu| Some(if (1..4).contains(&cpu) { CORE } else { CLUSTER });
    assert_eq!(serial, (0..8).map(expected).collect::<Vec<_>>());
    assert!(
        ran.rows()
            .all(|row| row.reached.is_some_and(|it| it.state == Some(it.due)))
    );
    // A round of its own, the statistics of which are no sample.
    let asked = fake.asked.iter();
    let with_ladder = asked.filter(|round| round.ladder != Ladder::default());
    assert_eq!(with_ladder.count(), 1 + 8);
}

#[test]
fn a_reading_that_does_not_fit_is_kept() {
    let reading = |edit: fn(&mut Rise)| {
        let mut fake = Fake::new(4).with_statistics().with(move |_, cpu, outcome| {
            if cpu == 2 && matches!(outcome.action, Action::Suspend { .. }) {
                edit(&mut outcome.rise);
            }
        });
        let args = "iterations=2 warmup=0 only=susp_deep_parallel";
        let ran = run(&mut fake, args, 4);
        // The figures do not depend on it.
        assert_eq!(ran.counts(), [1, 0, 0]);
        let Reached {
            state,
            due,
            times,
            residency_us,
            ..
        } = ran.scenarios[0].rows[2].reached.expect("a reading");
        (state, due, times, residency_us)
    };
    assert_eq!(
        reading(|rise| rise.counts[3] = 0),
        (Some(CORE), CLUSTER, 1, 3)
    );
    assert_eq!(reading(|rise| rise.counts = [0; 4]).0, None);
    assert_eq!(reading(|rise| rise.counts[3] = 2).2, 2);
    assert_eq!(reading(|rise| rise.residency_us = 0).3, 0);
    assert_eq!(reading(|rise| rise.residency_us = 999_999).3, 999_999);
}

#[test]
fn nothing_is_read_without_levels_or_after_a_loss() {
    let unknown = [IdleState {
        name: "deep",
        power_state: CORE,
        level: None,
        local_timer_stop: false,
    }];
    let args = "iterations=2 only=susp_deep_serial,susp_deep_parallel";
    let ran = run_with(&mut Fake::new(4), args, 4, &unknown);
    assert!(ran.rows().all(|row| row.reached.is_none()));
    // A CPU that is lost may be on, and keep others up.
    let mut fake = Fake::new(4).with_statistics().with(losing(3, 0));
    let ran = run(&mut fake, args, 4);
    assert_eq!(ran.counts(), [0, 0, 2]);
    assert!(ran.rows().all(|row| row.reached.is_none()));
}
