//! Compares the files for lab engines with the expected files, byte for byte, and checks them with
//! the engines' tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;
use test_support::CommandOutput;
use test_support::scratch::{Scratch, files};

use crate::tools::{PROGRAM, tools};

fn expected() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The jobs whose files are stored as expected output, with the options that generate them.
const CELLS: &[(&str, &str)] = &[
    (
        "lava-qemu-tf-a",
        "lava --smp 2 --url https://files.example.com/lab/",
    ),
    (
        "labgrid-qemu-strict",
        "labgrid --name strict --deny-skipped",
    ),
    ("labgrid-juno-v2.13", "labgrid --board juno --name v2.13"),
    (
        "labgrid-hikey960-tf-a",
        "labgrid --board hikey960 --place hi-1 --args only=cpu_susp_serial",
    ),
];

#[test]
fn cells_are_as_expected_and_valid() {
    let tools = tools();
    let scratch = Scratch::new(PROGRAM);
    for (name, words) in CELLS {
        scratch.ours(&format!("lab {words} -o set"));
        compare(&scratch.path("set").join(name), name);
    }
    let job = |name: &str| scratch.path("set").join(name);
    let mut compile = Command::new(tools.labgrid.join("python"));
    compile.args(["-W", "error", "-m", "py_compile"]);
    compile.args(
        CELLS[1..]
            .iter()
            .map(|job_name| job(job_name.0).join("test_psci_bench.py")),
    );
    CommandOutput::of(&mut compile).ends(0, "");
    for (words, file) in [("job --strict", "job.yaml"), ("device", "device.yaml")] {
        let mut schema = tools.lava.schema();
        schema.args(words.split(' '));
        let checked = CommandOutput::of(schema.arg(job("lava-qemu-tf-a").join(file)));
        assert_eq!(checked.code, 0, "{file}: {}", checked.out);
    }
    let mut env = Command::new(tools.labgrid.join("python"));
    env.args([
        "-c",
        "import sys, labgrid; [labgrid.Environment(f) for f in sys.argv[1:]]",
    ]);
    env.args(
        CELLS[1..]
            .iter()
            .map(|job_name| job(job_name.0).join("env.yaml")),
    );
    CommandOutput::of(&mut env).ends(0, "");
}

/// Compares the text files in a job with the expected files.
fn compare(job: &Path, name: &str) {
    for (path, data) in files(job) {
        let file = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let is_text = file.ends_with(".yaml") || file.ends_with(".json");
        // The jobs' test scripts differ only in their lists of scenarios and in the last test, so
        // only one is compared.
        if !is_text && (file != "test_psci_bench.py" || name != "labgrid-qemu-strict") {
            continue;
        }
        let text = String::from_utf8(data).expect("text");
        expect_file![expected().join(name).join(file)].assert_eq(&text);
    }
}
