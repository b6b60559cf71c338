//! Compares `cargo xtask fip` with the TF-A fiptool, and runs it on files that are not FIPs.

use std::fs;

use boards::image_kinds::IMAGE_KINDS;
use fastrand::Rng;

use crate::support::PROGRAM;
use crate::support::scratch::{Scratch, files};

/// Two UUIDs for which there is no option.
const BLOB: &str = "cfacc2c4-15e8-4668-82be-430a38fad705";
const OTHER: &str = "54464222-a4cf-4bf8-b1b6-cee7dade539e";

/// Returns options for one image of each known kind, and two of unknown kinds.
fn all_images(scratch: &Scratch) -> String {
    let mut words = String::new();
    for (index, kind) in IMAGE_KINDS.iter().enumerate() {
        let name = kind.option;
        scratch.write(name, &vec![index as u8 + 1; index * 13 + 1]);
        words += &format!(" --{name} {name}");
    }
    for (name, uuid) in [("b1", BLOB), ("b2", OTHER)] {
        scratch.write(name, name.repeat(20).as_bytes());
        words += &match name {
            "b1" => format!(" --blob uuid={uuid},file={name}"),
            _ => format!(" --blob file={name},uuid={uuid}"),
        };
    }
    words
}

#[test]
fn the_same_bytes_as_fiptool_makes() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let images = all_images(&scratch);
    scratch.write("new", b"new");
    let same = |our_file: &str, their_file: &str, message: &str| {
        assert!(
            scratch.read(our_file) == scratch.read(their_file),
            "{message}"
        );
    };
    for (align, flags) in [
        ("", ""),
        ("--align 0x200", ""),
        ("--align 020", "--plat-toc-flags ABCD"),
    ] {
        let layout = format!("{align} {flags}");
        scratch.theirs(&format!("fiptool create {layout} {images} theirs.bin"));
        scratch.ours(&format!("fip create --out ours.bin {layout} {images}"));
        same("ours.bin", "theirs.bin", &layout);
        scratch.theirs("fiptool remove theirs.bin --fwu --out less.bin --force");
        for changes in [
            "--nt-fw new --nt-fw-cert new --fwu b1".to_owned(),
            format!("--blob uuid={OTHER},file=new --blob uuid={BLOB},file=new --tb-fw new"),
        ] {
            let changes = format!("{layout} {changes}");
            scratch.theirs(&format!("fiptool update --out t.bin {changes} less.bin"));
            scratch.ours(&format!("fip update less.bin --out o.bin {changes}"));
            same("o.bin", "t.bin", &changes);
        }
        let gone = format!("{align} --nt-fw --rot-cert --blob uuid={BLOB}");
        let theirs = "fiptool remove --out t.bin --force";
        scratch.theirs(&format!("{theirs} {gone} theirs.bin"));
        scratch.ours(&format!("fip remove ours.bin --out o.bin {gone}"));
        same("o.bin", "t.bin", &gone);
        // A missing image causes only a warning, and the layout can be changed without changing any
        // images.
        let stderr = scratch.ours("fip remove o.bin --nt-fw --tb-fw");
        assert!(stderr.contains("warning: o.bin has no nt-fw"), "{stderr}");
        scratch.theirs("fiptool remove t.bin --nt-fw --tb-fw");
        same("o.bin", "t.bin", "nt-fw is missing");
        for layout in ["--align 64", "--plat-toc-flags 12"] {
            scratch.theirs(&format!("fiptool update t.bin {layout}"));
            scratch.ours(&format!("fip update o.bin {layout}"));
            same("o.bin", "t.bin", layout);
        }
        scratch.theirs(&format!("{theirs} {gone} theirs.bin"));
        scratch.ours(&format!("fip remove ours.bin {gone}"));
        same("ours.bin", "t.bin", "in place");
    }
}

/// fiptool repairs a package's serial number, leaves out empty images, and removes the last image.
#[test]
fn generated_packages_are_the_same_as_those_of_fiptool() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let names = ["tb-fw", "soc-fw", "nt-fw", "fwu", "hw-config", "b1"];
    let mut random = Rng::with_seed(1);
    for round in 0..40 {
        let mut options = [String::new(), String::new()];
        for name in names {
            // A third of the files is empty.
            let size = random.usize(..3) * random.usize(..700);
            scratch.write(name, &vec![round; size]);
            let option = match name {
                "b1" => format!(" --blob uuid={BLOB},file={name}"),
                _ => format!(" --{name} {name}"),
            };
            if random.bool() {
                options[random.usize(..2)] += &option;
            }
        }
        let [first, second] = options;
        let align = format!("--align {}", 1 << random.u32(..10));
        let first = format!("{first} --scp-fw tb-fw");
        scratch.theirs(&format!("fiptool create {align} {first} base.bin"));
        scratch.ours(&format!("fip create --out o.bin {align} {first}"));
        let mut base = scratch.read("base.bin");
        assert!(scratch.read("o.bin") == base, "create {align} {first}");
        base[4..8].copy_from_slice(&random.u32(..4).to_le_bytes());
        if base.len() > 16 + 40 && random.bool() {
            // Makes an image empty in the list of entries, and keeps its bytes.
            base[16 + 24..16 + 32].fill(0);
        }
        scratch.write("base.bin", &base);
        let gone = names.map(|name| match (name, random.u32(..3)) {
            (_, 0) => String::new(),
            ("b1", _) => format!(" --blob uuid={BLOB}"),
            _ => format!(" --{name}"),
        });
        let gone = format!("{} --scp-fw", gone.concat());
        for (verb, changes) in [("update", &second), ("remove", &gone)] {
            let force = if verb == "remove" { "--force" } else { "" };
            let changes = format!("{align} {changes}");
            scratch.theirs(&format!(
                "fiptool {verb} {force} --out t.bin {changes} base.bin"
            ));
            scratch.ours(&format!("fip {verb} base.bin --out o.bin {changes}"));
            let is_same = scratch.read("o.bin") == scratch.read("t.bin");
            assert!(is_same, "round {round}: {verb} {changes}");
        }
    }
}

#[test]
fn unpacked_as_fiptool_does() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let images = all_images(&scratch);
    scratch.ours(&format!("fip create --out fip.bin {images}"));
    fs::create_dir(scratch.path("theirs")).expect("made");
    scratch.theirs("fiptool unpack --out theirs fip.bin");
    scratch.ours("fip unpack fip.bin --out ours");
    let content = |dir: &str| -> Vec<_> {
        let dir = scratch.path(dir);
        let all = files(&dir).into_iter();
        all.map(|(path, data)| (path.strip_prefix(&dir).expect("in it").to_owned(), data))
            .collect()
    };
    assert_eq!(content("ours").len(), IMAGE_KINDS.len() + 2);
    assert_eq!(content("ours"), content("theirs"));

    // If just one of the files exists, the command fails and writes nothing.
    fs::create_dir(scratch.path("some")).expect("made");
    scratch.write("some/nt-fw.bin", b"mine");
    let there = "some/nt-fw.bin: already exists";
    scratch.refuses("fip unpack fip.bin --out some", there);
    scratch.ours("fip unpack fip.bin --out some --force");
    assert_eq!(content("some"), content("theirs"));
    // If the last file cannot be written, this is detected before the first file is written.
    let last = format!("{}.bin", OTHER.to_uppercase());
    fs::create_dir_all(scratch.path("blocked").join(&last)).expect("made");
    scratch.refuses(
        "fip unpack fip.bin --out blocked --force",
        ": is a directory",
    );
}

#[test]
fn what_follows_a_package_is_a_warning() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("nt-fw", b"payload");
    scratch.ours("fip create --out fip.bin --nt-fw nt-fw");
    let whole = scratch.read("fip.bin");
    scratch.write("long.bin", &[&whole[..], &[0xff; 9]].concat());
    let stderr = scratch.ours("fip update long.bin --nt-fw nt-fw --out new.bin");
    let warning = "warning: long.bin: 9 bytes follow the end of the package";
    assert!(stderr.contains(warning), "{stderr}");
    assert!(scratch.read("new.bin") == whole);
}

/// Tests packages that have an empty image, flags in the terminator, or no images.
#[test]
fn faulty_package_is_listed_unpacked_and_repaired_with_a_warning() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    for name in ["tb-fw", "nt-fw"] {
        scratch.write(name, name.as_bytes());
    }
    scratch.ours("fip create --out fip.bin --tb-fw tb-fw --nt-fw nt-fw");
    let whole = scratch.read("fip.bin");
    let mut faulty = whole.clone();
    // Set the size of the first image to 0, and set a flag in the terminator.
    faulty[16 + 24..][..8].fill(0);
    faulty[16 + 80 + 32] = 1;
    scratch.write("faulty.bin", &faulty);
    let warnings = [
        "tb-fw, Trusted Boot Firmware BL2) at offset 0x10: its size is 0",
        "its size or flags are nonzero",
    ];
    for line in [
        "fip info faulty.bin",
        "fip unpack faulty.bin --out images",
        "fip update faulty.bin --tb-fw tb-fw --out new.bin",
    ] {
        let stderr = scratch.ours(line);
        let is_said = warnings.iter().all(|warning| stderr.contains(warning));
        assert!(
            is_said && stderr.contains("warning: faulty.bin: "),
            "{stderr}"
        );
    }
    assert_eq!(scratch.read("images/nt-fw.bin"), b"nt-fw");
    assert_eq!(scratch.read("images/tb-fw.bin"), b"");
    assert!(scratch.read("new.bin") == whole);
    let stderr = scratch.ours("fip update faulty.bin --align 8 --out new.bin");
    let empty = "warning: new.bin: tb-fw, Trusted Boot Firmware BL2 is empty and has no entry";
    assert!(stderr.contains(empty), "{stderr}");
    scratch.refuses(
        "fip pack --board juno --base faulty.bin -o new.bin",
        "its size is 0",
    );
    scratch.write("empty.bin", &[&whole[..16], &[0; 40]].concat());
    let stderr = scratch.ours("fip info empty.bin");
    assert!(
        stderr.contains("warning: empty.bin: offset 0x10: the package has no entries"),
        "{stderr}"
    );
    scratch.ours("fip update empty.bin --tb-fw tb-fw --nt-fw nt-fw");
    assert!(scratch.read("empty.bin") == whole);
}
