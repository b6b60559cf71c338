//! Records about the machine as a whole.

use std::collections::BTreeMap;

use psci_bench::spec::psci::AFFINITY_MASK;

use super::values::{flag, other, put, text};
use crate::report::model::{Cpu, Facts, Plan, Term};

/// A field of the `facts` record.
pub(super) fn facts(facts: &mut Facts, key: &str, value: &str) -> bool {
    match key {
        "hz" => put(&mut facts.hz, value),
        "counter" => text(&mut facts.counter, value),
        "timer" => text(&mut facts.timer, value),
        "intid" => put(&mut facts.timer_intid, value),
        "frame" => put(&mut facts.frame, value),
        "frame_intid" => put(&mut facts.frame_intid, value),
        "el" => put(&mut facts.el, value),
        "gic" => put(&mut facts.gic, value),
        "conduit" => {
            facts.conduit = Some(Term::of(value));
            true
        }
        "psci" => put(&mut facts.psci, value),
        "smccc" => put(&mut facts.smccc, value),
        "service" => text(&mut facts.service, value),
        "service_revision" => text(&mut facts.service_revision, value),
        "state_format" => {
            facts.state_format = Some(Term::of(value));
            true
        }
        "lead" => put(&mut facts.lead, value),
        "midr" => put(&mut facts.midr, value),
        "pmf" => put(&mut facts.pmf, value),
        "pmf_error" => text(&mut facts.pmf_error, value),
        "watchdog" => put(&mut facts.watchdog, value),
        "stat" => {
            facts.stat = flag(value);
            facts.stat.is_some()
        }
        "cost_counter" => put(&mut facts.cost_counter, value),
        "cost_empty" => put(&mut facts.cost_empty, value),
        "cost_pmf" => put(&mut facts.cost_pmf, value),
        _ => other(&mut facts.others, key, value),
    }
}

/// A field of the `plan` record.
pub(super) fn plan(plan: &mut Plan, key: &str, value: &str) -> bool {
    match key {
        "iterations" => put(&mut plan.iterations, value),
        "warmup" => put(&mut plan.warmup, value),
        "scenarios" => put(&mut plan.scenarios, value),
        "methods" => {
            plan.methods = value.split(',').map(Term::of).collect();
            true
        }
        "wake" => {
            plan.wake = Some(Term::of(value));
            true
        }
        "end" => {
            plan.end = Some(Term::of(value));
            true
        }
        "samples" => {
            plan.samples = value == "all";
            true
        }
        "deepest" => put(&mut plan.deepest, value),
        "core" => put(&mut plan.core, value),
        _ => other(&mut plan.others, key, value),
    }
}

/// CPUs in the order of their indices. Those of which there is an MPIDR alone
/// go where an index is free and the order is MPIDR's, or else to the end.
pub(super) fn in_order(known: BTreeMap<u32, Cpu>, lost: &[u64]) -> Vec<Cpu> {
    let mut lost = lost.iter().copied().peekable();
    let mut cpus: Vec<Cpu> = Vec::new();
    for (index, cpu) in known {
        while cpus.len() < index as usize {
            let fits = |mpidr: &u64| cpu.mpidr.is_some_and(|next| *mpidr < next);
            cpus.push(match lost.next_if(fits) {
                Some(mpidr) => guessed(mpidr),
                // One that nothing else is heard of.
                None => Cpu {
                    guessed: true,
                    ..Cpu::default()
                },
            });
        }
        cpus.push(cpu);
    }
    cpus.extend(lost.map(guessed));
    cpus
}

/// A CPU whose record was lost, by what its MPIDR alone tells.
fn guessed(mpidr: u64) -> Cpu {
    let field = |shift: u32| (mpidr & AFFINITY_MASK) >> shift & 0xff;
    let [core, cluster] = [0, 8].map(|shift| field(shift) as u32);
    Cpu {
        mpidr: Some(mpidr),
        cluster: cluster | (field(16) as u32) << 8 | (field(32) as u32) << 16,
        core,
        guessed: true,
        ..Cpu::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_stays_what_it_is() {
        let mpidrs = |known: &[(u32, u64)], lost: &[u64]| -> Vec<Option<u64>> {
            let cpu = |mpidr| Cpu {
                mpidr: Some(mpidr),
                ..Cpu::default()
            };
            let known = known.iter().map(|it| (it.0, cpu(it.1))).collect();
            let cpus = in_order(known, lost);
            cpus.iter().map(|cpu| cpu.mpidr).collect()
        };
        let all = [(0, 0), (1, 1), (3, 0x101)];
        assert_eq!(
            mpidrs(&all, &[0x100]),
            [Some(0), Some(1), Some(0x100), Some(0x101)]
        );
        assert_eq!(mpidrs(&all, &[]), [Some(0), Some(1), None, Some(0x101)]);
        assert_eq!(
            mpidrs(&all[..2], &[0x100, 0x101]),
            [Some(0), Some(1), Some(0x100), Some(0x101)]
        );
        let cpu = guessed(0x1_0002_0304);
        assert_eq!((cpu.cluster, cpu.core), (0x1_0203, 4));
    }
}
