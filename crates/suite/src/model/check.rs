//! Checks, which show whether firmware functions work but measure nothing. Each check calls a
//! function in a particular way, and records whether the firmware lists it, what the call returned
//! and what happened.

use alloc::format;
use alloc::string::String;
use core::fmt;

use hardware::board::CpuIndex;
use hardware::spec::psci::ReturnCode;
use hardware::text::join::join;
use serde::{Deserialize, Serialize};

use super::cpu::{Cpu, Label};
use super::finding::CpuSet;
use super::function::Function;
use super::rule::Rule;
use super::skip::Skip;
use crate::measure::{
    ActionEnd, EntryState, Outcome, Reason, Rejection, StressViolation, TimeSource,
};

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
    /// The CPU was entered in this state, which the specification does not permit.
    WrongEntry(EntryState),
    /// A random call was answered wrongly, or lost a CPU.
    Violation(StressViolation),
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

impl CheckEnd {
    /// Returns the result of a call that did not have the expected effect on its CPU.
    pub fn no_effect(outcome: &Outcome) -> Self {
        let lost = Rejection::plain(Reason::Lost);
        Self::NoEffect(match outcome.end {
            ActionEnd::NotRun => lost,
            _ => outcome.judge(TimeSource::Counter).err().unwrap_or(lost),
        })
    }
}

/// One check, together with all CPUs for which it had the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The function under test or, if a CPU was lost, the function that lost it.
    pub function: Function,
    /// What was checked.
    #[serde(alias = "probe")]
    pub rule: &'static Rule,
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
        let (function, what) = (self.function.name(), self.rule.title);
        let value = match self.value_text() {
            Some(value) => format!(" {value}"),
            None => String::new(),
        };
        let labels = self.cpus.iter().map(|cpu| Label::for_cpu(cpus, cpu));
        let on = if self.cpus.is_empty() { "" } else { " on CPU " };
        format!("{function}{value} ({what}){on}{}", join(labels, ", "))
    }

    /// Returns the document and the section that contain the rule.
    pub fn section(&self) -> String {
        match self.rule.section {
            Some(section) => format!("DEN0022F, section {section}"),
            None => self.function.specification().into(),
        }
    }

    /// Returns the level, `power_state` or pause, if there is one.
    pub fn value_text(&self) -> Option<String> {
        let value = self.value?;
        Some(if self.rule.is_of_state {
            format!("{value:#010x}")
        } else {
            format!("{value}")
        })
    }

    /// Returns a check that is not tied to a particular CPU.
    pub fn new(function: Function, rule: &'static Rule, end: CheckEnd) -> Self {
        Self {
            function,
            rule,
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
            | CheckEnd::WrongEntry(_)
            | CheckEnd::Violation(_)
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
            | CheckEnd::WrongEntry(_)
            | CheckEnd::Violation(_)
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
