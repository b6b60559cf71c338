//! The hand-over between the lead and another CPU, compiled for the host.

#[path = "../src/machine/round/handover.rs"]
mod handover;
#[path = "../src/machine/round/sync.rs"]
mod sync;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use handover::Handover;
use psci_bench::measure::order::{Order, OrderEnd, OrderTimes, OrderWake, SgiTargets};
use psci_bench::measure::{Action, After, Cause, End, Outcome, Tally};
use psci_bench::spec::stat::Ladder;

/// An order that is known by its `dirty_bytes`.
fn order(number: usize) -> Order {
    Order {
        action: Action::Version,
        dirty_bytes: number,
        cpu_on_at: 0,
        times: OrderTimes {
            call_after: 0,
            own_timer_after: 0,
            wake_due_after: 0,
            quiet_until: 0,
        },
        wake: OrderWake {
            by_timer_frame: false,
            wakes_others_by_sgi: SgiTargets::None,
        },
        end: OrderEnd {
            after: After::Stay,
            waits_for_release: false,
        },
        ladder: Ladder::default(),
        window: None,
    }
}

fn outcome(number: u64) -> Outcome {
    Outcome {
        end: End::Returned,
        before: number,
        ..Outcome::default()
    }
}

/// The answers of all methods that change nothing.
#[derive(Debug, Default, PartialEq)]
struct View {
    order: Option<usize>,
    is_ready: bool,
    start: Option<u64>,
    is_done: bool,
    is_busy: bool,
    outcome: Option<u64>,
    is_released: bool,
    is_dismissed: bool,
    cpu_off_failure: Option<i32>,
    fault: Option<Cause>,
    sgi_sent_at: Option<u64>,
}

fn view(handover: &Handover) -> View {
    View {
        order: handover.order().map(|order| order.dirty_bytes),
        is_ready: handover.is_ready(),
        start: handover.start(),
        is_done: handover.is_done(),
        is_busy: handover.is_busy(),
        outcome: handover.outcome().map(|outcome| outcome.before),
        is_released: handover.is_released(),
        is_dismissed: handover.is_dismissed(),
        cpu_off_failure: handover.cpu_off_failure(),
        fault: handover.fault(),
        sgi_sent_at: handover.sgi_sent_at(),
    }
}

/// A step, and its change of the answers.
type Step = (&'static str, fn(&Handover), fn(&mut View));

fn steps() -> [Step; 14] {
    let given = |it: &Handover| it.give_order(order(7));
    let was_given = |view: &mut View| {
        view.order = Some(7);
        (view.is_ready, view.is_done, view.is_released) = (false, false, false);
        (view.is_busy, view.outcome) = (true, None);
    };
    let was_finished = |view: &mut View| {
        (view.order, view.outcome) = (None, Some(9));
        (view.is_done, view.is_busy) = (true, false);
    };
    let was_given_next = |view: &mut View| {
        *view = View {
            order: Some(8),
            is_busy: true,
            ..View::default()
        };
    };
    let was_dismissed = |view: &mut View| (view.is_dismissed, view.is_busy) = (true, false);
    [
        ("an order", given, was_given),
        ("ready", |it| it.report_ready(), |view| view.is_ready = true),
        (
            "start",
            |it| it.publish_start(50),
            |view| view.start = Some(50),
        ),
        (
            "SGI",
            |it| it.record_sgi_sent(60),
            |view| view.sgi_sent_at = Some(60),
        ),
        ("a second SGI", |it| it.record_sgi_sent(70), |_| {}),
        (
            "no SGI",
            |it| it.clear_sgi_sent(),
            |view| view.sgi_sent_at = None,
        ),
        ("finish", |it| it.finish(outcome(9)), was_finished),
        ("release", |it| it.release(), |view| view.is_released = true),
        (
            "-3",
            |it| it.report_cpu_off_failure(-3),
            |view| view.cpu_off_failure = Some(-3),
        ),
        (
            "0",
            |it| it.report_cpu_off_failure(0),
            |view| view.cpu_off_failure = Some(0),
        ),
        (
            "the next order",
            |it| it.give_order(order(8)),
            was_given_next,
        ),
        (
            "context",
            |it| it.report_fault(Cause::Context),
            |view| view.fault = Some(Cause::Context),
        ),
        (
            "exception",
            |it| it.report_fault(Cause::Exception),
            |view| view.fault = Some(Cause::Exception),
        ),
        ("dismiss", |it| it.dismiss(), was_dismissed),
    ]
}

#[test]
fn each_step_changes_its_own_answers_alone() {
    let handover = Handover::new(None);
    let mut expected = View {
        is_ready: true,
        is_done: true,
        is_released: true,
        outcome: Some(0),
        ..View::default()
    };
    assert_eq!(view(&handover), expected, "at first");
    for (name, step, change) in steps() {
        step(&handover);
        change(&mut expected);
        assert_eq!(view(&handover), expected, "{name}");
    }
}

#[test]
fn an_order_before_the_last_is_done_and_an_outcome_without_one_panic() {
    let panics = |action: &dyn Fn()| catch_unwind(AssertUnwindSafe(action)).is_err();
    let handover = Handover::new(None);
    assert!(panics(&|| handover.finish(outcome(1))));
    handover.give_order(order(1));
    assert!(panics(&|| handover.give_order(order(2))));
    handover.finish(outcome(1));
    assert!(panics(&|| handover.finish(outcome(2))));
    assert_eq!(handover.outcome().map(|outcome| outcome.before), Some(1));
}

#[test]
fn the_tally_is_the_one_of_the_cpu() {
    let handover = Handover::new(Some(Box::leak(Box::new(Tally::default()))));
    let without = Handover::new(None);
    // SAFETY: no order was given, so that the tally is the lead's, which is this thread.
    assert!(unsafe { handover.tally_mut() }.is_some());
    // SAFETY: no order was given here either.
    assert!(unsafe { without.tally_mut() }.is_none());
}

#[test]
fn two_threads_exchange_orders_and_outcomes() {
    const ORDERS: usize = 10_000;
    fn wait_for<T>(mut given: impl FnMut() -> Option<T>) -> T {
        loop {
            match given() {
                Some(value) => return value,
                None => thread::yield_now(),
            }
        }
    }
    let result = |order: usize, start: u64| 3 * order as u64 + start;
    let handover = Handover::new(None);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ORDERS {
                let order = wait_for(|| handover.order());
                handover.report_ready();
                let start = wait_for(|| handover.start());
                handover.finish(outcome(result(order.dirty_bytes, start)));
            }
        });
        for number in 1..=ORDERS {
            handover.give_order(order(number));
            wait_for(|| handover.is_ready().then_some(()));
            handover.publish_start(2 * number as u64);
            let outcome = wait_for(|| handover.outcome());
            assert_eq!(outcome.before, result(number, 2 * number as u64));
        }
    });
}
