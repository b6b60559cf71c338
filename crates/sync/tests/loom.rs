//! The hand-over between two CPUs under loom, with every interleaving of their steps and every value
//! that the memory model allows a load to return.
//!
//! Each non-relaxed ordering in `handover.rs` is then weakened, one at a time. The tests must
//! detect this if the message exchange depends on that ordering.
//!
//! Without `--cfg loom`, this file is empty. `cargo xtask test` builds it with that flag.

#![cfg(loom)]

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use loom::sync::Arc;
use loom::thread;
use sync::cells::{self, AccessLocation};

/// The number of consecutive orders. The second order reuses the state left behind by the first.
const ORDERS: u64 = 2;

/// The environment variable that makes a child process explore with one ordering weakened.
const LOCATION_VARIABLE: &str = "VERIFY_PLACE";

type ModelHandover = sync::Handover<u64, u64, ()>;

/// The orderings on which the message exchange depends, identified by the code that contains them.
const NEEDED: [&str; 4] = [
    "self.done.load(Ordering::Acquire) == self.issued.load(Ordering::Relaxed)",
    "self.issued.store(number.wrapping_add(1), Ordering::Release);",
    "let number = self.issued.load(Ordering::Acquire);",
    "self.done.store(number, Ordering::Release);",
];

fn wait_for<T>(mut given: impl FnMut() -> Option<T>) -> T {
    loop {
        match given() {
            Some(value) => return value,
            None => thread::yield_now(),
        }
    }
}

/// Explores all interleavings, regardless of any preemption limit set in the environment.
fn explore(scenario: fn()) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = None;
    model.check(scenario);
}

/// Each order reaches the CPU intact, and each outcome then reaches the lead intact. After
/// the last order the CPU waits to be released.
fn exchange() {
    let lead = Arc::new(ModelHandover::new(None));
    let cpu = lead.clone();
    let cpu_thread = thread::spawn(move || {
        for number in 1..=ORDERS {
            assert_eq!(wait_for(|| cpu.order()), number);
            cpu.finish(10 * number);
        }
        wait_for(|| cpu.is_released().then_some(()));
    });
    for number in 1..=ORDERS {
        lead.give_order(number);
        if number == ORDERS {
            lead.release();
        }
        assert_eq!(wait_for(|| lead.outcome()), 10 * number);
    }
    cpu_thread.join().expect("the CPU");
}

/// If the lead gives up on a CPU, that CPU has either completed its order or finds that the lead
/// has given up.
fn dismissal() {
    let lead = Arc::new(ModelHandover::new(None));
    let cpu = lead.clone();
    lead.give_order(1);
    let cpu_thread = thread::spawn(move || {
        let is_on = !cpu.is_dismissed();
        if is_on {
            let order = cpu.order().expect("an order");
            cpu.report_ready();
            wait_for(|| cpu.start().or(cpu.is_dismissed().then_some(0)));
            cpu.finish(order);
        }
        is_on
    });
    if lead.is_ready() {
        lead.publish_start(7);
    }
    lead.dismiss();
    let is_done = cpu_thread.join().expect("the CPU");
    assert_eq!(lead.outcome(), is_done.then_some(1));
}

#[test]
fn orders_and_outcomes_arrive_intact() {
    explore(exchange);
}

#[test]
fn dismissed_cpu_did_its_order_or_stops() {
    explore(dismissal);
}

/// Returns true if a child process, in which loom may abort, detects the weakened ordering at
/// `location`.
fn is_noticed(location: AccessLocation) -> bool {
    let program = env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", "tests_notice_each_ordering_that_messages_need"]);
    command.env(LOCATION_VARIABLE, format!("{} {}", location.0, location.1));
    !command.output().expect("it runs").status.success()
}

#[test]
fn tests_notice_each_ordering_that_messages_need() {
    if let Ok(location) = env::var(LOCATION_VARIABLE) {
        let (line, column) = location.split_once(' ').expect("two numbers");
        let number = |digits: &str| digits.parse().expect("a number");
        cells::weaken((number(line), number(column)));
        explore(exchange);
        explore(dismissal);
        return;
    }
    // Records all accesses, and checks that a child without a mutation succeeds.
    explore(exchange);
    explore(dismissal);
    assert!(!is_noticed((0, 0)));

    let source: Vec<&str> = include_str!("../src/handover.rs").lines().collect();
    let noticed: BTreeSet<&str> = cells::ordered_locations()
        .into_iter()
        .filter(|location| is_noticed(*location))
        .map(|(line, _)| source[line as usize - 1].trim())
        .collect();
    assert_eq!(noticed, BTreeSet::from(NEEDED));
}
