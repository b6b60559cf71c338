//! The hand-over between the lead and another CPU, on the host.

#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use sync::Stop;

type Handover = sync::Handover<u64, u64, u32>;

/// The results of all read-only methods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct View {
    order: Option<u64>,
    is_ready: bool,
    start: Option<u64>,
    is_done: bool,
    is_busy: bool,
    outcome: Option<u64>,
    is_released: bool,
    is_dismissed: bool,
    cpu_off_failure: Option<i32>,
    stop: Option<Stop>,
    sgi_sent_at: Option<u64>,
}

fn view(handover: &Handover) -> View {
    View {
        order: handover.order(),
        is_ready: handover.is_ready(),
        start: handover.start(),
        is_done: handover.is_done(),
        is_busy: handover.is_busy(),
        outcome: handover.outcome(),
        is_released: handover.is_released(),
        is_dismissed: handover.is_dismissed(),
        cpu_off_failure: handover.cpu_off_failure(),
        stop: handover.stop(),
        sgi_sent_at: handover.sgi_sent_at(),
    }
}

#[test]
fn each_step_changes_only_its_own_state() {
    let handover = Handover::new(None);
    let check =
        |expected_view: &View, step: &str| assert_eq!(view(&handover), *expected_view, "{step}");
    let mut expected = View {
        is_ready: true,
        is_done: true,
        is_released: true,
        outcome: Some(0),
        ..View::default()
    };
    check(&expected, "at first");
    handover.give_order(7);
    let given = View {
        order: Some(7),
        is_busy: true,
        ..View::default()
    };
    expected = given;
    check(&expected, "an order");
    handover.report_ready();
    expected.is_ready = true;
    check(&expected, "ready");
    handover.publish_start(50);
    expected.start = Some(50);
    check(&expected, "start");
    handover.record_sgi_sent(60);
    handover.record_sgi_sent(70);
    expected.sgi_sent_at = Some(60);
    check(&expected, "the first of two SGIs");
    handover.clear_sgi_sent();
    expected.sgi_sent_at = None;
    check(&expected, "no SGI");
    handover.finish(9);
    (expected.order, expected.outcome) = (None, Some(9));
    (expected.is_done, expected.is_busy) = (true, false);
    check(&expected, "finish");
    handover.release();
    expected.is_released = true;
    check(&expected, "release");
    for code in [-3, 0] {
        handover.report_cpu_off_failure(code);
        expected.cpu_off_failure = Some(code);
        check(&expected, "CPU_OFF returned");
    }
    handover.give_order(8);
    expected = View {
        order: Some(8),
        ..given
    };
    check(&expected, "the next order");
    for stop in [Stop::WrongContext, Stop::Exception] {
        handover.report_stop(stop);
        (expected.stop, expected.is_busy) = (Some(stop), false);
        check(&expected, "stop");
    }
    handover.dismiss();
    expected.is_dismissed = true;
    check(&expected, "dismiss");
}

#[test]
fn early_order_and_outcome_without_order_panic() {
    let panics = |action: &dyn Fn()| catch_unwind(AssertUnwindSafe(action)).is_err();
    let handover = Handover::new(None);
    assert!(panics(&|| handover.finish(1)));
    handover.give_order(1);
    assert!(panics(&|| handover.give_order(2)));
    handover.finish(1);
    assert!(panics(&|| handover.finish(2)));
    assert_eq!(handover.outcome(), Some(1));
}

#[test]
fn tally_belongs_to_the_cpu() {
    let handover = Handover::new(Some(Box::leak(Box::default())));
    // SAFETY: no order was given, so the tally belongs to the lead, which is this thread.
    assert!(unsafe { handover.tally_mut() }.is_some());
}

#[test]
fn two_threads_exchange_orders_and_outcomes() {
    const ORDERS: u64 = 10_000;
    fn wait_for<T>(mut given: impl FnMut() -> Option<T>) -> T {
        loop {
            match given() {
                Some(value) => return value,
                None => thread::yield_now(),
            }
        }
    }
    let result = |order: u64, start: u64| 3 * order + start;
    let handover = Handover::new(None);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ORDERS {
                let order = wait_for(|| handover.order());
                handover.report_ready();
                let start = wait_for(|| handover.start());
                handover.finish(result(order, start));
            }
        });
        for number in 1..=ORDERS {
            handover.give_order(number);
            wait_for(|| handover.is_ready().then_some(()));
            handover.publish_start(2 * number);
            let outcome = wait_for(|| handover.outcome());
            assert_eq!(outcome, result(number, 2 * number));
        }
    });
}
