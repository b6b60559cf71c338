//! What measuring itself costs.

use crate::machine::env::Env;
use psci_bench::measure::Overheads;
use psci_bench::spec::pmf::Stamp;

/// Tries, of which the least counts.
const TRIES: u32 = 64;

/// Measures the costs on the calling CPU.
pub fn measure_overheads(env: &Env) -> Overheads {
    let mpidr = env.slots[env.lead].mpidr;
    Overheads {
        counter: least(&mut || {
            let before = env.way.now();
            env.way.now() - before
        }),
        empty: least(&mut || env.way.empty()),
        pmf_read: env.pmf.ok().map(|pmf| {
            least(&mut || {
                let before = env.way.now();
                let _ = env.firmware.timestamp(pmf, mpidr, Stamp::EnterPsci);
                env.way.now() - before
            })
        }),
    }
}

fn least(once: &mut dyn FnMut() -> u64) -> u64 {
    (0..TRIES).map(|_| once()).min().unwrap_or(0)
}
