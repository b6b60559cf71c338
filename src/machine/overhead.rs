//! What measuring itself costs.

use psci_bench::measure::Overheads;
use psci_bench::spec::pmf::Stamp;

use super::cpu::Env;
use super::timed::Way;

/// Tries, of which the least counts.
const TRIES: u32 = 64;

/// Measures the costs on the calling CPU.
pub fn measure(env: &Env) -> Overheads {
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

impl Way {
    /// Ticks that a timed region takes that has no call in it.
    fn empty(self) -> u64 {
        let call = self.nothing();
        call.after - call.before
    }
}
