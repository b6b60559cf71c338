//! The reasons why a scenario fails, in words.

use alloc::format;
use alloc::string::String;

use hardware::text::plural::Many;

use super::failure::Failure;
use super::run::Run;
use crate::measure::TimerFault;

impl Failure {
    /// Returns the reason in words.
    pub fn sentence(&self, run: &Run) -> String {
        let on = |cpu| format!("CPU {}", run.label(cpu));
        match *self {
            Self::TooFewSamples { cpu, valid, asked } => {
                let cpu = on(cpu);
                format!("{cpu} has too few valid samples: {valid} of {asked}, less than 90 %")
            }
            Self::StateRefused {
                power_state: state,
                error,
                cpu,
            } => {
                format!(
                    "the firmware rejects power_state {state:#010x} on {}: {error}",
                    on(cpu)
                )
            }
            Self::CpuLost { cpu, loss } => format!("{} was lost: {loss}", on(cpu)),
            Self::NotCalibrated { sleep, last, cpu } => {
                let (sleep, cpu) = (run.clock().span(sleep), on(cpu));
                format!(
                    "no trial round succeeded with sleeps of up to {sleep}; the last one failed on \
                     {cpu}: {last}"
                )
            }
            Self::ModeStuck(error) => format!(
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
            ),
            Self::Timer { cpu, fault } => {
                format!("{}'s timer {}", on(cpu), of_timer(run, fault))
            }
            Self::GaveUp { variant, cpu } => {
                let (word, cpu) = (variant.word(), on(cpu));
                format!("{word} did not arrive on {cpu}, or another interrupt did")
            }
            Self::WrongAnswer {
                variant,
                answer,
                cpu,
            } => {
                format!("{} returned {answer} on {}", variant.word(), on(cpu))
            }
            Self::NoCpuOff(why) => format!("{why}"),
            Self::CheckFailed {
                function,
                probe,
                failed,
            } => {
                let (function, what) = (function.name(), probe.title());
                let failed = Many(failed.into(), "check");
                format!("{failed} failed, the first of them {function}: {what}")
            }
            Self::NotStated => "the log does not give the reason".into(),
        }
    }
}

fn of_timer(run: &Run, fault: TimerFault) -> String {
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
