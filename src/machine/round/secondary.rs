//! A CPU that is not the lead: on by CPU_ON, does its orders, goes off.

use crate::machine::env;
use crate::machine::env::Env;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::order::Order;
use crate::machine::round::participant;
use psci_bench::measure::{After, Cause, Outcome};

/// Comes from `boot.S` with MMU and caches on and a stack of its own.
/// `first` and `second` are the counter as its first instruction read it.
pub extern "C" fn secondary_main(
    slot: &'static CpuChannel,
    first: u64,
    second: u64,
    right_context: bool,
) -> ! {
    let Some(env) = env::env() else {
        // The lead sets it before the first CPU_ON.
        env::park();
    };
    if !right_context {
        slot.set_fault(Cause::Context);
        leave(env, slot);
    }
    participant::set_up_again(env, slot);
    let mut entered = env.way.choose([first, second]);
    while let Some(order) = env.attend(slot, || slot.order()) {
        do_order(env, slot, &order, entered);
        entered = 0;
    }
    leave(env, slot)
}

fn do_order(env: &'static Env, slot: &'static CpuChannel, order: &Order, entered: u64) {
    // ReadBack is one CPU's own affair: no CPU to meet.
    let outcome = participant::execute_order(env, slot, order, &mut || {
        slot.set_ready();
        env.attend(slot, || slot.start())
    });
    slot.set_ready();
    slot.finish(Outcome { entered, ..outcome });
    if let Some(start) = slot.start() {
        // Others may still be on their way.
        env.sleep_until(start + order.quiet);
    }
    if order.holds {
        env.attend(slot, || slot.is_released().then_some(()));
    }
    if order.action.turns_off() || order.after == After::Off {
        turn_off(env, slot);
    }
}

fn turn_off(env: &Env, slot: &CpuChannel) {
    slot.set_off_code(match env.firmware.cpu_off() {
        // A success that comes back has not turned the CPU off.
        Ok(code) => code as i32,
        Err(error) => error.code(),
    });
}

/// Goes off for good, or where the firmware does not let it, as good as off.
fn leave(env: &Env, slot: &CpuChannel) -> ! {
    turn_off(env, slot);
    env::park()
}
