//! Failures and checks, in words.

use alloc::format;
use alloc::string::String;

use hardware::text::join::join;
use hardware::text::plural::Many;

use super::check::Check;
use super::failure::Failure;
use super::run::Run;
use crate::measure::TimerFault;

impl Failure {
    /// Returns the reason in words.
    pub fn sentence(&self, run: &Run) -> String {
        let name = |cpu| format!("CPU {}", run.label(cpu));
        match *self {
            Self::TooFewSamples { cpu, valid, asked } => {
                format!(
                    "{} has too few valid samples: {valid} of {asked}, less than 90 %",
                    name(cpu)
                )
            }
            Self::StateRefused {
                power_state: state,
                error,
                cpu,
            } => {
                format!(
                    "the firmware rejects power_state {state:#010x} on {}: {error}",
                    name(cpu)
                )
            }
            Self::CpuLost { cpu, loss } => format!("{} was lost: {loss}", name(cpu)),
            Self::NotCalibrated { sleep, last, cpu } => {
                format!(
                    "no trial round succeeded with sleeps of up to {}; the last one failed on {}: \
                     {last}",
                    run.clock().span(sleep),
                    name(cpu)
                )
            }
            Self::ModeStuck(error) => format!(
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
            ),
            Self::Timer { cpu, fault } => {
                format!("{}'s timer {}", name(cpu), describe_timer_fault(run, fault))
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
            } => {
                format!("{} returned {answer} on {}", variant.word(), name(cpu))
            }
            Self::NoCpuOff(why) => format!("{why}"),
            Self::CheckFailed {
                function,
                probe,
                failed,
            } => {
                let checks = Many(failed.into(), "check");
                let (first, what) = (function.name(), probe.title());
                format!("{checks} failed, the first of them {first}: {what}")
            }
            Self::NotStated => "the log does not give the reason".into(),
        }
    }
}

impl Check {
    /// Returns a phrase that identifies the function, what was checked, and the CPUs.
    pub fn subject(&self, run: &Run) -> String {
        let (function, what) = (self.function.name(), self.probe.title());
        let x = self
            .axis_text()
            .map_or_else(String::new, |x| format!(" {x}"));
        let labels = self.cpus.iter().map(|cpu| run.label(cpu));
        let on = if self.cpus.is_empty() { "" } else { " on CPU " };
        format!("{function}{x} ({what}){on}{}", join(labels, ", "))
    }

    /// Returns the level, `power_state` or pause, if there is one.
    pub fn axis_text(&self) -> Option<String> {
        let x = self.value?;
        Some(if self.probe.is_of_state() {
            format!("{x:#010x}")
        } else {
            format!("{x}")
        })
    }
}

/// Describes a fault in a phrase that follows "CPU 1.3's timer".
fn describe_timer_fault(run: &Run, fault: TimerFault) -> String {
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
            run.clock().span(ticks)
        ),
    }
}
