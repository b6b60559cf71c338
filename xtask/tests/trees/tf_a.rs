//! The trees in TF-A's source, which it passes on to BL33.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::build::tf_a::TF_A;
use xtask::setup::{self, Need};

use crate::fixtures::compile;
use crate::{assert_golden, here, judge, workspace};

/// Where TF-A's build of one of the boards looks for headers.
const INCLUDES: [&str; 7] = [
    "include",
    "fdts",
    "plat/arm/board/tc/include",
    "include/plat/arm/common",
    "include/plat/arm/common/aarch64",
    "include/lib/cpus/aarch64",
    "include/arch/aarch64",
];
/// What it defines for Total Compute, besides the platform's number.
const DEFINES: [&str; 4] = [
    "TARGET_FLAVOUR_FVP=1",
    "TARGET_VERSION=13",
    "TC_DPU_USE_SCMI_CLK=1",
    "TC_SCMI_PD_CTRL_EN=1",
];

#[test]
fn the_trees_of_tf_a() {
    let workspace = workspace();
    let needs = [Need::Dtc, Need::CrossCompiler, Need::DpkgSource];
    setup::ensure(&workspace, &needs).expect("dtc and a preprocessor");
    let source = TF_A.fetch(&workspace).expect("the source of TF-A");
    let work = tempfile::tempdir().expect("a temporary directory");
    let entries = fs::read_dir(source.join("fdts")).expect("its trees");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".dts")?.to_owned()))
        // 32-bit boards; and what only firmware's stages tell each other.
        .filter(|name| !name.starts_with("stm32mp1") && !name.ends_with("-fw-config"))
        .collect();
    names.sort();
    let mut text = format!("# {} {}\n", TF_A.package, TF_A.version);
    for name in names {
        let plain = work.path().join(&name);
        preprocess(&source, &name, &plain);
        let class = judge(&name, &compile(&plain)).unwrap_or_else(|wrong| panic!("{wrong}"));
        writeln!(text, "{name}: {class}").expect("a String takes all");
    }
    assert_golden(&here().join("tf-a.txt"), &text);
}

fn preprocess(source: &Path, name: &str, plain: &Path) {
    let platform = name.strip_prefix("tc").unwrap_or("0");
    let output = Command::new("aarch64-linux-gnu-gcc")
        .args([
            "-E",
            "-P",
            "-undef",
            "-x",
            "assembler-with-cpp",
            "-D__DTS__",
        ])
        .args(INCLUDES.map(|dir| format!("-I{dir}")))
        .args(DEFINES.map(|define| format!("-D{define}")))
        .arg(format!("-DTARGET_PLATFORM={platform}"))
        .arg(format!("fdts/{name}.dts"))
        .arg("-o")
        .arg(plain)
        .current_dir(source)
        .output()
        .expect("the preprocessor can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
}
