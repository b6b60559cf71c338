//! Why a scenario, or a row of it, was skipped or failed, in words.

use core::fmt::{self, Write};

use crate::measure::Fault;
use crate::model::{Failure, LEFT_OUT, Run, Skip, Status, TestReport};
use crate::plan::{Method, ScenarioId};
use crate::spec::prose::{Prose, listed, paragraph};

/// A `power_state` as it is printed.
pub(crate) struct State(pub u32);

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", u64::from(self.0))
    }
}

/// A scenario's result as one word.
pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "Passed",
        Status::Skipped(_) => "Skipped",
        Status::Failed(_) => "Failed",
    }
}

/// What comes before a scenario is measured that stands outside TFTF's frame.
pub(crate) fn begin_test(out: &mut dyn Write, scenario: ScenarioId) -> fmt::Result {
    paragraph(out, "", 2, &mut |line| {
        line.write_str(scenario.name())?;
        line.write_str(if scenario.is_suite() {
            ", CPUs kept on between samples"
        } else {
            ""
        })
    })
}

/// Its result.
pub(crate) fn result(out: &mut dyn Write, run: &Run<'_>, status: Status) -> fmt::Result {
    match status {
        Status::Passed => writeln!(out, "  {}", word(status)),
        Status::Skipped(_) | Status::Failed(_) => why(out, run, status),
    }
}

/// A line that says why, unless the scenario passed.
pub(crate) fn why(out: &mut dyn Write, run: &Run<'_>, status: Status) -> fmt::Result {
    let result = match status {
        Status::Passed => return Ok(()),
        other => word(other),
    };
    paragraph(out, "  ", 4, &mut |line| {
        write!(line, "{result}: ")?;
        match status {
            Status::Passed => Ok(()),
            Status::Skipped(skip) => skipped(line, skip),
            Status::Failed(failure) => failed(line, run, failure),
        }
    })
}

/// Names what was skipped, and why: each scenario, and the rows of one that
/// share a reason. Writes nothing where nothing was skipped.
pub(crate) fn skips(out: &mut dyn Write, run: &Run<'_>, tests: &[TestReport<'_>]) -> fmt::Result {
    let mut any = false;
    for test in tests {
        if let Status::Skipped(skip) = test.status {
            named(out, test, &mut |line| {
                line.write_str(": ")?;
                skipped(line, skip)
            })?;
            any = true;
        }
        for (place, row) in test.rows.iter().enumerate() {
            let Some(skip) = row.skipped else { continue };
            let earlier = test.rows.iter().take(place);
            if earlier
                .into_iter()
                .any(|other| other.skipped == row.skipped)
            {
                continue;
            }
            let same = || test.rows.iter().filter(|it| it.skipped == row.skipped);
            named(out, test, &mut |line| {
                line.write_str(", CPU ")?;
                listed(line, &mut same().map(|row| run.label(row.cpu.into())))?;
                line.write_str(": ")?;
                skipped(line, skip)
            })?;
            any = true;
        }
        any |= left_out(out, test)?;
    }
    if any { out.write_char('\n') } else { Ok(()) }
}

/// Names the steps and states that a scenario left out; false without any.
fn left_out(out: &mut dyn Write, test: &TestReport<'_>) -> Result<bool, fmt::Error> {
    let contends = test.scenario == ScenarioId::ContendSweep;
    let why = if contends {
        Some(Skip::TooFewCpus)
    } else {
        test.left_out[0]
    };
    let points = test.points.iter().filter(|it| it.variant == LEFT_OUT);
    let mut steps = points.filter_map(|point| u32::try_from(point.x?).ok());
    let (Some(why), Some(_)) = (why, steps.clone().next()) else {
        return Ok(false);
    };
    if matches!(test.status, Status::Skipped(_)) {
        return Ok(false);
    }
    named(out, test, &mut |line| {
        if contends {
            line.write_str(", contend=")?;
            listed(line, &mut steps)?;
        } else {
            line.write_str(", power_state ")?;
            listed(line, &mut steps.by_ref().map(State))?;
        }
        line.write_str(": ")?;
        skipped(line, why)
    })?;
    Ok(true)
}

/// A line that names what of a scenario was skipped.
fn named(
    out: &mut dyn Write,
    test: &TestReport<'_>,
    rest: &mut dyn FnMut(&mut Prose<'_>) -> fmt::Result,
) -> fmt::Result {
    paragraph(out, "Skipped: ", 2, &mut |line| {
        line.write_str(test.scenario.tag())?;
        if test.scenario.is_suite() && test.method == Method::Warm {
            line.write_str(", method warm")?;
        }
        rest(line)
    })
}

pub(crate) fn skipped(line: &mut Prose<'_>, skip: Skip) -> fmt::Result {
    match skip {
        Skip::NoIdleState => line.write_str(
            "the board names no idle state of this kind; deepest= or core= can give one",
        ),
        Skip::OtherFormat(format) => {
            let (takes, has) = (format.name(), format.other().name());
            write!(
                line,
                "the firmware takes {takes} power_state values; the device tree has {has} ones. \
                 Use a tree with {takes} ones (--state-format, --deepest and --core of cargo \
                 xtask make one), or give the values by deepest= and core="
            )
        }
        Skip::NotSupported(id) => {
            let id = u64::from(id);
            write!(line, "the firmware does not implement function {id:#010x}")
        }
        Skip::TimerStops(why) => {
            write!(line, "the idle state stops the CPUs' own timers, and {why}")
        }
        Skip::NoInterrupts => line.write_str("no GIC, and so no interrupt of a timer"),
        Skip::NoZero => line.write_str("DC ZVA is prohibited here (DCZID_EL0.DZP)"),
        Skip::NoSgi => line.write_str("no GIC, and so no SGI"),
        Skip::NoPmu => line.write_str("the CPU has no performance monitors"),
        Skip::NoPmf => line.write_str("PMF's timestamps can not be read"),
        Skip::OneCpu => line.write_str("there is no other CPU to turn on"),
        Skip::NoCacheSize => line.write_str(
            "neither the CPU nor the device tree tells how large a cache is; dirty= can give steps",
        ),
        Skip::TooFewCpus => line.write_str(
            "there are fewer CPUs than contend= asks for; where the CPUs' own timers stop, one \
             more stays awake",
        ),
        Skip::ModeRefused(error) => {
            write!(line, "SET_SUSPEND_MODE is advertised, and returned {error}")
        }
        Skip::NoGic => line.write_str("no GIC: nothing could wake a suspended CPU"),
        Skip::NotTried { mpidr, power_state } => {
            let state = u64::from(power_state);
            write!(line, "no trial of {state:#010x} on CPU {mpidr:#x} was good")
        }
        Skip::NoHelper => line.write_str(
            "the idle state stops the CPUs' own timers, and there is no second CPU to wake the first",
        ),
        Skip::SgiDidNotWake { mpidr, power_state } => {
            let state = u64::from(power_state);
            write!(line, "SGI did not wake CPU {mpidr:#x} from {state:#010x}")
        }
    }
}

fn failed(line: &mut Prose<'_>, run: &Run<'_>, failure: Failure) -> fmt::Result {
    match failure {
        Failure::TooFewSamples { cpu, valid, asked } => write!(
            line,
            "CPU {} has {} valid samples of {} asked for, fewer than 90 %",
            run.label(cpu.into()),
            u64::from(valid),
            u64::from(asked)
        ),
        Failure::StateRefused {
            power_state,
            error,
            cpu,
        } => write!(
            line,
            "the firmware refuses power_state {:#010x} on CPU {}: {error}",
            u64::from(power_state),
            run.label(cpu.into())
        ),
        Failure::CpuLost { cpu, loss } => {
            write!(line, "CPU {} was lost: {loss}", run.label(cpu.into()))
        }
        Failure::NotCalibrated { sleep, last, cpu } => write!(
            line,
            "no trial round was good, with up to {} of sleep; the last one failed on CPU {}: {last}",
            run.unit().span(sleep),
            run.label(cpu.into())
        ),
        Failure::ModeStuck(error) => write!(
            line,
            "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
        ),
        Failure::Timer { cpu, fault } => {
            write!(line, "the timer of CPU {} ", run.label(cpu.into()))?;
            timer(line, run, fault)
        }
        Failure::GaveUp { variant, cpu } => write!(
            line,
            "{variant} did not come on CPU {}, or another interrupt did",
            run.label(cpu.into())
        ),
        Failure::WrongAnswer {
            variant,
            answer,
            cpu,
        } => write!(
            line,
            "{variant} came back with {} on CPU {}",
            answer,
            run.label(cpu.into())
        ),
    }
}

/// What was wrong with a CPU's timer.
fn timer(line: &mut Prose<'_>, run: &Run<'_>, fault: Fault) -> fmt::Result {
    match fault {
        Fault::Pending => {
            line.write_str("was not set, as an interrupt was pending that did not go away")
        }
        Fault::Stray(intid) => write!(line, "was left as interrupt {} came", u64::from(intid)),
        Fault::Spurious => line.write_str("was left as interrupts came that none was behind"),
        Fault::Silent => line.write_str("raised no interrupt any more"),
        Fault::Late(ticks) => write!(
            line,
            "was handled {} late, more than threshold= allows; what follows was not measured",
            run.unit().span(ticks)
        ),
    }
}
