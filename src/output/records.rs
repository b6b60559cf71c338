//! What goes into the [`super::record`]s of a run.

use core::fmt::{self, Write};

use super::Run;
use super::record::{FORMAT, Recorder, Type};
use crate::board::LabelSource;
use crate::image::Conduit;
use crate::plan::{EndAction, Methods, ScenarioId};
use crate::pmf::Stamp;
use crate::psci::StateFormat;
use crate::report::{Failure, Row, Skip, Status, TestReport};
use crate::sample::{Action, Cause, Detail, Loss, Metric, Outcome, Reason, Rejection, Step};
use crate::stats::Summary;

/// Prints one copy of a run's records; the same arguments give the same copy.
///
/// # Errors
/// Those of `out`.
pub fn records(out: &mut dyn Write, run: &Run<'_>, tests: &[TestReport<'_>]) -> fmt::Result {
    let mut to = Recorder::new(out);
    whole_run(&mut to, run, tests.len())?;
    for test in tests {
        whole_test(&mut to, test)?;
        for row in test.rows {
            let key = Key {
                test,
                mpidr: run.cpu(row.cpu.into()).mpidr,
            };
            whole_row(&mut to, &key, row)?;
        }
    }
    to.end()
}

/// The leading keys of whatever is about one CPU in one scenario.
struct Key<'k> {
    test: &'k TestReport<'k>,
    mpidr: u64,
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}mpidr={:#x} ", TestKey(self.test), self.mpidr)
    }
}

/// The leading keys of whatever is about one scenario.
struct TestKey<'k>(&'k TestReport<'k>);

impl fmt::Display for TestKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, method) = (self.0.scenario.index() + 1, self.0.method.word());
        write!(f, "t={place} by={method} ")
    }
}

fn whole_run(to: &mut Recorder<'_>, run: &Run<'_>, tests: usize) -> fmt::Result {
    to.begin(Type::Run, format_args!(""))?;
    to.field("format", &FORMAT)?;
    to.field("version", &run.version)?;
    to.field("cpus", &run.cpus.len())?;
    to.field("tests", &tests)?;
    let labels = match run.labels {
        LabelSource::CpuMap => "cpu-map",
        LabelSource::Mpidr => "mpidr",
    };
    to.field("labels", &labels)?;
    to.field("model", &run.model)?;
    to.finish()?;

    facts(to, run)?;
    plan(to, run)?;
    for (index, cpu) in run.cpus.iter().enumerate() {
        to.begin(Type::Cpu, format_args!("i={index} "))?;
        to.field("mpidr", &format_args!("{:#x}", cpu.mpidr))?;
        to.field("cluster", &cpu.cluster)?;
        to.field("core", &cpu.core)?;
        to.field("thread", &cpu.thread)?;
        to.finish()?;
    }
    Ok(())
}

fn facts(to: &mut Recorder<'_>, run: &Run<'_>) -> fmt::Result {
    let facts = run.facts;
    to.begin(Type::Facts, format_args!(""))?;
    to.field("hz", &facts.frequency)?;
    to.field("counter", &facts.counter.name())?;
    to.field("timer", &facts.timer)?;
    to.field("intid", &facts.timer_intid)?;
    to.field("el", &facts.exception_level)?;
    to.field("gic", &facts.gic)?;
    let conduit = match facts.conduit {
        Conduit::Smc => "smc",
        Conduit::Hvc => "hvc",
    };
    to.field("conduit", &conduit)?;
    to.field("psci", &format_args!("{:#x}", facts.psci_version))?;
    let format = match facts.state_format {
        StateFormat::Original => "original",
        StateFormat::Extended => "extended",
    };
    to.field("state_format", &format)?;
    to.field("lead", &facts.lead)?;
    to.field("midr", &format_args!("{:#x}", facts.midr))?;
    match facts.pmf {
        Ok(interface) => to.field("pmf", &format_args!("{:#x}", interface.get_timestamp()))?,
        Err(error) => to.field("pmf_error", &error)?,
    }
    to.field("cost_counter", &facts.overheads.counter)?;
    to.field("cost_empty", &facts.overheads.empty)?;
    to.field_if("cost_pmf", facts.overheads.pmf_read)?;
    to.finish()
}

fn plan(to: &mut Recorder<'_>, run: &Run<'_>) -> fmt::Result {
    let plan = run.plan;
    to.begin(Type::Plan, format_args!(""))?;
    to.field("iterations", &plan.iterations)?;
    to.field("warmup", &plan.warmup)?;
    to.field("scenarios", &plan.scenarios.len())?;
    let methods = match plan.methods {
        Methods::Tftf => "tftf",
        Methods::Warm => "warm",
        Methods::Both => "tftf,warm",
    };
    to.field("methods", &methods)?;
    to.field("wake", &plan.wake.word())?;
    let end = match plan.end {
        EndAction::Off => "off",
        EndAction::Park => "park",
        EndAction::Reset => "reset",
    };
    to.field("end", &end)?;
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            to.field(key, &format_args!("{state:#x}"))?;
        }
    }
    to.finish()
}

fn whole_test(to: &mut Recorder<'_>, test: &TestReport<'_>) -> fmt::Result {
    to.begin(Type::Test, format_args!("{}", TestKey(test)))?;
    to.field("tag", &test.scenario.tag())?;
    match test.status {
        Status::Passed => to.field("status", &"passed")?,
        Status::Skipped(skip) => {
            to.field("status", &"skipped")?;
            skipped(to, skip)?;
        }
        Status::Failed(failure) => {
            to.field("status", &"failed")?;
            failed(to, failure)?;
        }
    }
    to.field("pmf", &u8::from(test.pmf))?;
    if let Some(state) = test.power_state {
        to.field("state", &format_args!("{state:#x}"))?;
    }
    to.field("asked", &test.asked)?;
    to.field("attempts", &test.attempts)?;
    to.field("sleep", &test.sleep)?;
    to.field("trials", &test.trials)?;
    to.finish()?;
    if test.skew.n > 0 {
        to.begin(Type::Summary, format_args!("{}metric=skew ", TestKey(test)))?;
        summary(to, &test.skew)?;
    }
    Ok(())
}

fn skipped(to: &mut Recorder<'_>, skip: Skip) -> fmt::Result {
    match skip {
        Skip::NoIdleState => to.field("why", &"no-idle-state"),
        Skip::NotSupported(function) => {
            to.field("why", &"not-supported")?;
            to.field("function", &format_args!("{function:#x}"))
        }
        Skip::TimerStops => to.field("why", &"timer-stops"),
        Skip::TrustedOs => to.field("why", &"trusted-os"),
    }
}

fn failed(to: &mut Recorder<'_>, failure: Failure) -> fmt::Result {
    match failure {
        Failure::TooFewSamples { cpu, valid, .. } => {
            to.field("why", &"too-few-samples")?;
            to.field("why_cpu", &cpu)?;
            to.field("valid", &valid)
        }
        Failure::StateRefused { error, .. } => {
            to.field("why", &"state-refused")?;
            to.field("error", &error)
        }
        Failure::CpuLost { cpu, loss } => {
            to.field("why", &"cpu-lost")?;
            to.field("why_cpu", &cpu)?;
            loss_fields(to, loss)
        }
        Failure::NotCalibrated { last, cpu, .. } => {
            to.field("why", &"not-calibrated")?;
            to.field("why_cpu", &cpu)?;
            rejection(to, last)
        }
        Failure::RetriesExhausted => to.field("why", &"retries-exhausted"),
    }
}

fn whole_row(to: &mut Recorder<'_>, key: &Key<'_>, row: &Row) -> fmt::Result {
    let test = key.test;
    let first = match test.scenario {
        ScenarioId::PsciVersionParallel => Metric::Latency,
        _ => Metric::Powerdown,
    };
    to.begin(Type::Row, format_args!("{key}"))?;
    to.field_if(first.key(), row.figures.powerdown)?;
    to.field_if(Metric::Wakeup.key(), row.figures.wakeup)?;
    to.field_if(Metric::CacheFlush.key(), row.figures.cache_flush)?;
    to.field("valid", &row.valid)?;
    to.field("rejected", &row.rejected_total())?;
    to.finish()?;

    for metric in Metric::ALL {
        if let Some(figures) = row.summary(metric) {
            to.begin(Type::Summary, format_args!("{key}metric={} ", metric.key()))?;
            summary(to, figures)?;
        }
    }
    if let Some(shown) = &row.shown {
        event(to, key, shown)?;
    }
    if let Some(cold) = &row.cold {
        to.begin(Type::Cold, format_args!("{key}"))?;
        for metric in Metric::ALL {
            to.field_if(metric.key(), cold.metric(metric, test.pmf))?;
        }
        to.finish()?;
    }
    to.begin(Type::Rejected, format_args!("{key}"))?;
    for reason in Reason::ALL {
        let count = row.rejected[reason as usize];
        to.field_if(reason_key(reason), Some(count).filter(|n| *n > 0))?;
    }
    to.finish()?;
    if let Some(first) = row.first_rejection {
        to.begin(Type::First, format_args!("{key}"))?;
        rejection(to, first)?;
        to.finish()?;
    }
    if let Some(loss) = row.lost {
        to.begin(Type::Lost, format_args!("{key}"))?;
        loss_fields(to, loss)?;
        to.finish()?;
    }
    Ok(())
}

/// Fields of a summary, and the record's end.
fn summary(to: &mut Recorder<'_>, figures: &Summary) -> fmt::Result {
    to.field("n", &figures.n)?;
    to.field("min", &figures.min)?;
    to.field("med", &figures.median)?;
    to.field_if("p99", figures.p99)?;
    to.field("max", &figures.max)?;
    to.field("mad", &figures.mad)?;
    to.finish()
}

/// The instants of one sample, so that it can be drawn on a time line.
fn event(to: &mut Recorder<'_>, key: &Key<'_>, shown: &Outcome) -> fmt::Result {
    // A serial sample of CPU_OFF may have no agreed start.
    let base = if shown.start == 0 {
        shown.before
    } else {
        shown.start
    };
    let relative = |at: u64| (at != 0).then(|| at.wrapping_sub(base).cast_signed());
    to.begin(Type::Event, format_args!("{key}"))?;
    to.field("base", &base)?;
    to.field_if("before", relative(shown.before))?;
    if key.test.pmf {
        for stamp in Stamp::IN_TIME {
            if is_written(shown.action, stamp) {
                let name = ["s0", "s1", "s2", "s3", "s4", "s5"][stamp as usize];
                to.field_if(name, relative(shown.stamps.at(stamp)))?;
            }
        }
    }
    to.field_if("due", relative(shown.due))?;
    to.field_if("after", relative(shown.after))?;
    to.field_if("turned_on", relative(shown.turned_on))?;
    to.field_if("entered", relative(shown.entered))?;
    to.field_if("seen_off", relative(shown.seen_off))?;
    to.finish()
}

/// Whether the call writes this timestamp: another's value is an old one.
fn is_written(action: Action, stamp: Stamp) -> bool {
    use Stamp::{EnterCflush, EnterPsci, ExitCflush, ExitPsci};
    match action {
        Action::None => false,
        Action::Version => matches!(stamp, EnterPsci | ExitPsci),
        Action::Suspend {
            powerdown: false, ..
        } => !matches!(stamp, EnterCflush | ExitCflush),
        Action::Suspend { .. } | Action::Off | Action::ReadBack => true,
    }
}

fn rejection(to: &mut Recorder<'_>, rejection: Rejection) -> fmt::Result {
    to.field("reason", &rejection.reason.key())?;
    match rejection.detail {
        Detail::None => Ok(()),
        Detail::Firmware(error) => to.field("error", &error),
        Detail::Stamp(stamp) => to.field("stamp", &(stamp as usize)),
        Detail::Pmf(error) => to.field("error", &error),
        Detail::Loss(loss) => loss_fields(to, loss),
    }
}

fn loss_fields(to: &mut Recorder<'_>, loss: Loss) -> fmt::Result {
    let step = match loss.step {
        Step::TurnOn => "turn-on",
        Step::Arrive => "arrive",
        Step::Begin => "begin",
        Step::Finish => "finish",
        Step::TurnOff => "turn-off",
    };
    to.field("step", &step)?;
    match loss.cause {
        Cause::Timeout => to.field("cause", &"timeout"),
        Cause::Exception => to.field("cause", &"exception"),
        Cause::Firmware(error) => {
            to.field("cause", &"firmware")?;
            to.field("error", &error)
        }
    }
}

/// A reason's name as a key.
fn reason_key(reason: Reason) -> &'static str {
    match reason {
        Reason::EarlyWake => "early_wake",
        Reason::PmfRead => "pmf_read",
        Reason::CounterStopped => "counter_stopped",
        other => other.key(),
    }
}
