//! A CPU that is not the lead: on by CPU_ON, does its orders, goes off.

use psci_bench::round::After;
use psci_bench::sample::{Action, Outcome};

use super::act;
use super::cpu::{self, Env};
use super::slot::{Order, Slot};

/// How long a CPU waits for a start or an order until it turns itself off:
/// far longer than the lead waits for anything, or prints.
const PATIENCE_US: u64 = 3_600_000_000;

/// Comes from `boot.S` with MMU and caches on and a stack of its own.
/// `first` and `second` are the counter as its first instruction read it.
pub extern "C" fn secondary_main(slot: &'static Slot, first: u64, second: u64) -> ! {
    let Some(env) = cpu::env() else {
        // The lead sets it before the first CPU_ON.
        cpu::park();
    };
    act::prepare_again(env, slot);
    let mut entered = env.way.choose([first, second]);
    loop {
        let deadline = env.way.now() + env.us(PATIENCE_US);
        let Some(order) = env.poll(deadline, || slot.order()) else {
            turn_off(env, slot);
            continue;
        };
        do_order(env, slot, &order, entered);
        entered = 0;
    }
}

fn do_order(env: &'static Env, slot: &'static Slot, order: &Order, entered: u64) {
    // Off and ReadBack are one CPU's own affair: nobody to meet.
    let outcome = act::perform(env, slot, order, &mut || {
        slot.set_ready();
        let deadline = env.way.now() + env.us(PATIENCE_US);
        env.poll(deadline, || slot.start())
    });
    slot.set_ready();
    slot.finish(Outcome { entered, ..outcome });
    if order.action == Action::Off || order.after == After::Off {
        turn_off(env, slot);
    }
}

fn turn_off(env: &Env, slot: &Slot) {
    slot.set_off_code(match env.firmware.cpu_off() {
        // A success that comes back has not turned the CPU off.
        Ok(code) => code as i32,
        Err(error) => error.code(),
    });
}
