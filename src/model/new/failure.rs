//! Reasons for which a scenario fails.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::point::Variant;
use super::run::Run;
use crate::measure::{Fault, Loss, Rejection};
use crate::spec::psci;

/// The reason why a scenario failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Fewer than 90 % of the samples asked for are valid on some CPU.
    TooFewSamples {
        /// The CPU with the fewest, by index.
        cpu: u16,
        /// How many it has.
        valid: u32,
        /// How many were asked for.
        asked: u32,
    },
    /// The firmware refuses the `power_state`.
    StateRefused {
        /// The value that was asked for.
        power_state: u32,
        /// The firmware's answer.
        error: psci::Error,
        /// The CPU that got it, by index.
        cpu: u16,
    },
    /// A CPU was lost.
    CpuLost {
        /// The CPU, by index.
        cpu: u16,
        /// Where and why.
        loss: Loss,
    },
    /// In no trial round did all CPUs go down before the first wake-up.
    NotCalibrated {
        /// The longest sleep that was tried, in ticks.
        sleep: u64,
        /// What was wrong with the last trial.
        last: Rejection,
        /// The CPU it was wrong on, by index.
        cpu: u16,
    },
    /// A look at a timer ended before its time.
    Timer {
        /// The CPU, by index.
        cpu: u16,
        /// Why.
        fault: Fault,
    },
    /// A loop was given up before its end: what it waits for did not come.
    GaveUp {
        /// Which, by its variant's name.
        variant: Variant,
        /// The CPU that it was on, by index.
        cpu: u16,
    },
    /// The firmware does not leave OS-initiated mode.
    ModeStuck(psci::Error),
    /// A call did not come back with what it has to.
    WrongAnswer {
        /// Which, by its variant's name.
        variant: Variant,
        /// The low word of X0.
        answer: i32,
        /// The CPU that got it, by index.
        cpu: u16,
    },
    /// Not in the log: TFTF gives no reason, or the record was lost.
    NotStated,
}

impl Failure {
    /// Returns the reason in words.
    #[must_use]
    pub fn sentence(&self, run: &Run) -> String {
        match *self {
            Self::TooFewSamples { cpu, valid, asked } => format!(
                "CPU {} has {valid} valid samples of {asked} asked for, fewer than 90 %",
                run.label(cpu)
            ),
            Self::StateRefused {
                power_state,
                error,
                cpu,
            } => format!(
                "the firmware refuses power_state {power_state:#010x} on CPU {}: {error}",
                run.label(cpu)
            ),
            Self::CpuLost { cpu, loss } => format!("CPU {} was lost: {loss}", run.label(cpu)),
            Self::NotCalibrated { sleep, last, cpu } => format!(
                "no trial round was good, with up to {} of sleep; the last one failed on CPU {}: \
                 {last}",
                run.unit().span(sleep),
                run.label(cpu)
            ),
            Self::ModeStuck(error) => format!(
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
            ),
            Self::Timer { cpu, fault } => {
                format!(
                    "the timer of CPU {} {}",
                    run.label(cpu),
                    of_timer(run, fault)
                )
            }
            Self::GaveUp { variant, cpu } => format!(
                "{} did not come on CPU {}, or another interrupt did",
                variant.word(),
                run.label(cpu)
            ),
            Self::WrongAnswer {
                variant,
                answer,
                cpu,
            } => format!(
                "{} came back with {answer} on CPU {}",
                variant.word(),
                run.label(cpu)
            ),
            Self::NotStated => "the log does not give the reason".into(),
        }
    }
}

fn of_timer(run: &Run, fault: Fault) -> String {
    match fault {
        Fault::Pending => "was not set, as an interrupt was pending that did not go away".into(),
        Fault::Stray(intid) => format!("was left as interrupt {intid} came"),
        Fault::Spurious => "was left as interrupts came that none was behind".into(),
        Fault::Silent => "raised no interrupt any more".into(),
        Fault::Late(ticks) => format!(
            "was handled {} late, more than threshold= allows; what follows was not measured",
            run.unit().span(ticks)
        ),
    }
}
