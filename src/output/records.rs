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
    whole_run(&mut to, run, tests.len());
    for test in tests {
        whole_test(&mut to, test);
        for row in test.rows {
            let key = Key {
                test,
                mpidr: run.cpu(row.cpu.into()).mpidr,
            };
            whole_row(&mut to, &key, row);
            let own = test.samples.iter().skip(row.cpu.into());
            let own = own.step_by(run.cpus.len()).take(row.valid as usize);
            for (place, sample) in own.enumerate() {
                to.begin(Type::Sample, format_args!("{key}k={place} "));
                instants(&mut to, test.pmf, sample);
            }
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

fn whole_run(to: &mut Recorder<'_>, run: &Run<'_>, tests: usize) {
    to.begin(Type::Run, format_args!(""));
    to.number("format", FORMAT);
    to.word("version", run.version);
    to.number("cpus", run.cpus.len() as u64);
    to.number("tests", tests as u64);
    let labels = match run.labels {
        LabelSource::CpuMap => "cpu-map",
        LabelSource::Mpidr => "mpidr",
    };
    to.word("labels", labels);
    to.word("model", run.model);
    to.finish();

    facts(to, run);
    plan(to, run);
    for (index, cpu) in run.cpus.iter().enumerate() {
        to.begin(Type::Cpu, format_args!("i={index} "));
        to.hex("mpidr", cpu.mpidr);
        to.number("cluster", cpu.cluster);
        to.number("core", cpu.core);
        to.number("thread", cpu.thread);
        to.finish();
    }
}

fn facts(to: &mut Recorder<'_>, run: &Run<'_>) {
    let facts = run.facts;
    to.begin(Type::Facts, format_args!(""));
    to.number("hz", facts.frequency);
    to.word("counter", facts.counter.name());
    to.word("timer", facts.timer);
    to.number("intid", facts.timer_intid);
    to.number("el", facts.exception_level);
    to.number("gic", facts.gic);
    let conduit = match facts.conduit {
        Conduit::Smc => "smc",
        Conduit::Hvc => "hvc",
    };
    to.word("conduit", conduit);
    to.hex("psci", facts.psci_version);
    let format = match facts.state_format {
        StateFormat::Original => "original",
        StateFormat::Extended => "extended",
    };
    to.word("state_format", format);
    to.number("lead", facts.lead as u64);
    to.hex("midr", facts.midr);
    match facts.pmf {
        Ok(interface) => to.hex("pmf", interface.get_timestamp()),
        Err(error) => to.field("pmf_error", &error),
    }
    to.number("cost_counter", facts.overheads.counter);
    to.number("cost_empty", facts.overheads.empty);
    to.number_if("cost_pmf", facts.overheads.pmf_read);
    to.finish();
}

fn plan(to: &mut Recorder<'_>, run: &Run<'_>) {
    let plan = run.plan;
    to.begin(Type::Plan, format_args!(""));
    to.number("iterations", plan.iterations);
    to.number("warmup", plan.warmup);
    to.number("scenarios", plan.scenarios.len() as u64);
    let methods = match plan.methods {
        Methods::Tftf => "tftf",
        Methods::Warm => "warm",
        Methods::Both => "tftf,warm",
    };
    to.word("methods", methods);
    to.word("wake", plan.wake.word());
    let end = match plan.end {
        EndAction::Off => "off",
        EndAction::Park => "park",
        EndAction::Reset => "reset",
    };
    to.word("end", end);
    if plan.samples {
        to.word("samples", "all");
    }
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            to.hex(key, state);
        }
    }
    to.finish();
}

fn whole_test(to: &mut Recorder<'_>, test: &TestReport<'_>) {
    to.begin(Type::Test, format_args!("{}", TestKey(test)));
    to.word("tag", test.scenario.tag());
    match test.status {
        Status::Passed => to.word("status", "passed"),
        Status::Skipped(skip) => {
            to.word("status", "skipped");
            skipped(to, skip);
        }
        Status::Failed(failure) => {
            to.word("status", "failed");
            failed(to, failure);
        }
    }
    to.number("pmf", u8::from(test.pmf));
    if let Some(state) = test.power_state {
        to.hex("state", state);
    }
    to.number("asked", test.asked);
    to.number("attempts", test.attempts);
    to.number("sleep", test.sleep);
    to.number("trials", test.trials);
    to.finish();
    if test.skew.n > 0 {
        to.begin(Type::Summary, format_args!("{}metric=skew ", TestKey(test)));
        summary(to, &test.skew);
    }
}

fn skipped(to: &mut Recorder<'_>, skip: Skip) {
    match skip {
        Skip::NoIdleState => to.word("why", "no-idle-state"),
        Skip::NotSupported(function) => {
            to.word("why", "not-supported");
            to.hex("function", function)
        }
        Skip::TimerStops => to.word("why", "timer-stops"),
        Skip::TrustedOs => to.word("why", "trusted-os"),
    }
}

fn failed(to: &mut Recorder<'_>, failure: Failure) {
    match failure {
        Failure::TooFewSamples { cpu, valid, .. } => {
            to.word("why", "too-few-samples");
            to.number("why_cpu", cpu);
            to.number("valid", valid)
        }
        Failure::StateRefused { error, .. } => {
            to.word("why", "state-refused");
            to.field("error", &error)
        }
        Failure::CpuLost { cpu, loss } => {
            to.word("why", "cpu-lost");
            to.number("why_cpu", cpu);
            loss_fields(to, loss)
        }
        Failure::NotCalibrated { last, cpu, .. } => {
            to.word("why", "not-calibrated");
            to.number("why_cpu", cpu);
            rejection(to, last)
        }
        Failure::RetriesExhausted => to.word("why", "retries-exhausted"),
    }
}

fn whole_row(to: &mut Recorder<'_>, key: &Key<'_>, row: &Row) {
    let test = key.test;
    let first = match test.scenario {
        ScenarioId::PsciVersionParallel => Metric::Latency,
        _ => Metric::Powerdown,
    };
    to.begin(Type::Row, format_args!("{key}"));
    to.number_if(first.key(), row.figures.powerdown);
    to.number_if(Metric::Wakeup.key(), row.figures.wakeup);
    to.number_if(Metric::CacheFlush.key(), row.figures.cache_flush);
    to.number("valid", row.valid);
    to.number("rejected", row.rejected_total());
    to.finish();

    for metric in Metric::ALL {
        if let Some(figures) = row.summary(metric) {
            to.begin(Type::Summary, format_args!("{key}metric={} ", metric.key()));
            summary(to, figures);
        }
    }
    if let Some(shown) = &row.shown {
        to.begin(Type::Event, format_args!("{key}"));
        instants(to, test.pmf, shown);
    }
    if let Some(cold) = &row.cold {
        to.begin(Type::Cold, format_args!("{key}"));
        for metric in Metric::ALL {
            to.number_if(metric.key(), cold.metric(metric, test.pmf));
        }
        to.finish();
    }
    to.begin(Type::Rejected, format_args!("{key}"));
    for reason in Reason::ALL {
        let count = u64::from(row.rejected[reason as usize]);
        to.number_if(reason_key(reason), Some(count).filter(|n| *n > 0));
    }
    to.finish();
    if let Some(first) = row.first_rejection {
        to.begin(Type::First, format_args!("{key}"));
        rejection(to, first);
        to.finish();
    }
    if let Some(reached) = row.reached {
        to.begin(Type::Reached, format_args!("{key}"));
        to.hex("due", reached.due);
        to.hex("state", reached.state.unwrap_or(0));
        to.number("rose", reached.times);
        to.number("residency_us", reached.residency_us);
        to.finish();
    }
    if let Some(loss) = row.lost {
        to.begin(Type::Lost, format_args!("{key}"));
        loss_fields(to, loss);
        to.finish();
    }
}

/// Fields of a summary, and the record's end.
fn summary(to: &mut Recorder<'_>, figures: &Summary) {
    to.number("n", figures.n);
    to.number("min", figures.min);
    to.number("med", figures.median);
    to.number_if("p99", figures.p99);
    to.number("max", figures.max);
    to.number("mad", figures.mad);
    to.finish();
}

/// The instants of one sample, so that it can be drawn on a time line, and
/// the record's end.
fn instants(to: &mut Recorder<'_>, pmf: bool, shown: &Outcome) {
    // A serial sample of CPU_OFF may have no agreed start.
    let base = if shown.start == 0 {
        shown.before
    } else {
        shown.start
    };
    let relative = |at: u64| (at != 0).then(|| at.wrapping_sub(base).cast_signed());
    to.number("base", base);
    to.signed_if("before", relative(shown.before));
    if pmf {
        for stamp in Stamp::IN_TIME {
            if is_written(shown.action, stamp) {
                let name = ["s0", "s1", "s2", "s3", "s4", "s5"][stamp as usize];
                to.signed_if(name, relative(shown.stamps.at(stamp)));
            }
        }
    }
    to.signed_if("due", relative(shown.due));
    to.signed_if("after", relative(shown.after));
    to.signed_if("turned_on", relative(shown.turned_on));
    to.signed_if("entered", relative(shown.entered));
    to.signed_if("seen_off", relative(shown.seen_off));
    to.finish();
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

fn rejection(to: &mut Recorder<'_>, rejection: Rejection) {
    to.word("reason", rejection.reason.key());
    match rejection.detail {
        Detail::None => {}
        Detail::Firmware(error) => to.field("error", &error),
        Detail::Stamp(stamp) => to.number("stamp", stamp as u64),
        Detail::Pmf(error) => to.field("error", &error),
        Detail::Loss(loss) => loss_fields(to, loss),
    }
}

fn loss_fields(to: &mut Recorder<'_>, loss: Loss) {
    let step = match loss.step {
        Step::TurnOn => "turn-on",
        Step::Arrive => "arrive",
        Step::Begin => "begin",
        Step::Finish => "finish",
        Step::TurnOff => "turn-off",
    };
    to.word("step", step);
    match loss.cause {
        Cause::Timeout => to.word("cause", "timeout"),
        Cause::Exception => to.word("cause", "exception"),
        Cause::Context => to.word("cause", "context"),
        Cause::Firmware(error) => {
            to.word("cause", "firmware");
            to.field("error", &error)
        }
    }
}

/// A reason's name as a key.
fn reason_key(reason: Reason) -> &'static str {
    match reason {
        Reason::EarlyWake => "early_wake",
        Reason::NotRung => "not_rung",
        Reason::WrongContext => "wrong_context",
        Reason::PmfRead => "pmf_read",
        Reason::CounterStopped => "counter_stopped",
        other => other.key(),
    }
}
