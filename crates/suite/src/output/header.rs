//! The run header, which lists the conditions that must match for results to be comparable.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use crate::measure::{Facts, Identity};
use crate::model::{Head, Label, Run};
use crate::plan::{Key, Plan, is_foreign};
use hardware::board::{GicVersion, LabelSource, NoWatchdog};
use hardware::image::Conduit;
use hardware::spec::pmf::ReadError;
use hardware::spec::ticks::Hundredths;
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;
use hardware::text::untrusted::Excerpt;

use super::tftf_lines;

/// The number of spaces before a continuation line, which is the width of a line name.
const INDENT: usize = 15;

/// The warning about a CPU's power.
const KEPT_ON: &str = "kept on by a debugger (DBGPRCR_EL1.CORENPDRQ), so no power-down takes place";

/// The maximum length of the ignored words in the output, in characters.
const PASSED_OVER_MAX: usize = 1000;

/// Prints the first lines of a run.
pub fn print_header(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let (Some(head), Some(facts), Some(plan)) = (&run.head, &run.facts, &run.plan) else {
        return Ok(());
    };
    if run.has_tftf_lines() {
        tftf_lines::write_opening(out, facts.exception_level)?;
    }
    writeln!(out, "\npsci-bench {}", head.version)?;
    let Identity {
        caches, clock_mhz, ..
    } = facts.own;
    let lead_caches = (!caches.is_empty()).then(|| format!("{caches} (the lead's)"));
    let unknown = "unknown: KVM makes up CCSIDR_EL1 for its guests";
    let lead_clock = clock_mhz.map(|mhz| format!("{mhz} MHz (the lead's)"));
    let board_lines = [
        ("Run", run.id.map(|id| format!("{id}"))),
        ("Board", Some(head.model.clone())),
        ("CPUs", Some(cpus(run, head, facts))),
        ("Caches", lead_caches),
        ("Caches", facts.kvm.then(|| unknown.into())),
        ("CPU clock", lead_clock),
        ("Power", facts.own.power_kept_on.then(|| KEPT_ON.into())),
    ];
    let tables = "in parallel, the whole round whose longest figure is the median; in sequence, \
                  each CPU's medians";
    let has_suite = !plan.scenarios.suite().is_empty();
    let tables_line = ("Tables", has_suite.then(|| tables.into()));
    let lists: [&[_]; 3] = [&board_lines, &describe_conditions(run), &[tables_line]];
    for (name, text) in lists.into_iter().flatten() {
        if let Some(text) = text {
            paragraph(out, &format!("  {name:11}: "), INDENT, text)?;
        }
    }
    out.write_char('\n')
}

/// Prints the words in a loader's boot arguments that are ignored, if any.
pub fn print_ignored_words(out: &mut dyn Write, bootargs: &str) -> fmt::Result {
    let text = ForeignWords(bootargs);
    if text.words().next().is_none() {
        return Ok(());
    }
    paragraph(
        out,
        "Ignored boot arguments for another program: ",
        2,
        &text,
    )
}

/// The leading words of boot arguments intended for another program. These words are written
/// without using the heap: it is small until working memory is known, and a loader's arguments may
/// not fit.
struct ForeignWords<'a>(&'a str);

impl<'a> ForeignWords<'a> {
    fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let words = self.0.split_ascii_whitespace();
        words.filter(|word| is_foreign(word))
    }
}

impl fmt::Display for ForeignWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = PASSED_OVER_MAX;
        for word in self.words() {
            write!(f, "{} ", Excerpt(word, room))?;
            let Some(left) = room.checked_sub(word.chars().count()) else {
                break;
            };
            room = left;
        }
        Ok(())
    }
}

/// Returns the known conditions that depend on the machine, the firmware and the plan.
pub fn describe_conditions(run: &Run) -> [(&'static str, Option<String>); 9] {
    let facts = run.facts.as_ref();
    [
        ("Firmware", facts.map(firmware)),
        ("CPU_OFF", facts.and_then(no_cpu_off)),
        ("Timestamps", facts.map(timestamps)),
        ("Counter", facts.map(counter)),
        ("Emulator", emulator(run)),
        ("Wake-up", facts.map(wake_up)),
        ("Watchdog", facts.and_then(watchdog)),
        ("Overheads", facts.map(overheads)),
        ("Plan", run.plan.as_ref().map(plan_in_words)),
    ]
}

fn cpus(run: &Run, head: &Head, facts: &Facts) -> String {
    let lead = facts.lead;
    let source = match head.labels {
        LabelSource::CpuMap => "cpu-map",
        LabelSource::Mpidr => "MPIDR (there is no cpu-map)",
    };
    let clusters = Many(run.cluster_heads().count() as u64, "cluster");
    let (cpus, midr) = (run.cpus.len(), facts.own.midr);
    let label = run.label(lead);
    let mpidr = run
        .cpu(lead)
        .mpidr
        .map_or_else(String::new, |mpidr| format!("MPIDR {mpidr}, "));
    format!("{cpus} in {clusters}, by {source}; the lead is {label} ({mpidr}MIDR {midr:#x})")
}

/// Formats a version of PSCI or SMCCC: the major number is in bits 30:16 and the minor number in
/// bits 15:0.
pub fn version_text(number: u32) -> String {
    format!("{}.{}", number >> 16 & 0x7fff, number & 0xffff)
}

fn firmware(facts: &Facts) -> String {
    let conduit = match facts.conduit {
        Conduit::Smc => "SMC",
        Conduit::Hvc => "HVC",
    };
    let (psci, level) = (
        version_text(facts.psci_version),
        u32::from(facts.exception_level),
    );
    let e2h = if facts.e2h { ", E2H fixed at 1" } else { "" };
    let smccc = facts.smccc.map_or_else(String::new, |number| {
        format!(", SMCCC {}", version_text(number))
    });
    let format = facts.state_format.name();
    format!(
        "PSCI {psci} by {conduit} from EL{level}{e2h}{smccc}, power_state in the {format} format"
    )
}

fn no_cpu_off(facts: &Facts) -> Option<String> {
    let why = facts.no_cpu_off?;
    Some(format!(
        "not used: {why}. CPUs stay on between samples (warm method) and keep their clusters on \
         while another CPU is suspended alone"
    ))
}

fn timestamps(facts: &Facts) -> String {
    match facts.pmf {
        Ok(interface) => format!("PMF, by {interface}"),
        Err(ReadError::Argument) => "caller only: timestamps=caller".into(),
        Err(error) => format!("caller only; PMF cannot be read: {error}"),
    }
}

fn counter(facts: &Facts) -> String {
    let (counter, hz) = (facts.counter, facts.frequency);
    let register = facts.own.frequency;
    // The lead's registers are unknown if their record is lost.
    let by_tree = if register != hz && facts.own != Identity::default() {
        format!(" by the device tree's clock-frequency (CNTFRQ_EL0 is {register} Hz)")
    } else {
        String::new()
    };
    match facts.clock().tick_ps() {
        Some(tick) => {
            let ns = Hundredths(tick / 10);
            format!("{counter} at {hz} Hz{by_tree}, a tick is {ns} ns")
        }
        None => format!("{counter}; {hz} Hz{by_tree} cannot be right: all figures are in ticks"),
    }
}

/// Says what an emulator's clock measures; None if it is unknown whether there is an emulator.
fn emulator(run: &Run) -> Option<String> {
    let host_cpus = run.plan.as_ref()?.host_cpus?;
    let cpus = Many(run.cpus.len() as u64, "emulated CPU");
    let host_cpus_text = Many(host_cpus.into(), "host CPU");
    Some(match host_cpus {
        0 => "its clock counts instructions".into(),
        _ if run.shares_host_cpus() => format!(
            "its clock is the host's, and {cpus} share {host_cpus_text}, so times vary between \
             runs (--icount counts instructions instead)"
        ),
        _ => format!("its clock is the host's; {cpus} on {host_cpus_text}"),
    })
}

fn wake_up(facts: &Facts) -> String {
    let (timer, intid) = (facts.timer.word(), facts.timer_intid);
    let Some(gic) = facts.gic.map(GicVersion::number) else {
        return "none: no GIC".into();
    };
    match facts.frame {
        Ok(frame) => format!("{timer}, interrupt {intid}, GICv{gic}; if it stops, {frame}"),
        Err(_) => format!("{timer}, interrupt {intid}, GICv{gic}"),
    }
}

fn watchdog(facts: &Facts) -> Option<String> {
    match facts.watchdog {
        Ok(watchdog) => Some(format!("{watchdog}, if the lead does not return")),
        // Most boards have no watchdog in the device tree.
        Err(NoWatchdog::NotInTree) => None,
        Err(why) => Some(format!("{why}")),
    }
}

/// Prints which CPUs have a CNTFRQ_EL0 that differs from the lead's. Without `clock-frequency` in
/// the device tree, all results and deadlines are based on the lead's value. An operating system
/// uses each CPU's own value, or rejects the CPU.
pub(crate) fn frequencies(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let Some(hz) = run.facts.map(|facts| facts.own.frequency) else {
        return Ok(());
    };
    let differing_frequency =
        |identity: Identity| (identity.frequency != hz).then_some(identity.frequency);
    write_differing(
        out,
        run,
        "Warning: ",
        &differing_frequency,
        &|other, cpu| format!("CNTFRQ_EL0 is {other} Hz on CPU {cpu}, but {hz} Hz on the lead"),
    )
}

/// Prints a CPU's clock if it differs from the lead's by more than the measurement error, as on
/// boards with big and little cores.
pub(crate) fn cpu_clocks(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let Some(mhz) = run.facts.and_then(|facts| facts.own.clock_mhz) else {
        return Ok(());
    };
    let differing = |identity: Identity| {
        identity
            .clock_mhz
            .filter(|other| other.abs_diff(mhz) > mhz / 50)
    };
    write_differing(out, run, "Note: ", &differing, &|other, cpu| {
        format!("CPU {cpu} runs at {other} MHz, the lead at {mhz} MHz")
    })
}

/// Prints which CPUs, other than the lead, a debugger keeps powered.
pub(crate) fn powers_kept_on(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let kept_on = |identity: Identity| identity.power_kept_on.then_some(1);
    write_differing(out, run, "Warning: ", &kept_on, &|_, cpu| {
        format!("the power of CPU {cpu} is {KEPT_ON}")
    })
}

/// Prints a value that differs on other CPUs, and the first CPU on which it differs. `differing`
/// returns a CPU's value if it differs.
fn write_differing(
    out: &mut dyn Write,
    run: &Run,
    name: &str,
    differing: &dyn Fn(Identity) -> Option<u64>,
    describe: &dyn Fn(u64, Label) -> String,
) -> fmt::Result {
    let mut others = run
        .cpu_indices()
        .zip(&run.cpus)
        .filter_map(|(index, cpu)| Some((index, differing(cpu.identity?)?)));
    let Some((first, value)) = others.next() else {
        return Ok(());
    };
    let mut text = describe(value, run.label(first));
    text += &match others.count() as u64 {
        0 => ".".into(),
        more => format!("; this affects {}.", Many(more, "more CPU")),
    };
    paragraph(out, name, name.len(), &text)
}

fn overheads(facts: &Facts) -> String {
    let (overheads, clock) = (facts.overheads, facts.clock());
    let pmf_read = overheads.pmf_read.map_or_else(String::new, |ticks| {
        format!(", PMF read {}", clock.span(ticks))
    });
    format!(
        "counter read {}, empty timed region {}{pmf_read}",
        clock.span(overheads.counter),
        clock.span(overheads.empty)
    )
}

/// Describes the plan: the number of scenarios, and the boot arguments that they use.
fn plan_in_words(plan: &Plan) -> String {
    let mut text = format!("{}", Many(plan.scenarios.iter().count() as u64, "scenario"));
    for key in Key::ALL {
        let is_used = plan.scenarios.iter().any(|id| id.uses(key));
        let is_state = matches!(key, Key::Deepest | Key::Core);
        if (is_used || is_state)
            && let Some(value) = plan.text(key)
        {
            let separator = if text.contains('=') { " " } else { "; " };
            text += &format!("{separator}{}={value}", key.word());
        }
    }
    text
}
