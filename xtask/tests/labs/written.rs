//! The files for engines, byte for byte, and by the engines' own checks.
//! Rewrite them by PSCI_BENCH_BLESS=1, and read the difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::packages::payload;
use crate::support::scratch::{Scratch, files};
use crate::tools::{said, tools};

fn expected() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lab")
}

fn zip(scratch: &Scratch, name: &str, files: &str) {
    let code = format!(
        "import zipfile\n\
         z = zipfile.ZipFile({name:?}, 'w')\n\
         z.comment = b'a comment'\n\
         for n, f in [{files}]:\n\
         \x20   z.write(f, n, zipfile.ZIP_DEFLATED if n.endswith('.txt') else zipfile.ZIP_STORED)\n\
         z.close()\n"
    );
    let mut python = Command::new("python3");
    python.args(["-c", &code]).current_dir(scratch.path(""));
    let made = said(&mut python);
    assert_eq!(made.code, 0, "{}", made.err);
}

/// FIPs, recovery images and a payload to put into them.
pub fn material() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("payload.bin", &payload());
    for part in ["bl2", "bl31", "scp", "conf", "old"] {
        scratch.write(part, part.repeat(300).as_bytes());
    }
    scratch.theirs(
        "fiptool create --tb-fw bl2 --soc-fw bl31 --scp-fw scp --fw-config conf --tb-fw-config \
         conf --hw-config conf --nt-fw old fip.bin",
    );
    scratch.write("config.txt", "a line\r\n".repeat(99).as_bytes());
    zip(
        &scratch,
        "board.zip",
        "('config.txt', 'config.txt'), ('SOFTWARE/fip.bin', 'fip.bin'), ('SOFTWARE/scp.bin', 'scp')",
    );
    scratch
}

/// The cells whose files are kept, and what they are made by.
const CELLS: [(&str, &str); 5] = [
    (
        "lava-juno-v2.13",
        "--board juno --base v2.13=board.zip --tags juno-r2,rack-1",
    ),
    ("lava-n1sdp-v2.13", "--board n1sdp --base v2.13=board.zip"),
    (
        "labgrid-juno-v2.13",
        "--board juno --base v2.13=board.zip --engine labgrid",
    ),
    (
        "labgrid-hikey960-fip",
        "--board hikey960 --base fip.bin --engine labgrid --place hi-1",
    ),
    (
        "labgrid-rpi4-tf-a",
        "--board rpi4 --engine labgrid --minutes 5",
    ),
];

#[test]
fn boards() {
    let tools = tools();
    let scratch = material();
    for (name, words) in CELLS {
        let url = match name.starts_with("lava") {
            true => "--url https://files.example.com/lab/",
            false => "",
        };
        scratch.ours(&format!("lab {words} --payload payload.bin {url} -o set"));
        compare(&scratch.path("set").join(name), name);
    }
    // What is text and not kept is made by the same functions.
    let mut compile = Command::new(tools.labgrid.join("python"));
    compile.args(["-W", "error", "-m", "py_compile"]);
    compile.arg(scratch.path("set/labgrid-juno-v2.13/test_psci_bench.py"));
    let compiled = said(&mut compile);
    assert_eq!(compiled.code, 0, "{}", compiled.err);
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
    let loaded = said(&mut env);
    assert_eq!(loaded.code, 0, "{}", loaded.err);
}

/// The texts of a cell beside those that are kept.
fn compare(cell: &Path, name: &str) {
    for (path, data) in files(cell) {
        let file = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        if !["job.yaml", "env.yaml", "cell.json", "test_psci_bench.py"].contains(&file) {
            continue;
        }
        // One of these is like another, but for the scenarios.
        if file == "test_psci_bench.py" && name != "labgrid-juno-v2.13" {
            continue;
        }
        let kept = expected().join(name).join(file);
        if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
            fs::create_dir_all(kept.parent().expect("a folder")).expect("made");
            fs::write(&kept, &data).expect("written");
        }
        let kept_data = fs::read(&kept).unwrap_or_default();
        assert_eq!(
            String::from_utf8_lossy(&data),
            String::from_utf8_lossy(&kept_data),
            "{}",
            kept.display()
        );
    }
}

/// What Python's reader finds in `new` beside `old`.
const COMPARE: &str = r#"
import sys, zipfile
old, new = (zipfile.ZipFile(path) for path in sys.argv[1:])
assert new.testzip() is None
assert old.comment == new.comment
assert old.namelist() == new.namelist(), (old.namelist(), new.namelist())
for a, b in zip(old.infolist(), new.infolist()):
    same = old.read(a) == new.read(b)
    assert same == (a.filename != "SOFTWARE/fip.bin"), a.filename
    assert a.date_time == b.date_time, (a, b)
    if same:
        assert (a.compress_type, a.compress_size, a.external_attr) == (
            b.compress_type, b.compress_size, b.external_attr), (a, b)
open("got.bin", "wb").write(new.read("SOFTWARE/fip.bin"))
"#;

#[test]
fn the_rest_of_a_recovery_image_is_kept() {
    let scratch = material();
    let base = "--board juno --payload payload.bin";
    scratch.ours(&format!("lab {base} --base board.zip -o set"));
    let mut python = Command::new("python3");
    python.args([
        "-c",
        COMPARE,
        "board.zip",
        "set/lava-juno-board/recovery.zip",
    ]);
    let compared = said(python.current_dir(scratch.path("")));
    assert_eq!(compared.code, 0, "{}", compared.err);
    // The FIP in it is the one that `fip build` makes, with the end that LAVA
    // wants.
    scratch.ours(&format!(
        "fip build {base} --base fip.bin --args end=off -o built.bin"
    ));
    assert!(scratch.read("got.bin") == scratch.read("built.bin"));
    // And labgrid's.
    scratch.ours(&format!(
        "lab {base} --base fip.bin --engine labgrid -o set"
    ));
    scratch.ours(&format!(
        "fip build {base} --base fip.bin --args end=park -o parked.bin"
    ));
    assert!(scratch.read("set/labgrid-juno-fip/fip.bin") == scratch.read("parked.bin"));
    // Unless the user has another in mind.
    scratch.ours(&format!(
        "lab {base} --base mine=fip.bin --engine labgrid --args end=reset -o set"
    ));
    scratch.ours(&format!(
        "fip build {base} --base fip.bin --args end=reset -o reset.bin"
    ));
    assert!(scratch.read("set/labgrid-juno-mine/fip.bin") == scratch.read("reset.bin"));
}
