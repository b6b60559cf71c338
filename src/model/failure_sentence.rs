//! The reasons for which a scenario fails, in words.

use alloc::format;
use alloc::string::String;

use super::failure::Failure;
use super::run::Run;
use crate::measure::Fault;

impl Failure {
    /// Returns the reason in words.
    pub fn sentence(&self, run: &Run) -> String {
        let on = |cpu| format!("CPU {}", run.label(cpu));
        match *self {
            Self::TooFewSamples { cpu, valid, asked } => {
                let cpu = on(cpu);
                format!("{cpu} has {valid} valid samples of {asked} asked for, fewer than 90 %")
            }
            Self::StateRefused {
                power_state,
                error,
                cpu,
            } => {
                let cpu = on(cpu);
                format!("the firmware refuses power_state {power_state:#010x} on {cpu}: {error}")
            }
            Self::CpuLost { cpu, loss } => format!("{} was lost: {loss}", on(cpu)),
            Self::NotCalibrated { sleep, last, cpu } => {
                let (sleep, cpu) = (run.clock().span(sleep), on(cpu));
                format!(
                    "no trial round was good, with up to {sleep} of sleep; the last one failed on \
                     {cpu}: {last}"
                )
            }
            Self::ModeStuck(error) => format!(
                "the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned {error}"
            ),
            Self::Timer { cpu, fault } => {
                format!("the timer of {} {}", on(cpu), of_timer(run, fault))
            }
            Self::GaveUp { variant, cpu } => {
                let (word, cpu) = (variant.word(), on(cpu));
                format!("{word} did not come on {cpu}, or another interrupt did")
            }
            Self::WrongAnswer {
                variant,
                answer,
                cpu,
            } => format!("{} came back with {answer} on {}", variant.word(), on(cpu)),
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
        let (step, cause) = (Step::Arrive, Cause::Timeout);
        let loss = Loss { step, cause };
        let (cpu, error) = (1, psci::ReturnCode(-3));
        let (valid, asked) = (17, 20);
        let (sleep, last) = (625_000, Rejection::plain(Reason::Overlap));
        let variant = Variant::Sgi;
        let timer = |fault| Failure::Timer { cpu, fault };
        let all = [
            Failure::TooFewSamples { cpu, valid, asked },
            Failure::StateRefused {
                power_state: 2,
                error,
                cpu: 4,
            },
            Failure::CpuLost { cpu, loss },
            Failure::NotCalibrated { sleep, last, cpu },
            timer(Fault::Pending),
            timer(Fault::Stray(40)),
            timer(Fault::Spurious),
            timer(Fault::Silent),
            timer(Fault::Late(6_270)),
            Failure::GaveUp { variant, cpu },
            Failure::ModeStuck(error),
            Failure::WrongAnswer {
                variant,
                answer: 0,
                cpu,
            },
            Failure::NotStated,
        ];
        let expected = "\
CPU 0.1 has 17 valid samples of 20 asked for, fewer than 90 %
the firmware refuses power_state 0x00000002 on CPU 1.0: DENIED
CPU 0.1 was lost: timed out waiting for arrival after CPU_ON
no trial round was good, with up to 10000.00 us of sleep; the last one failed on CPU 0.1: overlap
the timer of CPU 0.1 was not set, as an interrupt was pending that did not go away
the timer of CPU 0.1 was left as interrupt 40 came
the timer of CPU 0.1 was left as interrupts came that none was behind
the timer of CPU 0.1 raised no interrupt any more
the timer of CPU 0.1 was handled 100.32 us late, more than threshold= allows; what follows was not measured
sgi did not come on CPU 0.1, or another interrupt did
the firmware stays in OS-initiated mode: SET_SUSPEND_MODE returned DENIED
sgi came back with 0 on CPU 0.1
the log does not give the reason";
        let run = example::run(5);
        assert_eq!(all.map(|it| it.sentence(&run)).join("\n"), expected);
    }
}
