//! The reasons why a scenario fails.

use alloc::format;
use alloc::string::String;

use hardware::board::{CpuIndex, IntId};
use hardware::spec::psci;
use hardware::spec::ticks::Clock;
use hardware::text::plural::Many;
use serde::{Deserialize, Serialize};

use super::cpu::{Cpu, Label};
use super::function::Function;
use super::rule::Rule;
use crate::measure::{Loss, NoCpuOff, Rejection};
use crate::plan::Variant;

/// Why a scenario failed. CPUs are identified by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "`sentence` describes each variant")]
pub enum Failure {
    /// A CPU has fewer than 90 % of the requested samples; `cpu` has the fewest.
    TooFewSamples {
        cpu: CpuIndex,
        valid: u32,
        #[serde(alias = "asked")]
        requested: u32,
    },
    StateRefused {
        power_state: u32,
        error: psci::ReturnCode,
        cpu: CpuIndex,
    },
    CpuLost {
        cpu: CpuIndex,
        loss: Loss,
        /// The number of other CPUs that are lost.
        #[serde(default, skip_serializing_if = "is_zero")]
        others: u16,
    },
    /// In every trial round, at least one CPU was not down before the first wake-up.
    NotCalibrated {
        /// The longest sleep that was tried, in ticks.
        sleep: u64,
        last: Rejection,
        cpu: CpuIndex,
    },
    Timer {
        cpu: CpuIndex,
        fault: TimerFault,
    },
    /// A loop was abandoned because the event that it was waiting for did not occur.
    GaveUp {
        variant: Variant,
        cpu: CpuIndex,
    },
    ModeStuck(psci::ReturnCode),
    /// CPUs could not be turned off between samples.
    NoCpuOff(NoCpuOff),
    WrongAnswer {
        variant: Variant,
        /// The low word of X0.
        answer: i32,
        cpu: CpuIndex,
    },
    /// A firmware function does not behave as specified.
    CheckFailed {
        function: Function,
        #[serde(alias = "probe")]
        rule: &'static Rule,
        /// The number of checks that failed, including this one.
        failed: u32,
    },
    /// TFTF does not give a reason, or the record was lost.
    NotStated,
}

/// Why a timer measurement ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimerFault {
    /// An interrupt was pending before the timer was armed, and stayed pending.
    Pending,
    /// An interrupt other than the timer's was signaled; this is its ID.
    Stray(IntId),
    /// Interrupts were signaled repeatedly, but none could be acknowledged.
    Spurious,
    /// The timer interrupt stopped arriving.
    Silent,
    /// The latency, in ticks, that exceeded the threshold.
    Late(u64),
    /// The firmware rejected the CPU_SUSPEND that the timer was set for.
    Refused(psci::ReturnCode),
}

fn is_zero(count: &u16) -> bool {
    *count == 0
}

impl Failure {
    /// Returns the reason in words, for a run on `cpus` that measures with `clock`.
    pub fn sentence(&self, cpus: &[Cpu], clock: Clock) -> String {
        let name = |cpu| format!("CPU {}", Label::for_cpu(cpus, cpu));
        match *self {
            Self::TooFewSamples {
                cpu,
                valid,
                requested,
            } => format!(
                "{} has too few valid samples: {valid} of {requested}, less than 90 %",
                name(cpu)
            ),
            Self::StateRefused {
                power_state: state,
                error,
                cpu,
            } => format!(
                "the firmware rejects power_state {state:#010x} on {}: {error}",
                name(cpu)
            ),
            Self::CpuLost { cpu, loss, others } => {
                format!("{} was lost: {loss}{}", name(cpu), also_lost(others))
            }
            Self::NotCalibrated { sleep, last, cpu } => {
                format!(
                    "no trial round succeeded with sleeps of up to {}; the last one failed on {}: \
                     {last}",
                    clock.span(sleep),
                    name(cpu)
                )
            }
            Self::ModeStuck(error) => format!(
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
            ),
            Self::Timer { cpu, fault } => {
                format!(
                    "{}'s timer {}",
                    name(cpu),
                    describe_timer_fault(clock, fault)
                )
            }
            Self::GaveUp { variant, cpu } => {
                let event = variant.word();
                format!(
                    "{event} did not arrive on {}, or another interrupt did",
                    name(cpu)
                )
            }
            Self::WrongAnswer {
                variant,
                answer,
                cpu,
            } => format!("{} returned {answer} on {}", variant.word(), name(cpu)),
            Self::NoCpuOff(why) => format!("{why}"),
            Self::CheckFailed {
                function,
                rule,
                failed,
            } => describe_failed_checks(function, rule, failed),
            Self::NotStated => "the log does not give the reason".into(),
        }
    }
}

fn describe_failed_checks(function: Function, rule: &Rule, failed: u32) -> String {
    let checks = Many(failed.into(), "check");
    let (first, what) = (function.name(), rule.title);
    format!("{checks} failed, the first of them {first}: {what}")
}

/// Returns the end of a sentence about a lost CPU.
fn also_lost(others: u16) -> String {
    match others {
        0 => String::new(),
        count => format!("; {} lost, too", Many(count.into(), "other CPU")),
    }
}

/// Describes a fault in a phrase that follows "CPU 1.3's timer".
fn describe_timer_fault(clock: Clock, fault: TimerFault) -> String {
    match fault {
        TimerFault::Pending => "was not set because an interrupt stayed pending".into(),
        TimerFault::Stray(intid) => format!("was stopped by interrupt {intid}"),
        TimerFault::Spurious => "was stopped by spurious interrupts".into(),
        TimerFault::Silent => "stopped raising interrupts".into(),
        TimerFault::Refused(code) => {
            format!("was not used under the suspend load: CPU_SUSPEND returned {code}")
        }
        TimerFault::Late(ticks) => format!(
            "was handled {} late, more than threshold= allows; the rest was not measured",
            clock.span(ticks)
        ),
    }
}
