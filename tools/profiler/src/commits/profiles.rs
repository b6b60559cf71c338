//! Profiles a commit.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::RunSpec;
use runner::setup::workspace::Workspace;

use super::commit_bench::{Measurement, NotMeasured, compiler_error};
use crate::profile::profile::Profile;
use crate::profiled_run::{ProfiledRun, build_plugin, check_plan};

impl Measurement for Profile {
    const FOLDER: &'static str = "ledger";

    type Run = ProfiledRun;

    fn check(spec: &RunSpec) -> Result<()> {
        if spec.variant.has("pmf=off") {
            bail!("--variant pmf=off: a ledger needs PMF's phases");
        }
        check_plan(spec)
    }

    fn tools(workspace: &Workspace) -> Result<Vec<PathBuf>> {
        Ok(vec![build_plugin(workspace)?])
    }

    fn prepare(spec: &RunSpec) -> Result<ProfiledRun> {
        ProfiledRun::prepare(spec, None)
    }

    fn identity(run: &ProfiledRun) -> Result<String> {
        Ok(run.identity.clone())
    }

    fn measure(run: ProfiledRun) -> Result<Result<Self, NotMeasured>> {
        let (result, profile) = run.run(None)?;
        Ok(profile_of_run(&result, profile))
    }

    fn read(json: &[u8]) -> Option<Self> {
        Self::from_json(json).ok()
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }
}

/// Returns the profile of a run that passed. Otherwise returns the reason why the run has no
/// profile, which must be the same each time the commit is measured.
fn profile_of_run(
    result: &RunResult,
    profile: Option<Result<Profile>>,
) -> Result<Profile, NotMeasured> {
    match profile {
        Some(profile) if result.exit_code() == 0 => {
            profile.map_err(|error| NotMeasured(compiler_error(&error)))
        }
        _ => Err(NotMeasured(result.reason())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;
    use follow::stream::MachineEnding;
    use suite::model::Verdict;

    use super::*;

    #[test]
    fn failure_of_a_run_does_not_contain_its_time() {
        let run = |verdict, seconds| RunResult {
            log: Vec::new(),
            verdict,
            ending: MachineEnding::TimedOut,
            diagnosis: Some("no closing line within 7 s".to_owned()),
            positions: Vec::new(),
            elapsed: Duration::from_secs(seconds),
        };
        let failures = [7, 8].map(|seconds| {
            let hung = run(Verdict::Incomplete, seconds);
            profile_of_run(&hung, None)
                .expect_err("no verdict")
                .to_string()
        });
        assert_eq!(failures, ["INCOMPLETE: no closing line within 7 s"; 2]);
        let passed = run(Verdict::Pass, 1);
        let cut = profile_of_run(&passed, Some(Err(anyhow!("the record is cut"))));
        assert_eq!(
            cut.expect_err("no profile").to_string(),
            "the record is cut"
        );
    }
}
