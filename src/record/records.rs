//! What goes into the [`super::line`]s of a run.

use core::fmt::{self, Write};

use arrayvec::ArrayString;

use super::line::{FORMAT, Recorder, Type};
use super::points::summary_fields;
use crate::measure::{
    Cause, Counter, Detail, Facts, Fault, Identity, Loss, Metric, Outcome, Reason, Rejection,
    Summary,
};
use crate::model::{Failure, Row, Run, Skip, Status, TestReport, WakeSource};
use crate::plan::{Method, Methods, Plan, ScenarioId, TimerPlan};
use crate::spec::caches::Key as CacheKey;
use crate::spec::pmf::Stamp;

/// Prints one copy of a run's records; the same arguments give the same copy.
///
/// # Errors
/// Those of `out`.
pub fn records(out: &mut dyn Write, run: &Run<'_>, tests: &[TestReport<'_>]) -> fmt::Result {
    let mut to = Recorder::new(out);
    whole_run(&mut to, run, tests);
    for test in tests {
        whole_test(&mut to, test);
        // The helper has nothing to tell of.
        let rows = test.rows.iter().filter(|row| test.helper != Some(row.cpu));
        for row in rows {
            let key = Key {
                test,
                mpidr: run.cpu(row.cpu.into()).mpidr,
            };
            whole_row(&mut to, &key, row);
            // One for each CPU, for each place.
            let places = test.samples.chunks(run.cpus.len().max(1));
            for (place, samples) in places.take(row.valid as usize).enumerate() {
                if let Some(sample) = samples.get(usize::from(row.cpu)) {
                    to.begin(Type::Sample, &format_args!("{key}k={place} "));
                    instants(&mut to, test.pmf, sample);
                }
            }
        }
        super::points::points(&mut to, run, test);
    }
    to.end()
}

/// What was asked of the timers.
fn timer(to: &mut Recorder<'_>, timer: &TimerPlan) {
    let numbers = [timer.duration, timer.period, timer.footprint].map(u64::from);
    to.numbers("duration period footprint", &numbers);
    to.number_if("threshold", timer.threshold.map(u64::from));
    to.field("stress", &timer.load_list());
    to.field("timers", &timer.timer_list());
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
        let (place, method) = (self.0.scenario.number(), self.0.method.word());
        write!(f, "t={place} by={method} ")?;
        match self.0.helper {
            Some(helper) => write!(f, "helper={} ", u64::from(helper)),
            None => Ok(()),
        }
    }
}

fn whole_run(to: &mut Recorder<'_>, run: &Run<'_>, tests: &[TestReport<'_>]) {
    to.begin(Type::Run, &"");
    to.number("format", FORMAT.into());
    to.word("version", run.version);
    to.numbers("cpus tests", &[run.cpus.len() as u64, tests.len() as u64]);
    to.word("labels", run.labels.word());
    to.word("model", run.model);
    to.finish();

    facts(to, run.facts);
    plan(to, run.plan);
    for (index, cpu) in run.cpus.iter().enumerate() {
        to.begin(Type::Cpu, &format_args!("i={index} "));
        to.hex("mpidr", cpu.mpidr);
        let labels = [cpu.cluster, cpu.core, cpu.thread].map(u64::from);
        to.numbers("cluster core thread", &labels);
        // One that was lost may come late, and say so between the two copies.
        let mut rows = tests.iter().flat_map(|test| test.rows);
        let is_lost = rows.any(|row| usize::from(row.cpu) == index && row.lost.is_some());
        let identity = if is_lost { None } else { (run.identity)(index) };
        if let Some(identity) = identity {
            let Identity { midr, caches, .. } = identity;
            to.hex("midr", midr);
            to.number_if("mhz", identity.clock_mhz);
            for cache in caches.iter() {
                let mut key = ArrayString::<{ CacheKey::LEN }>::new();
                // There is room.
                let _ = write!(key, "{}", cache.key());
                to.number(&key, cache.bytes);
            }
        }
        to.finish();
    }
}

fn facts(to: &mut Recorder<'_>, facts: &Facts) {
    to.begin(Type::Facts, &"");
    to.number("hz", facts.frequency);
    to.word("counter", facts.counter.name());
    to.word("timer", facts.timer.word());
    let (level, gic) = (facts.exception_level.into(), facts.gic.into());
    to.numbers("intid el gic", &[facts.timer_intid.into(), level, gic]);
    if facts.e2h {
        to.number("e2h", 1);
    }
    if let Counter::PhysicalTwice(erratum) = facts.counter {
        to.word("counter_erratum", erratum.name());
    }
    if let Ok(frame) = facts.frame {
        to.hex("frame", frame.base);
        to.number("frame_intid", frame.intid.into());
    }
    to.word("conduit", facts.conduit.word());
    to.hex("psci", facts.psci_version.into());
    if let Some(smccc) = facts.smccc {
        to.hex("smccc", smccc.into());
    }
    if let Some(service) = &facts.service {
        to.field("service", service);
        if let Some([major, minor]) = service.revision {
            to.field("service_revision", &format_args!("{major}.{minor}"));
        }
    }
    to.word("state_format", facts.state_format.name());
    to.number("lead", facts.lead as u64);
    to.hex("midr", facts.own.midr);
    match facts.pmf {
        Ok(interface) => to.hex("pmf", interface.get_timestamp().into()),
        Err(error) => to.field("pmf_error", &error),
    }
    if let Ok(watchdog) = facts.watchdog {
        to.hex("watchdog", watchdog.base);
    }
    to.number("stat", facts.stat.into());
    let costs = &facts.overheads;
    to.numbers("cost_counter cost_empty", &[costs.counter, costs.empty]);
    to.number_if("cost_pmf", costs.pmf_read);
    to.finish();
}

fn plan(to: &mut Recorder<'_>, plan: &Plan) {
    to.begin(Type::Plan, &"");
    let (iterations, warmup) = (plan.iterations.into(), plan.warmup.into());
    let scenarios = plan.scenarios.len() as u64;
    to.numbers(
        "iterations warmup scenarios",
        &[iterations, warmup, scenarios],
    );
    let methods = match plan.methods {
        Methods::Tftf => "tftf",
        Methods::Warm => "warm",
        Methods::Both => "tftf,warm",
    };
    to.word("methods", methods);
    let wake = |method| plan.wake_by(method).word();
    match (plan.methods, plan.wake) {
        // Each method has its own.
        (Methods::Both, None) => to.field(
            "wake",
            &format_args!("{},{}", wake(Method::Tftf), wake(Method::Warm)),
        ),
        _ => to.word("wake", wake(plan.methods.first())),
    }
    to.word("end", plan.end.word());
    if plan.samples {
        to.word("samples", "all");
    }
    to.number_if("loops", plan.loops.map(u64::from));
    if plan.scenarios.iter().any(ScenarioId::is_micro) {
        to.number("batch", plan.batches().0.into());
    }
    if plan.scenarios.contains(ScenarioId::TimerLatency) {
        timer(to, &plan.timer);
    }
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            to.hex(key, state.into());
        }
    }
    to.finish();
}

fn whole_test(to: &mut Recorder<'_>, test: &TestReport<'_>) {
    to.begin(Type::Test, &TestKey(test));
    to.word("tag", test.scenario.tag());
    match test.status {
        Status::Passed => to.word("status", "passed"),
        Status::Skipped(skip) => {
            to.word("status", "skipped");
            skipped(to, "why", skip);
        }
        Status::Failed(failure) => {
            to.word("status", "failed");
            failed(to, failure);
        }
    }
    to.number("pmf", test.pmf.into());
    if let Some(state) = test.power_state {
        to.hex("state", state.into());
    }
    if test.wake_source != WakeSource::OwnTimers {
        to.word("waker", test.wake_source.word());
    }
    let (asked, attempts) = (test.asked.into(), test.attempts.into());
    let counts = [asked, attempts, test.sleep, test.trials.into()];
    to.numbers("asked attempts sleep trials", &counts);
    to.finish();
    if test.skew.n > 0 {
        to.begin(
            Type::Summary,
            &format_args!("{}metric=skew ", TestKey(test)),
        );
        summary(to, &test.skew);
    }
}

fn skipped(to: &mut Recorder<'_>, key: &str, skip: Skip) {
    let why = match skip {
        Skip::NoIdleState => "no-idle-state",
        Skip::OtherFormat(_) => "other-format",
        Skip::NotSupported(_) => "not-supported",
        Skip::TimerStops(_) => "timer-stops",
        Skip::NotTried { .. } => "not-tried",
        Skip::NoHelper => "no-helper",
        Skip::NoGic => "no-gic",
        Skip::NoInterrupts => "no-interrupts",
        Skip::NoZero => "no-zero",
        Skip::NoSgi => "no-sgi",
        Skip::NoPmu => "no-pmu",
        Skip::NoPmf => "no-pmf",
        Skip::OneCpu => "one-cpu",
        Skip::NoCacheSize => "no-cache-size",
        Skip::TooFewCpus => "too-few-cpus",
        Skip::ModeRefused(_) => "mode-refused",
        Skip::SgiDidNotWake { .. } => "sgi-did-not-wake",
    };
    to.word(key, why);
    match skip {
        Skip::OtherFormat(format) => to.word("takes", format.name()),
        Skip::NotSupported(function) => to.hex("function", function.into()),
        Skip::TimerStops(why) => to.field("no_frame", &why),
        Skip::ModeRefused(error) => to.field("error", &error),
        Skip::SgiDidNotWake { mpidr, power_state } | Skip::NotTried { mpidr, power_state } => {
            to.hex("cpu", mpidr);
            to.hex("from", power_state.into());
        }
        _ => {}
    }
}

fn failed(to: &mut Recorder<'_>, failure: Failure) {
    let (why, cpu) = match failure {
        Failure::TooFewSamples { cpu, .. } => ("too-few-samples", Some(cpu)),
        Failure::StateRefused { .. } => ("state-refused", None),
        Failure::CpuLost { cpu, .. } => ("cpu-lost", Some(cpu)),
        Failure::NotCalibrated { cpu, .. } => ("not-calibrated", Some(cpu)),
        Failure::Timer { cpu, .. } => ("timer", Some(cpu)),
        Failure::GaveUp { cpu, .. } => ("gave-up", Some(cpu)),
        Failure::ModeStuck(_) => ("mode-stuck", None),
        Failure::WrongAnswer { cpu, .. } => ("wrong-answer", Some(cpu)),
    };
    to.word("why", why);
    to.number_if("why_cpu", cpu.map(u64::from));
    match failure {
        Failure::TooFewSamples { valid, .. } => to.number("valid", valid.into()),
        Failure::StateRefused { error, .. } => to.field("error", &error),
        Failure::CpuLost { loss, .. } => loss_fields(to, loss),
        Failure::NotCalibrated { last, .. } => rejection(to, last),
        Failure::GaveUp { .. } => {}
        Failure::Timer { fault, .. } => {
            let (word, number) = match fault {
                Fault::Pending => ("pending", None),
                Fault::Stray(intid) => ("stray", Some(("intid", intid.into()))),
                Fault::Spurious => ("spurious", None),
                Fault::Silent => ("silent", None),
                Fault::Late(ticks) => ("late", Some(("ticks", ticks))),
            };
            to.word("fault", word);
            if let Some((key, number)) = number {
                to.number(key, number);
            }
        }
        Failure::ModeStuck(error) => to.field("error", &error),
        Failure::WrongAnswer {
            variant, answer, ..
        } => {
            to.word("call", variant);
            to.signed("answer", answer.into());
        }
    }
}

fn whole_row(to: &mut Recorder<'_>, key: &Key<'_>, row: &Row) {
    let test = key.test;
    let first = match test.scenario {
        ScenarioId::PsciVersionParallel => Metric::Latency,
        _ => Metric::Powerdown,
    };
    to.begin(Type::Row, key);
    if test.helper.is_none() {
        to.number_if("woken_by", row.helper.map(u64::from));
    }
    if let Some(skip) = row.skipped {
        skipped(to, "skipped", skip);
    }
    to.number_if(first.key(), row.figures.powerdown);
    to.number_if("wakeup", row.figures.wakeup);
    to.number_if("cflush", row.figures.cache_flush);
    let counts = [row.valid, row.rejected_total()].map(u64::from);
    to.numbers("valid rejected", &counts);
    to.finish();

    for metric in Metric::ALL {
        if let Some(figures) = row.summary(metric) {
            let metric = metric.key();
            to.begin(Type::Summary, &format_args!("{key}metric={metric} "));
            summary(to, figures);
        }
    }
    if let Some(shown) = &row.shown {
        to.begin(Type::Event, key);
        instants(to, test.pmf, shown);
    }
    if let Some(cold) = &row.cold {
        to.begin(Type::Cold, key);
        for metric in Metric::ALL {
            to.number_if(metric.key(), cold.metric(metric, test.pmf));
        }
        to.finish();
    }
    to.begin(Type::Rejected, key);
    for (reason, count) in Reason::ALL.into_iter().zip(row.rejected) {
        if count > 0 {
            to.number(reason.key(), count.into());
        }
    }
    to.finish();
    if let Some(first) = row.first_rejection {
        to.begin(Type::First, key);
        rejection(to, first);
        to.finish();
    }
    if let Some(reached) = row.reached {
        to.begin(Type::Reached, key);
        to.hex("due", reached.due.into());
        to.hex("state", reached.state.unwrap_or(0).into());
        let rose = [reached.times.into(), reached.residency_us.into()];
        to.numbers("rose residency_us", &rose);
        to.finish();
    }
    if let Some(loss) = row.lost {
        to.begin(Type::Lost, key);
        loss_fields(to, loss);
        to.finish();
    }
}

/// Fields of a summary, and the record's end.
fn summary(to: &mut Recorder<'_>, figures: &Summary) {
    summary_fields(to, figures);
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
    to.number("base", base);
    let mut relative = |keys: &str, instants: &[u64]| {
        for (key, at) in keys.split_ascii_whitespace().zip(instants) {
            if *at != 0 {
                to.signed(key, at.wrapping_sub(base).cast_signed());
            }
        }
    };
    relative("before", &[shown.before]);
    if pmf {
        // In time; another call's are old ones.
        let path = shown.path();
        let is_written = |stamp| path.is_some_and(|path| path.captures(stamp));
        let stamp = |stamp| is_written(stamp).then(|| shown.stamps.at(stamp));
        let stamps = Stamp::IN_TIME.map(|it| stamp(it).unwrap_or(0));
        relative("s0 s4 s5 s2 s3 s1", &stamps);
    }
    let Outcome { due, after, .. } = *shown;
    let (turned_on, entered, seen_off) = (shown.turned_on, shown.entered, shown.seen_off);
    let rest = [due, after, turned_on, entered, seen_off];
    relative("due after turned_on entered seen_off", &rest);
    to.finish();
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
    to.word("step", loss.step.word());
    let cause = match loss.cause {
        Cause::Timeout => "timeout",
        Cause::Exception => "exception",
        Cause::Context => "context",
        Cause::Firmware(_) => "firmware",
    };
    to.word("cause", cause);
    if let Cause::Firmware(error) = loss.cause {
        to.field("error", &error);
    }
}
