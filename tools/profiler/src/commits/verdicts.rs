//! Whether each firmware function works and each rule is kept, according to the fitness checks of one
//! run.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use follow::RunWatcher;
use hardware::text::keywords::Word as _;
use host::hex::hex;
use host::interrupt;
use host::progress::StepProgress;
use report::analysis::findings::findings;
use report::log::LoggedRun;
use runner::qemu::prepare;
use runner::qemu::prepared::Prepared;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::RunSpec;
use runner::setup;
use runner::setup::workspace::Workspace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use suite::findings::FAILED_CHECK;
use suite::model::{CheckEnd, Function, Rule, Verdict};

use super::commit_bench::{Measurement, NotMeasured};

/// What a verdict is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Tested {
    /// A function, in all checks.
    Function(Function),
    /// A rule, by its key.
    Rule(String),
}

impl Tested {
    /// Returns the function's name or the rule's key.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(function) => function.name(),
            Self::Rule(key) => key,
        }
    }

    /// Returns the function or the rule with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let rule = || Rule::from_key(name).map(|rule| Self::Rule(rule.key.to_owned()));
        Function::from_word(name).map(Self::Function).or_else(rule)
    }

    /// Returns true for a function.
    pub const fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }
}

impl From<Tested> for String {
    fn from(tested: Tested) -> Self {
        tested.name().to_owned()
    }
}

impl TryFrom<String> for Tested {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| format!("unknown function or rule {name}"))
    }
}

/// Whether a function works, or a rule is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// Every check that ran passed.
    Works,
    /// The specification permits what the firmware does, but recommends something else. Only rules
    /// have this verdict.
    Tolerated,
    /// At least one check failed. Contains a sentence for each failed check.
    Fails(Vec<String>),
}

/// The verdicts of a run. Functions that were not called, and rules that were not checked, have
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts(pub BTreeMap<Tested, CheckVerdict>);

impl Verdicts {
    /// Returns the verdicts of the checks in a log.
    pub fn of_run(logged: &LoggedRun) -> Self {
        let mut all = BTreeMap::new();
        for scenario in &logged.run.scenarios {
            let mut sentences = findings(logged, scenario)
                .into_iter()
                .filter(|finding| finding.kind == FAILED_CHECK);
            for check in &scenario.checks {
                if !check.is_made() {
                    continue;
                }
                let failed = check.has_failed().then(|| sentences.next()).flatten();
                let is_tolerated = check.end == CheckEnd::Tolerated;
                for tested in [
                    Tested::Function(check.function),
                    Tested::Rule(check.rule.key.to_owned()),
                ] {
                    let is_rule = !tested.is_function();
                    let verdict = all.entry(tested).or_insert(CheckVerdict::Works);
                    match &failed {
                        Some(failed) => verdict.fail(failed.sentence.clone()),
                        None if is_tolerated && is_rule => verdict.tolerate(),
                        None => {}
                    }
                }
            }
        }
        Self(all)
    }

    /// Returns the verdict on the function whose call did not return, if the log ends with the name
    /// of the function being checked.
    fn of_hang(log: &str) -> Option<Self> {
        let checked = log.trim_end().strip_suffix(" ...")?;
        // The name may be followed by an argument.
        let name = checked.lines().next_back()?.split_whitespace().next()?;
        let function = Function::from_word(name)?;
        let failed = format!("{name}: the log ends while this function is being checked.");
        let verdict = CheckVerdict::Fails(vec![failed]);
        Some(Self([(Tested::Function(function), verdict)].into()))
    }

    /// Returns the verdicts of a run, or the reason why it has none.
    fn of_result(result: &RunResult) -> Result<Self, NotMeasured> {
        match result.verdict {
            Verdict::Pass | Verdict::Fail => {}
            Verdict::Incomplete | Verdict::BadInput => {
                let hang = Self::of_hang(&result.text());
                return hang.ok_or_else(|| NotMeasured(result.reason()));
            }
        }
        let logged = report::log::read_complete(&result.log)
            .map_err(|error| NotMeasured(error.to_string()))?;
        let verdicts = Self::of_run(&logged);
        match verdicts.0.is_empty() {
            true => Err(NotMeasured("no checks were run".to_owned())),
            false => Ok(verdicts),
        }
    }
}

impl CheckVerdict {
    fn fail(&mut self, sentence: String) {
        match self {
            Self::Works | Self::Tolerated => *self = Self::Fails(vec![sentence]),
            Self::Fails(sentences) => sentences.push(sentence),
        }
    }

    fn tolerate(&mut self) {
        if *self == Self::Works {
            *self = Self::Tolerated;
        }
    }

    /// Returns the verdict in one word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Tolerated => "tolerated",
            Self::Fails(_) => "FAILS",
        }
    }

    /// Returns a number that is greater for a better verdict.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Works => 2,
            Self::Tolerated => 1,
            Self::Fails(_) => 0,
        }
    }

    /// Returns true if every check passed.
    pub fn works(&self) -> bool {
        *self == Self::Works
    }
}

impl Measurement for Verdicts {
    const FOLDER: &'static str = "verdicts";

    type Run = Prepared;

    fn tools(_: &Workspace) -> Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    fn prepare(spec: &RunSpec) -> Result<Prepared> {
        prepare::prepare(spec)
    }

    fn identity(run: &Prepared) -> Result<String> {
        let mut hash = Sha256::new();
        hash.update(run.identity());
        let qemu = setup::qemu_version()?;
        hash.update(format!("({}, {})", qemu.major, qemu.minor));
        Ok(hex(&hash.finalize()))
    }

    fn measure(run: Prepared) -> Result<Result<Self, NotMeasured>> {
        let progress = StepProgress::on_terminal("starting QEMU");
        let mut watcher = RunWatcher::with_progress(progress);
        let result = run.run(interrupt::watch()?, &mut watcher);
        drop(watcher);
        Ok(Self::of_result(&result?))
    }

    fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }
}

#[cfg(test)]
mod tests {
    use report::log::read_bytes;

    use super::*;

    #[test]
    fn log_that_ends_in_a_call_is_a_verdict_on_that_function() {
        let before = "booting\n  CPU_ON ...\n";
        for (last, function) in [
            ("  AFFINITY_INFO ...\n", Function::AffinityInfo),
            ("  CPU_SUSPEND 0x00010002 ...\r\n", Function::CpuSuspend),
        ] {
            let verdicts = Verdicts::of_hang(&format!("{before}{last}")).expect("a verdict");
            assert_eq!(verdicts.0.len(), 1, "{verdicts:?}");
            assert!(
                !verdicts.0[&Tested::Function(function)].works(),
                "{verdicts:?}"
            );
        }
        for log in ["", "CPU_ON", "loading ...", "NOTICE: BL31 ..."] {
            assert_eq!(Verdicts::of_hang(log), None, "{log}");
        }
    }

    /// In docs/samples/fitness.log, two checks fail.
    #[test]
    fn failed_check_is_the_verdict_on_its_function_and_its_rule() {
        let log = include_bytes!("../../../../docs/samples/fitness.log");
        let logged = read_bytes("fitness.log", log).expect("a log").remove(0);
        let verdicts = Verdicts::of_run(&logged);
        let mut failed = Vec::new();
        for (tested, verdict) in &verdicts.0 {
            if let CheckVerdict::Fails(sentences) = verdict {
                failed.push((tested.name(), sentences.len()));
            }
        }
        let expected = [
            ("CPU_SUSPEND", 1),
            ("SET_SUSPEND_MODE", 1),
            ("child-stays-on", 1),
            ("wrong-mode", 1),
        ];
        assert_eq!(failed, expected);
        let verdict = |name| verdicts.0.get(&Tested::from_name(name).expect("a name"));
        assert!(verdict("CPU_ON").expect("a verdict").works());
        assert_eq!(verdict("wrong-address"), Some(&CheckVerdict::Tolerated));
        // The log lists SYSTEM_OFF, which was not called.
        assert_eq!(verdict("SYSTEM_OFF"), None);
        let mut json = Vec::new();
        verdicts.write(&mut json).expect("written");
        assert_eq!(Verdicts::read(&json), Some(verdicts));
    }
}
