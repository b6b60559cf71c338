//! The reasons for which a scenario fails, in words.

use alloc::format;
use alloc::string::String;

use super::failure::Failure;
use super::run::Run;
use crate::measure::Fault;

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
                run.clock().span(sleep),
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
            run.clock().span(ticks)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cause, Loss, Reason, Rejection, Step};
    use crate::model::{Variant, example};
    use crate::spec::psci;

    #[test]
    fn sentences() {
        let loss = Loss {
            step: Step::Arrive,
            cause: Cause::Timeout,
        };
        let timer = |fault| Failure::Timer { cpu: 1, fault };
        let denied = psci::ReturnCode(-3);
        for (failure, expected) in [
            (
                Failure::TooFewSamples {
                    cpu: 1,
                    valid: 17,
                    asked: 20,
                },
                "CPU 0.1 has 17 valid samples of 20 asked for, fewer than 90 %",
            ),
            (
                Failure::StateRefused {
                    power_state: 2,
                    error: denied,
                    cpu: 4,
                },
                "the firmware refuses power_state 0x00000002 on CPU 1.0: DENIED",
            ),
            (
                Failure::CpuLost { cpu: 1, loss },
                "CPU 0.1 was lost: timed out waiting for arrival after CPU_ON",
            ),
            (
                Failure::NotCalibrated {
                    sleep: 625_000,
                    last: Rejection::plain(Reason::Overlap),
                    cpu: 1,
                },
                "no trial round was good, with up to 10000.00 us of sleep; the last one failed on \
                 CPU 0.1: overlap",
            ),
            (
                timer(Fault::Pending),
                "the timer of CPU 0.1 was not set, as an interrupt was pending that did not go \
                 away",
            ),
            (
                timer(Fault::Stray(40)),
                "the timer of CPU 0.1 was left as interrupt 40 came",
            ),
            (
                timer(Fault::Spurious),
                "the timer of CPU 0.1 was left as interrupts came that none was behind",
            ),
            (
                timer(Fault::Silent),
                "the timer of CPU 0.1 raised no interrupt any more",
            ),
            (
                timer(Fault::Late(6_270)),
                "the timer of CPU 0.1 was handled 100.32 us late, more than threshold= allows; \
                 what follows was not measured",
            ),
            (
                Failure::GaveUp {
                    variant: Variant::Sgi,
                    cpu: 0,
                },
                "sgi did not come on CPU 0.0, or another interrupt did",
            ),
            (
                Failure::ModeStuck(denied),
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned DENIED",
            ),
            (
                Failure::WrongAnswer {
                    variant: Variant::Unknown,
                    answer: 0,
                    cpu: 1,
                },
                "unknown came back with 0 on CPU 0.1",
            ),
            (Failure::NotStated, "the log does not give the reason"),
        ] {
            assert_eq!(failure.sentence(&example::run(5)), expected);
        }
    }
}
