//! The hand-over between CPUs under loom: every order of the steps of two CPUs, and every value
//! that the memory model lets a load return. `build.rs` copies the payload's source, and makes
//! mutations of it, each of which a test here must fail for.

pub mod cells;

include!(concat!(env!("OUT_DIR"), "/handovers.rs"));

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use loom::sync::Arc;
    use loom::thread;
    use psci_bench::measure::order::Order;
    use psci_bench::measure::{End, Outcome};

    /// Orders in a row: the second one reuses what the first one's hand-over left.
    const ORDERS: u64 = 2;

    fn order(number: u64) -> Order {
        let mut order = Order::default();
        order.times.call_after = number;
        order
    }

    fn outcome(number: u64) -> Outcome {
        let (end, before) = (End::Returned, number);
        Outcome {
            end,
            before,
            ..Outcome::default()
        }
    }

    fn wait_for<T>(mut given: impl FnMut() -> Option<T>) -> T {
        loop {
            match given() {
                Some(value) => return value,
                None => thread::yield_now(),
            }
        }
    }

    /// Explores all interleavings, whatever the environment says of preemptions.
    fn explore(scenario: fn()) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = None;
        model.check(scenario);
    }

    macro_rules! scenarios {
        ($($handover:ident)*) => {
            /// The scenarios of each copy of the source.
            const COPIES: &[(&str, [fn(); 2])] =
                &[$((stringify!($handover), [$handover::exchange, $handover::dismissal])),*];
            $(mod $handover {
                use super::*;
                use crate::$handover::Handover;

                /// Each order reaches the CPU whole, each outcome the lead, in turn; after the
                /// last one the CPU waits for its release.
                pub fn exchange() {
                    let lead = Arc::new(Handover::new(None));
                    let cpu = lead.clone();
                    let cpu = thread::spawn(move || {
                        for number in 1..=ORDERS {
                            let order = wait_for(|| cpu.order());
                            assert_eq!(order.times.call_after, number);
                            cpu.finish(outcome(10 * number));
                        }
                        wait_for(|| cpu.is_released().then_some(()));
                    });
                    for number in 1..=ORDERS {
                        lead.give_order(order(number));
                        if number == ORDERS {
                            lead.release();
                        }
                        let outcome = wait_for(|| lead.outcome());
                        assert_eq!(outcome.before, 10 * number);
                    }
                    cpu.join().expect("the CPU");
                }

                /// A CPU that is given up either did its order whole or sees that.
                pub fn dismissal() {
                    let lead = Arc::new(Handover::new(None));
                    let cpu = lead.clone();
                    lead.give_order(order(1));
                    let cpu = thread::spawn(move || {
                        let is_on = !cpu.is_dismissed();
                        if is_on {
                            let order = cpu.order().expect("the order given before");
                            cpu.report_ready();
                            wait_for(|| cpu.start().or(cpu.is_dismissed().then_some(0)));
                            cpu.finish(outcome(order.times.call_after));
                        }
                        is_on
                    });
                    if lead.is_ready() {
                        lead.publish_start(7);
                    }
                    lead.dismiss();
                    let is_done = cpu.join().expect("the CPU");
                    let outcome = lead.outcome().map(|it| it.before);
                    assert_eq!(outcome, is_done.then_some(1));
                }
            })*
        };
    }

    scenarios!(unchanged issued_relaxed done_relaxed issued_read_relaxed done_read_relaxed late_order early_outcome);

    #[test]
    fn orders_and_outcomes_are_exchanged_whole() {
        explore(unchanged::exchange);
    }

    #[test]
    fn dismissed_cpu_did_its_order_or_stops() {
        explore(unchanged::dismissal);
    }

    /// The variable by which a child of this program runs one copy: loom aborts where it fails.
    const COPY: &str = "VERIFY_COPY";

    #[test]
    fn mutations_fail() {
        if let Ok(name) = env::var(COPY) {
            let copy = COPIES.iter().find(|it| it.0 == name).expect("a copy");
            return copy.1.into_iter().for_each(explore);
        }
        let program = env::current_exe().expect("this program");
        for (name, _) in COPIES {
            let mut command = Command::new(&program);
            command
                .args(["--exact", "tests::mutations_fail"])
                .env(COPY, name);
            let is_sound = command.output().expect("it runs").status.success();
            assert_eq!(is_sound, *name == "unchanged", "{name}");
        }
    }
}
