//! What is refused, with nothing written.

use crate::support::scratch::Scratch;
use crate::written::material;

fn refused(scratch: &Scratch, line: &str, expected: &str) {
    let said = scratch.refused(line);
    assert!(said.contains(expected), "{line}: {said}");
}

#[test]
fn bases() {
    let scratch = material();
    let juno = "lab --board juno --payload payload.bin -o set";
    let base = |file: &str| format!("{juno} --base {file}");
    scratch.write("empty", b"");
    scratch.write("text", b"this is no firmware");
    let zip = scratch.read("board.zip");
    scratch.write("half.zip", &zip[..zip.len() / 2]);
    // The name of the FIP, in both of its places.
    let mut other = zip.clone();
    let name = b"SOFTWARE/fip.bin";
    for at in 0..other.len() - name.len() {
        if other[at..].starts_with(name) {
            other[at + 9] = b'F';
        }
    }
    scratch.write("other.zip", &other);
    refused(&scratch, juno, "give the one that it boots now");
    refused(&scratch, &base("missing"), "--base missing: No such file");
    refused(&scratch, &base("empty"), "--base empty: the FIP");
    refused(&scratch, &base("text"), "--base text: the FIP");
    refused(
        &scratch,
        &base("half.zip"),
        "--base half.zip: this is a broken zip",
    );
    refused(
        &scratch,
        &base("other.zip"),
        "there is no SOFTWARE/fip.bin in it, but SOFTWARE/Fip.bin",
    );
    refused(&scratch, &base("fip.bin"), "this is a FIP alone");
    refused(
        &scratch,
        &base("a/b=fip.bin"),
        "--base a/b=fip.bin: No such file",
    );
    refused(
        &scratch,
        "lab --board hikey960 --engine labgrid --base board.zip -o set",
        "no [lab]",
    );
    refused(
        &scratch,
        "lab --board hikey960 --base fip.bin --payload payload.bin -o set",
        "use --engine labgrid",
    );
    refused(
        &scratch,
        "lab --board rpi4 --payload payload.bin -o set",
        "use --engine labgrid",
    );
    refused(
        &scratch,
        "lab --board rpi4 --base fip.bin -o set",
        "takes no FIP",
    );
    refused(
        &scratch,
        "lab --base fip.bin -o set",
        "use --tf-a DIR or --variant",
    );
    refused(
        &scratch,
        "lab --payload payload.bin -o set",
        "that is built here",
    );
    refused(
        &scratch,
        &format!("{} --base x=board.zip --name both", base("y=board.zip")),
        "there are 2 cells",
    );
    refused(
        &scratch,
        &format!("{} --base b/board.zip", base("board.zip")),
        "two cells are called lava-juno-board",
    );
}

/// One that is wrong keeps the good ones from being written, too.
#[test]
fn all_or_none() {
    let scratch = material();
    let line = "lab --board juno,rpi4 --base board.zip --payload payload.bin -o set";
    scratch.refused(line);
    let good = "lab --board juno --base board.zip --payload payload.bin -o set";
    scratch.ours(good);
    // Also where it would be the second of two that is there already.
    let two = "lab --board juno --base new=board.zip --base board.zip --payload payload.bin -o set";
    refused(&scratch, two, "lava-juno-board is there already");
    let cells = std::fs::read_dir(scratch.path("set")).expect("there");
    assert_eq!(cells.count(), 1);
}

/// What a cell's folder has besides stays, and so does what is read.
#[test]
fn what_is_not_replaced() {
    let scratch = material();
    let line = "lab --board juno --payload payload.bin --force -o set --base";
    scratch.ours(&format!("{line} v=board.zip"));
    let inside = "set/lava-juno-v/board.zip";
    scratch.write(inside, &scratch.read("board.zip"));
    let refused = |base: &str, expected: &str| {
        refused(&scratch, &format!("{line} v={base}"), expected);
    };
    refused("board.zip", "board.zip is not from here");
    std::fs::remove_file(scratch.path(inside)).expect("removed");
    refused("set/lava-juno-v/recovery.zip", "copy it elsewhere");
    // One that is read for another cell is in nobody's way.
    scratch.ours(&format!("{line} w=set/lava-juno-v/recovery.zip"));
    scratch.ours(&format!("{line} v=board.zip"));
    let cells = std::fs::read_dir(scratch.path("set")).expect("there");
    assert_eq!(cells.count(), 2);
    // LAVA would look for a file called `re`.
    let line = "lab --board juno --payload payload.bin --base board.zip";
    super::refused::refused(&scratch, &format!("{line} -o re#al"), "give --url");
    scratch.ours(&format!(
        "{line} -o re#al --url https://files.example.com/lab"
    ));
}

#[test]
fn words() {
    let scratch = Scratch::new();
    scratch.write("file", b"");
    for (line, expected) in [
        ("lab -o file", "this is no directory"),
        (
            "lab --board jupiter -o set",
            "there is no board \"jupiter\"",
        ),
        ("lab --args method=warm -o set", "method=tftf,warm"),
        ("lab --args itterations=3 -o set", "itterations"),
        ("lab --smp 32 -o set", "--smp 24 or less"),
        ("lab --smp 0 -o set", "--smp 0"),
        ("lab --engine labgird -o set", "labgird"),
        ("lab --name a/b -o set", "up to 64 letters"),
        ("lab --minutes 0 -o set", "0 is not in"),
        ("lab --board juno --icount -o set", "--icount is about QEMU"),
        ("lab --board imx8mp -o set", "its own tool makes"),
        (
            "lab --place bench -o set",
            "--place is about labgrid, and this is for lava",
        ),
        (
            "lab --engine labgrid --tags fast -o set",
            "--tags is about lava, and this is for labgrid",
        ),
        ("lab --args only=help -o set", "which no job passes with"),
        ("lab --args only=null_call -o set", "there is none"),
        ("lab --url https://h/a?b#c -o set", "what is behind '?'"),
        ("lab --url h/a -o set", "takes http://HOST/"),
        ("lab --tags a.b -o set", "up to 50 letters"),
        ("lab --device-type \u{ffff} -o set", "printable text"),
        ("lab --nt-fw-key key.pem -o set", "there is no --base"),
        (
            "lab --variant coherency=hw --variant coherency=hw -o set",
            "two cells are called",
        ),
        ("report --matrix .", "there is no cell.json"),
        ("report --matrix file", ""),
        (
            "report --matrix file --format html",
            "no place for --matrix; these have: text, md, rst, json",
        ),
        ("report --matrix missing", "missing: No such file"),
    ] {
        // An empty log is no error of the report's, but not a run either.
        if line == "report --matrix file" {
            let (code, said) = scratch.outcome(line);
            assert_eq!(code, 3, "{said}");
            assert!(said.contains("the log is empty"), "{said}");
            continue;
        }
        refused(&scratch, line, expected);
    }
}
