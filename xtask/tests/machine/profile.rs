//! Profiles of runs under real TF-A.

use std::sync::atomic::AtomicBool;

use xtask::profile::profile::Profile;
use xtask::profile::run::ProfiledRun;
use xtask::qemu::prepare;
use xtask::qemu::run_spec::RunSpec;

const ARGS: &str = "iterations=5 samples=all";

fn spec(options: &str) -> RunSpec {
    RunSpec {
        args: Some(ARGS.to_owned()),
        ..RunSpec::of(&format!("--icount {options}"))
    }
}

fn profile(spec: &RunSpec) -> (Vec<u8>, Profile) {
    let prepared = ProfiledRun::prepare(spec, None).expect("prepared");
    let ran = prepared.run(None);
    let (result, profile) = ran.unwrap_or_else(|error| panic!("{error:#}"));
    let profile = profile.unwrap_or_else(|| panic!("{}", result.line()));
    (result.log, profile)
}

#[test]
fn all_phases_are_attributed_and_the_log_stays_as_it_is() {
    for options in ["--smp 8", "--smp 8 --variant coherency=sw"] {
        let spec = spec(options);
        let never = AtomicBool::new(false);
        let plain = prepare::run(&spec, &never, &mut std::io::sink()).expect("a run");
        let (log, profile) = profile(&spec);
        assert!(log == plain.log, "{options}: the plugin changes the log");
        for phase in profile.merged() {
            println!(
                "{} {} own {}",
                phase.figure_name(),
                phase.samples,
                phase.mean(phase.own())
            );
        }
    }
}
