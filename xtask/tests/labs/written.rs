//! Compares the files for lab engines with the expected files, byte for byte, and checks them with
//! the engines' tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;

use crate::support::packages::{boards_files, python};
use crate::support::scratch::files;
use crate::tools::{said, tools};

fn expected() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lab")
}

/// The cells whose files are stored as expected output, with the options that generate them.
const CELLS: &[(&str, &str)] = &[
    (
        "lava-juno-v2.13",
        "lava --board juno --base v2.13=board.zip --tags juno-r2,rack-1",
    ),
    (
        "lava-n1sdp-v2.13",
        "lava --board n1sdp --base v2.13=board.zip",
    ),
    (
        "labgrid-juno-v2.13",
        "labgrid --board juno --base v2.13=board.zip",
    ),
    (
        "labgrid-hikey960-fip",
        "labgrid --board hikey960 --base fip.bin --place hi-1",
    ),
    ("labgrid-rpi4-tf-a", "labgrid --board rpi4 --minutes 5"),
];

#[test]
fn boards() {
    let tools = tools();
    let scratch = boards_files();
    for (name, words) in CELLS {
        let url = match name.starts_with("lava") {
            true => "--url https://files.example.com/lab/",
            false => "",
        };
        scratch.ours(&format!("lab {words} --payload payload.bin {url} -o set"));
        compare(&scratch.path("set").join(name), name);
    }
    // The text files that are not stored are written by the same functions as the stored ones.
    let mut compile = Command::new(tools.labgrid.join("python"));
    compile.args(["-W", "error", "-m", "py_compile"]);
    compile.arg(scratch.path("set/labgrid-juno-v2.13/test_psci_bench.py"));
    said(&mut compile).ends(0, "");
    for name in ["lava-juno-v2.13", "lava-n1sdp-v2.13"] {
        let mut schema = tools.lava.schema();
        let job = scratch.path("set").join(name).join("job.yaml");
        let checked = said(schema.args(["job", "--strict"]).arg(job));
        assert_eq!(checked.code, 0, "{name}: {}", checked.out);
    }
    let mut env = Command::new(tools.labgrid.join("python"));
    env.args([
        "-c",
        "import sys, labgrid; [labgrid.Environment(f) for f in sys.argv[1:]]",
    ]);
    for name in ["labgrid-juno-v2.13", "labgrid-hikey960-fip"] {
        env.arg(scratch.path("set").join(name).join("env.yaml"));
    }
    said(&mut env).ends(0, "");
}

/// Compares the text files in a cell with the expected files.
fn compare(cell: &Path, name: &str) {
    for (path, data) in files(cell) {
        let file = path.file_name().and_then(|it| it.to_str()).expect("a name");
        if !["job.yaml", "env.yaml", "cell.json", "test_psci_bench.py"].contains(&file) {
            continue;
        }
        // The cells' test scripts differ only in their lists of scenarios, so only one is compared.
        if file == "test_psci_bench.py" && name != "labgrid-juno-v2.13" {
            continue;
        }
        let text = String::from_utf8(data).expect("text");
        expect_file![expected().join(name).join(file)].assert_eq(&text);
    }
}

#[test]
fn the_fip_in_a_cell_is_that_of_fip_build() {
    let scratch = boards_files();
    let base = "--board juno --payload payload.bin";
    scratch.ours(&format!("lab lava {base} --base board.zip -o set"));
    let read = "import sys, zipfile\n\
                fip = zipfile.ZipFile(sys.argv[1]).read('SOFTWARE/fip.bin')\n\
                open('got.bin', 'wb').write(fip)";
    python(&scratch, read, &["set/lava-juno-board/recovery.zip"]);
    // The FIP is identical to the one from `fip pack`, with the `end=` argument that the engine
    // requires or the user specifies.
    scratch.ours(&format!("lab labgrid {base} --base fip.bin -o set"));
    let mine = "--base mine=fip.bin --args end=reset -o set";
    scratch.ours(&format!("lab labgrid {base} {mine}"));
    for (end, file) in [
        ("off", "got.bin"),
        ("park", "set/labgrid-juno-fip/fip.bin"),
        ("reset", "set/labgrid-juno-mine/fip.bin"),
    ] {
        let _ = fs::remove_file(scratch.path("built.bin"));
        scratch.ours(&format!(
            "fip pack {base} --base fip.bin --args end={end} -o built.bin"
        ));
        assert!(scratch.read(file) == scratch.read("built.bin"), "{file}");
    }
}
