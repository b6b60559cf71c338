//! Measures one scenario.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::Machine;
use crate::model::{Failure, Scenario, ScenarioKey, Skip, Status};
use crate::plan::{Method, ScenarioId};

use super::bench::Setting;
use super::loops::Loops;
use super::steps::Sweep;
use super::{
    cold_call, contend_sweep, cpu_on, dirty_sweep, fitness, idle_states, loops, masked_time, steps,
    suite, system_suspend, timer_latency, wake_race,
};

/// The code that measures a scenario.
enum Measurement {
    Suite,
    Loops(&'static Loops),
    CpuOn { floods: bool },
    Timers,
    Steps(fn(&mut Sweep<'_>)),
    Checks,
}

const fn measurement(id: ScenarioId) -> Measurement {
    match id {
        ScenarioId::SuspendDeepParallel
        | ScenarioId::SuspendDeepSerial
        | ScenarioId::CpuSuspendParallel
        | ScenarioId::CpuSuspendSerial
        | ScenarioId::CpuOffSerial
        | ScenarioId::PsciVersionParallel => Measurement::Suite,
        ScenarioId::NullCall => Measurement::Loops(&loops::NULL_CALL),
        ScenarioId::ServiceCall => Measurement::Loops(&loops::SERVICE_CALL),
        ScenarioId::SelfSgi => Measurement::Loops(&loops::SELF_SGI),
        ScenarioId::Ipi => Measurement::Loops(&loops::IPI),
        ScenarioId::Eoi => Measurement::Loops(&loops::EOI),
        ScenarioId::Lpi => Measurement::Loops(&loops::LPI),
        ScenarioId::MmioRead => Measurement::Loops(&loops::MMIO_READ),
        ScenarioId::SysregTrap => Measurement::Loops(&loops::SYSREG_TRAP),
        ScenarioId::PmfRead => Measurement::Loops(&loops::PMF_READ),
        ScenarioId::Empty => Measurement::Loops(&loops::EMPTY),
        ScenarioId::CpuOn => Measurement::CpuOn { floods: false },
        ScenarioId::CpuOnFlood => Measurement::CpuOn { floods: true },
        ScenarioId::TimerLatency => Measurement::Timers,
        ScenarioId::DirtySweep => Measurement::Steps(dirty_sweep::measure_steps),
        ScenarioId::ContendSweep => Measurement::Steps(contend_sweep::measure_steps),
        ScenarioId::IdleStates => Measurement::Steps(idle_states::measure_steps),
        ScenarioId::ColdCall => Measurement::Steps(cold_call::measure_steps),
        ScenarioId::SystemSuspend => Measurement::Steps(system_suspend::measure_steps),
        ScenarioId::MaskedTime => Measurement::Steps(masked_time::measure_steps),
        ScenarioId::WakeRace => Measurement::Steps(wake_race::measure_steps),
        ScenarioId::Fitness => Measurement::Checks,
    }
}

/// Measures one scenario, once for each helper placement. A scenario that turns CPUs off is skipped
/// if CPU_OFF is known not to work. If a scenario is the first to discover that CPU_OFF does not
/// work, it fails without results.
pub fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
) -> Result<Vec<Scenario>, fmt::Error> {
    let turns_off = key.method == Method::Tftf || key.id.descriptor().needs_cpu_off;
    let ended = |status| {
        alloc::vec![Scenario {
            status,
            ..Scenario::new(key)
        }]
    };
    if let Some(why) = machine.facts().no_cpu_off.filter(|_| turns_off) {
        return Ok(ended(Status::Skipped(Skip::NoCpuOff(why))));
    }
    let measured = match measurement(key.id) {
        Measurement::Suite => suite::measure(machine, setting, key, out),
        Measurement::Loops(loops) => {
            alloc::vec![loops::measure(machine, setting, key, out, loops)]
        }
        Measurement::CpuOn { floods } => {
            alloc::vec![cpu_on::measure(machine, setting, key, out, floods)]
        }
        Measurement::Timers => {
            alloc::vec![timer_latency::measure(machine, setting, key, out)?]
        }
        Measurement::Steps(measure_steps) => {
            let scenario = steps::measure(machine, setting, key, out, measure_steps);
            alloc::vec![scenario]
        }
        Measurement::Checks => {
            // Here, CPUs that cannot be turned off are a result, not a reason to skip.
            return Ok(alloc::vec![fitness::check(machine, setting, key, out)?]);
        }
    };
    Ok(match machine.facts().no_cpu_off.filter(|_| turns_off) {
        Some(why) => ended(Status::Failed(Failure::NoCpuOff(why))),
        None => measured,
    })
}
