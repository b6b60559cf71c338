//! Checks, which show whether firmware functions work but measure nothing. Each check calls a
//! function in a particular way, and records whether the firmware lists it, what the call returned
//! and what happened.

use alloc::format;
use alloc::string::String;
use core::fmt;

use hardware::board::CpuIndex;
use hardware::spec::psci::ReturnCode;
use hardware::text::join::join;
use hardware::words;
use serde::{Deserialize, Serialize};

use super::cpu::{Cpu, Label};
use super::finding::CpuSet;
use super::function::Function;
use super::skip::Skip;
use crate::measure::Rejection;

words! {
    /// What a check does with a function, and what it expects.
    pub enum Probe, key {
        /// The function is not called. The check only records whether it is listed.
        Listed = "listed",
        /// The specification permits the return value.
        Answer = "answer",
        /// PSCI_FEATURES rejects a function ID that PSCI reserves.
        Unknown = "unknown",
        /// The CPU arrives at the entry point, with the context ID.
        Arrives = "arrives",
        /// A second CPU_ON right after the first returns ALREADY_ON or ON_PENDING.
        Pending = "pending",
        /// CPU_ON for a CPU that is on returns ALREADY_ON.
        AlreadyOn = "already-on",
        /// AFFINITY_INFO returns ON for a CPU that is on.
        IsOn = "is-on",
        /// AFFINITY_INFO returns OFF for a CPU that is off.
        IsOff = "is-off",
        /// AFFINITY_INFO returns ON at a higher affinity level, or INVALID_PARAMETERS.
        Level = "level",
        /// The CPU turns off.
        GoesOff = "goes-off",
        /// The CPU arrives when it is turned on again after a pause.
        Again = "again",
        /// The CPU's own timer wakes it.
        OwnTimer = "own-timer",
        /// An SGI wakes the CPU.
        Sgi = "sgi",
        /// The memory-mapped timer's interrupt wakes the lead.
        Frame = "frame",
        /// A suspend to the state increases its count by one, or its residency by the time spent in
        /// it.
        Rises = "rises",
        /// The CPU's timer settings are the same after a suspend as before it.
        TimerKept = "timer-kept",
        /// The settings of the CPU's SGIs and PPIs are the same after a suspend as before it.
        InterruptsKept = "interrupts-kept",
        /// VBAR_ELx is the same after a suspend as before it.
        VectorsKept = "vectors-kept",
        /// OS-initiated mode is accepted.
        OsInitiated = "os-initiated",
        /// Platform-coordinated mode is accepted.
        Platform = "platform",
        /// The call returns INVALID_PARAMETERS for an MPIDR that no CPU has.
        WrongMpidr = "wrong-mpidr",
        /// The call returns INVALID_ADDRESS for an entry point outside memory. Before PSCI 1.0, it
        /// returns INVALID_PARAMETERS.
        WrongAddress = "wrong-address",
        /// The call returns INVALID_PARAMETERS for a mode that PSCI does not define.
        WrongMode = "wrong-mode",
    }
}

impl Probe {
    /// Returns a short description of what is checked, for a table row.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Listed => "not called",
            Self::Answer => "permitted value",
            Self::Unknown => "reserved function",
            Self::Arrives => "CPU arrives",
            Self::Pending => "immediate second call",
            Self::AlreadyOn => "CPU that is on",
            Self::IsOn => "ON",
            Self::IsOff => "OFF",
            Self::Level => "ON at level",
            Self::GoesOff => "CPU turns off",
            Self::Again => "on again, pause in us",
            Self::OwnTimer => "woken by its timer",
            Self::Sgi => "woken by an SGI",
            Self::Frame => "woken by timer frame",
            Self::Rises => "rises after",
            Self::TimerKept => "keeps timer",
            Self::InterruptsKept => "keeps SGIs and PPIs",
            Self::VectorsKept => "keeps VBAR",
            Self::OsInitiated => "OS-initiated mode",
            Self::Platform => "platform mode",
            Self::WrongMpidr => "unknown MPIDR",
            Self::WrongAddress => "wrong address",
            Self::WrongMode => "unknown mode",
        }
    }

    /// Describes the return values that the specification permits; None if the check is not about
    /// the return value.
    pub const fn permitted(self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown => "NOT_SUPPORTED",
            Self::Pending => "ALREADY_ON or ON_PENDING",
            Self::AlreadyOn => "ALREADY_ON",
            Self::IsOn => "ON",
            Self::IsOff => "OFF",
            Self::Level => "ON or INVALID_PARAMETERS",
            Self::Answer => "a number",
            Self::Arrives | Self::Again | Self::OsInitiated | Self::Platform => "SUCCESS",
            Self::OwnTimer | Self::Sgi | Self::Frame => "SUCCESS",
            Self::WrongMpidr | Self::WrongMode => "INVALID_PARAMETERS",
            Self::WrongAddress => "INVALID_ADDRESS",
            Self::Listed
            | Self::GoesOff
            | Self::Rises
            | Self::TimerKept
            | Self::InterruptsKept
            | Self::VectorsKept => return None,
        })
    }

    /// Returns true if [`Check::value`] is a `power_state`.
    pub const fn is_of_state(self) -> bool {
        matches!(
            self,
            Self::OwnTimer
                | Self::Sgi
                | Self::Frame
                | Self::Rises
                | Self::TimerKept
                | Self::InterruptsKept
                | Self::VectorsKept
        )
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckEnd {
    /// The function works as specified.
    Works,
    /// The specification does not permit this return value here.
    WrongAnswer,
    /// The call did not have the expected effect.
    NoEffect(Rejection),
    /// The statistics do not show the state that the CPU must have reached, or their values are
    /// impossible.
    WrongStatistics,
    /// Part of the CPU's context was lost in a state that should retain it.
    ContextLost,
    /// The specification permits what the firmware does, but software may rely on something else:
    /// the firmware does not check an argument, or part of the context is lost in a power-down.
    Tolerated,
    /// A function that the PSCI version requires is not listed.
    Missing,
    /// The function was not called, so the check only shows whether it is listed.
    NotCalled,
    /// The check was not performed.
    NotTried(Skip),
}

/// One check, together with all CPUs for which it had the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The function under test or, if a CPU was lost, the function that lost it.
    pub function: Function,
    /// How the function was called.
    pub probe: Probe,
    /// An affinity level, a `power_state`, or a pause in microseconds.
    #[serde(alias = "x", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
    /// The CPUs that were checked. Empty if the check is not tied to a particular CPU.
    #[serde(default, skip_serializing_if = "CpuSet::is_empty")]
    pub cpus: CpuSet,
    /// True if PSCI_FEATURES or SMCCC_ARCH_FEATURES lists the function. None if the firmware
    /// provides no list that covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<bool>,
    /// The low word of X0, if the call returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<i32>,
    /// Whether the call did what the specification requires.
    pub end: CheckEnd,
}

impl Check {
    /// Returns a phrase that identifies the function, what was checked, and which of `cpus` the
    /// check was made on.
    pub fn subject(&self, cpus: &[Cpu]) -> String {
        let (function, what) = (self.function.name(), self.probe.title());
        let value = match self.value_text() {
            Some(value) => format!(" {value}"),
            None => String::new(),
        };
        let labels = self.cpus.iter().map(|cpu| Label::for_cpu(cpus, cpu));
        let on = if self.cpus.is_empty() { "" } else { " on CPU " };
        format!("{function}{value} ({what}){on}{}", join(labels, ", "))
    }

    /// Returns the level, `power_state` or pause, if there is one.
    pub fn value_text(&self) -> Option<String> {
        let value = self.value?;
        Some(if self.probe.is_of_state() {
            format!("{value:#010x}")
        } else {
            format!("{value}")
        })
    }

    /// Returns a check that is not tied to a particular CPU.
    pub fn new(function: Function, probe: Probe, end: CheckEnd) -> Self {
        Self {
            function,
            probe,
            value: None,
            cpus: CpuSet::default(),
            promised: None,
            answer: None,
            end,
        }
    }

    /// Returns true if the check shows whether the function works.
    pub const fn is_made(&self) -> bool {
        !matches!(self.end, CheckEnd::NotCalled | CheckEnd::NotTried(_))
    }

    /// Returns true if the function does not behave as specified.
    pub const fn has_failed(&self) -> bool {
        match self.end {
            CheckEnd::WrongAnswer
            | CheckEnd::NoEffect(_)
            | CheckEnd::WrongStatistics
            | CheckEnd::ContextLost
            | CheckEnd::Missing => true,
            CheckEnd::Works | CheckEnd::Tolerated | CheckEnd::NotCalled | CheckEnd::NotTried(_) => {
                false
            }
        }
    }

    /// Returns the result in one or two words, for a table.
    pub const fn result(&self) -> &'static str {
        match self.end {
            CheckEnd::Works => "works",
            CheckEnd::Tolerated => "tolerated",
            CheckEnd::WrongAnswer
            | CheckEnd::NoEffect(_)
            | CheckEnd::WrongStatistics
            | CheckEnd::ContextLost
            | CheckEnd::Missing => "FAILS",
            CheckEnd::NotCalled => "not called",
            CheckEnd::NotTried(_) => "not tried",
        }
    }

    /// Returns a word that states whether the firmware lists the function.
    pub const fn promised_word(&self) -> &'static str {
        match self.promised {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        }
    }

    /// Returns true if the two checks are equal except for their CPUs.
    pub fn is_alike(&self, other: &Self) -> bool {
        let cpus = CpuSet::default();
        Self { cpus, ..*self } == Self { cpus, ..*other }
    }

    /// Adds a CPU.
    pub fn insert(&mut self, cpu: CpuIndex) {
        self.cpus.insert(cpu);
    }

    /// Returns the call's return value, which is displayed as its name in the specification.
    pub fn shown_answer(&self) -> Option<ShownAnswer> {
        let (code, function) = (self.answer?, self.function);
        Some(ShownAnswer { code, function })
    }
}

/// A function's return value in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownAnswer {
    code: i32,
    function: Function,
}

impl fmt::Display for ShownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: &[&str] = match self.function {
            Function::AffinityInfo => &["ON", "OFF", "ON_PENDING"],
            Function::NodeHwState => &["HW_ON", "HW_OFF", "HW_STANDBY"],
            _ => &[],
        };
        let name = usize::try_from(self.code)
            .ok()
            .and_then(|code| names.get(code));
        if let Some(name) = name {
            return f.write_str(name);
        }
        match (self.function, self.code) {
            (Function::PsciVersion | Function::SmcccVersion | Function::ErrataVersion, 0..) => {
                write!(f, "{}.{}", self.code >> 16, self.code & 0xffff)
            }
            (function, 0..) if !function.returns_status() => write!(f, "{:#x}", self.code),
            (_, 1..) => write!(f, "{:#x}", self.code),
            (_, code) => ReturnCode(code).fmt(f),
        }
    }
}
