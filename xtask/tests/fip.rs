//! `cargo xtask fip` beside TF-A's own fiptool, and on what is no FIP.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use support::scratch::{Scratch, files};
use xtask::board::Uuid;
use xtask::board::image_kinds::{KINDS, called};
use xtask::build::fip::{Builder, read};

/// A UUID that no option stands for, and another.
const BLOB: &str = "cfacc2c4-15e8-4668-82be-430a38fad705";
const OTHER: &str = "54464222-a4cf-4bf8-b1b6-cee7dade539e";

/// One image of each kind and two of unknown kinds, as options.
fn all_images(scratch: &Scratch) -> String {
    let mut words = String::new();
    for (index, kind) in KINDS.iter().enumerate() {
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
    let scratch = Scratch::new();
    let images = all_images(&scratch);
    scratch.write("new", b"new");
    let same = |ours: &str, theirs: &str, what: &str| {
        assert!(scratch.read(ours) == scratch.read(theirs), "{what}");
    };
    for (align, flags) in [
        ("", ""),
        ("--align 512", ""),
        ("--align 0x200", ""),
        ("--align 020", ""),
        ("", "--plat-toc-flags 0x1f"),
        ("--align 8", "--plat-toc-flags ABCD"),
    ] {
        let layout = format!("{align} {flags}");
        scratch.theirs(&format!("fiptool create {layout} {images} theirs.bin"));
        scratch.ours(&format!("fip create --out ours.bin {layout} {images}"));
        same("ours.bin", "theirs.bin", &layout);
        scratch.theirs("fiptool remove theirs.bin --fwu --out less.bin --force");
        for changes in [
            "--nt-fw new --nt-fw-cert new --fwu b1".to_owned(),
            format!("--blob uuid={OTHER},file=new --blob uuid={BLOB},file=new --tb-fw new"),
            format!("--blob uuid={OTHER},file=new"),
        ] {
            let changes = format!("{layout} {changes}");
            scratch.theirs(&format!("fiptool update --out t.bin {changes} less.bin"));
            scratch.ours(&format!("fip update less.bin --out o.bin {changes}"));
            same("o.bin", "t.bin", &changes);
        }
        let gone = format!("{align} --nt-fw --rot-cert --blob uuid={BLOB}");
        scratch.theirs(&format!(
            "fiptool remove --out t.bin --force {gone} theirs.bin"
        ));
        scratch.ours(&format!("fip remove ours.bin --out o.bin {gone}"));
        same("o.bin", "t.bin", &gone);
        scratch.ours(&format!("fip remove ours.bin {gone}"));
        same("ours.bin", "t.bin", "in place");
    }
}

#[test]
fn unpacked_as_fiptool_does() {
    let scratch = Scratch::new();
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
    assert_eq!(content("ours").len(), KINDS.len() + 2);
    assert_eq!(content("ours"), content("theirs"));

    let said = scratch.refused("fip unpack fip.bin --out ours");
    let there = "ours/scp-fwu-cfg.bin: this file is there already";
    assert!(said.contains(there), "{said}");
    // One that is there is enough, and nothing else is written.
    fs::create_dir(scratch.path("some")).expect("made");
    scratch.write("some/nt-fw.bin", b"mine");
    let said = scratch.refused("fip unpack fip.bin --out some");
    assert!(said.contains("some/nt-fw.bin"), "{said}");
    scratch.ours("fip unpack fip.bin --out some --force");
    assert_eq!(content("some"), content("theirs"));
    // What is in the way of the last one is seen before the first is written.
    let last = format!("{}.bin", OTHER.to_uppercase());
    fs::create_dir_all(scratch.path("blocked").join(&last)).expect("made");
    let said = scratch.refused("fip unpack fip.bin --out blocked --force");
    assert!(said.contains("this is a directory"), "{said}");
}

#[test]
fn what_is_not_understood_stays() {
    let scratch = Scratch::new();
    let mut builder = Builder::default();
    let uuid = |option: &str| called(option).expect("a kind").uuid;
    builder.image(uuid("tb-fw"), vec![1; 9]).expect("good");
    builder
        .image(Uuid::from_bytes([7; 16]), vec![2; 5])
        .expect("good");
    builder.image(uuid("nt-fw"), vec![3; 7]).expect("good");
    let mut file = builder.build().expect("images");
    // The header's serial number and flags, and the flags of two entries.
    file[4..8].copy_from_slice(&0x55u32.to_le_bytes());
    file[8..16].copy_from_slice(&0x1234_0000_0001u64.to_le_bytes());
    file[16 + 32] = 0x11;
    file[16 + 80 + 32] = 0x22;
    scratch.write("fip.bin", &file);
    scratch.write("new", b"new");
    scratch.ours("fip update fip.bin --nt-fw new --out new.bin");
    let new = scratch.read("new.bin");
    let (package, _) = read(&new).expect("a good package");
    assert_eq!((package.serial, package.flags), (0x55, 0x1234_0000_0001));
    let flags: Vec<u64> = package.entries.iter().map(|entry| entry.flags).collect();
    assert_eq!(flags, [0x11, 0, 0x22]);
    assert_eq!(
        package.image(&new, Uuid::from_bytes([7; 16])),
        Some(&[2; 5][..])
    );
    scratch.ours("fip remove new.bin --nt-fw");
    let left = scratch.read("new.bin");
    let (package, _) = read(&left).expect("a good package");
    assert_eq!(package.entries.len(), 2);
    assert_eq!(package.entries[1].flags, 0x22);
}

/// A package of three images, and its fields: of an entry, 3 being the
/// terminator.
fn three() -> Vec<u8> {
    let mut builder = Builder::default();
    for (option, size) in [("tb-fw", 33), ("soc-fw", 16), ("nt-fw", 5)] {
        let uuid = called(option).expect("a kind").uuid;
        builder.image(uuid, vec![size; size.into()]).expect("good");
    }
    builder.build().expect("images")
}

fn field(index: usize, offset: usize) -> usize {
    16 + 40 * index + offset
}

const OFFSET: usize = 16;
const SIZE: usize = 24;

/// What TF-A's CI gives its firmware to stumble over, what fiptool stumbles
/// over, and where we are to see it.
fn malformed() -> Vec<(Vec<u8>, String)> {
    let good = three();
    let size = good.len() as u64;
    let spoilt = |at: usize, value: u64| {
        let mut file = good.clone();
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        file
    };
    let mut duplicate = good.clone();
    duplicate.copy_within(16..32, field(1, 0));
    let mut empty = good.clone();
    empty[16..56].fill(0);
    let entry = |index: usize, what: &str| {
        let name = [
            "tb-fw, Trusted Boot Firmware BL2",
            "soc-fw, EL3 Runtime Firmware BL31",
            "nt-fw, Non-Trusted Firmware BL33",
        ][index];
        let at = field(index, 0);
        format!("entry {index} ({name}) at offset {at:#x}: {what}")
    };
    let file = |at: usize, what: &str| format!("offset {at:#x}: {what}");
    vec![
        (spoilt(0, 1), file(0, "no FIP: 0x00000001")),
        (spoilt(0, 0xaa64_0001), file(4, "the serial number is 0")),
        (empty, file(16, "the package has no entries")),
        (
            duplicate,
            "entry 1 (tb-fw, Trusted Boot Firmware BL2) at offset 0x38: entry 0 has the same"
                .into(),
        ),
        // Data in the header, in the list, in that of another entry.
        (
            spoilt(field(1, OFFSET), 0),
            entry(1, "its data at 0x0 overlaps the list"),
        ),
        (
            spoilt(field(1, OFFSET), 0x90),
            entry(1, "its data at 0x90 overlaps the list"),
        ),
        (
            spoilt(field(2, OFFSET), 0xb1),
            entry(2, "its data 0xb1..0xb6 overlaps that of entry 0"),
        ),
        (
            spoilt(field(0, SIZE), 34),
            entry(1, "its data 0xd1..0xe1 overlaps that of entry 0"),
        ),
        // Data that is not there.
        (spoilt(field(0, SIZE), 0), entry(0, "its size is 0")),
        (spoilt(field(2, OFFSET), size), entry(2, "its data ends at")),
        (spoilt(field(2, SIZE), 6), entry(2, "its data ends at")),
        (
            spoilt(field(0, SIZE), 1 << 40),
            entry(0, "its data ends at 0x100000000b0"),
        ),
        (
            spoilt(field(0, OFFSET), u64::MAX),
            entry(0, "0xffffffffffffffff + 0x21 wraps"),
        ),
        (
            spoilt(field(0, SIZE), u64::MAX),
            entry(0, "0xb0 + 0xffffffffffffffff wraps"),
        ),
        // An end that is not one.
        (
            spoilt(field(3, OFFSET), 0),
            file(field(3, 0), "the terminator says"),
        ),
        (
            spoilt(field(3, OFFSET), size - 1),
            file(field(3, 0), "the terminator says"),
        ),
        (
            spoilt(field(3, OFFSET), size + 1),
            file(field(3, 0), "the terminator says"),
        ),
        (
            spoilt(field(3, SIZE), 1),
            file(field(3, 0), "the terminator has a size"),
        ),
        (
            spoilt(field(3, 0), 1),
            "the file ends within the list".into(),
        ),
    ]
}

/// Every command that reads a package.
const READERS: [&str; 6] = [
    "fip info fip.bin",
    "fip unpack fip.bin --out images",
    "fip update fip.bin --nt-fw new",
    "fip update fip.bin --nt-fw new --out out.bin",
    "fip remove fip.bin --nt-fw",
    "fip build --board qemu --base fip.bin -o out.bin",
];

#[test]
fn what_is_malformed_is_refused_by_all_and_nothing_written() {
    let scratch = Scratch::new();
    scratch.write("new", b"new");
    for (file, expected) in malformed() {
        scratch.write("fip.bin", &file);
        for line in READERS {
            let said = scratch.refused(line);
            assert!(
                said.contains(&expected),
                "{line}: {said}instead of {expected}"
            );
        }
    }
}

#[test]
fn truncated_anywhere() {
    let scratch = Scratch::new();
    scratch.write("new", b"new");
    let whole = three();
    for cut in 0..whole.len() {
        scratch.write("fip.bin", &whole[..cut]);
        let line = READERS[1 + cut % (READERS.len() - 1)];
        let said = scratch.refused(line);
        assert!(said.contains("offset "), "cut at {cut}: {line}: {said}");
    }
}

#[test]
fn what_follows_a_package_is_a_warning() {
    let scratch = Scratch::new();
    scratch.write("nt-fw", b"payload");
    scratch.ours("fip create --out fip.bin --nt-fw nt-fw");
    let whole = scratch.read("fip.bin");
    scratch.write("long.bin", &[&whole[..], &[0xff; 9]].concat());
    let said = scratch.ours("fip update long.bin --nt-fw nt-fw --out new.bin");
    let warning = "warning: long.bin: 9 bytes follow the package's end";
    assert!(said.contains(warning), "{said}");
    assert!(scratch.read("new.bin") == whole);
}

#[test]
fn bad_options() {
    let scratch = Scratch::new();
    scratch.write("a", b"a");
    scratch.write("none", b"");
    scratch.ours("fip create --out fip.bin --fwu a");
    for (line, expected) in [
        ("create --out f --blob uuid=1,file=a", "\"1\" is no UUID"),
        ("create --out f --blob file=a", "uuid=U,file=F"),
        ("create --out f --blob file=a,uuid=1", "\"1\" is no UUID"),
        ("create --out f --align 0xz --fwu a", "no number of bytes"),
        ("create --out f --align 08 --fwu a", "no number of bytes"),
        (
            "create --out f --blob uuid=00000000-0000-0000-0000-000000000000,file=a",
            "UUID of zeros",
        ),
        (
            "create --out f --fwu a --blob uuid=4f511d11-2be5-4e49-b4c5-83c2f715840a,file=a",
            "given twice",
        ),
        ("create --out f --plat-toc-flags 10000 --fwu a", "16 bits"),
        ("create --out f --align 3 --fwu a", "not a power of two"),
        ("create --out f --fwu none", "the file is empty"),
        ("create --out f --fwu gone", "--fwu gone"),
        ("create --out f", "no image is given"),
        ("update fip.bin", "no image is given"),
        (
            "update fip.bin --fwu a --out a",
            "the file that --fwu reads",
        ),
        (
            "update fip.bin --fwu a --out gone/a",
            "there is no directory",
        ),
        ("remove fip.bin", "no image is named"),
        ("remove fip.bin --fwu", "nothing would be left"),
        ("remove fip.bin --nt-fw", "there is no nt-fw"),
        ("unpack fip.bin --out a", "--out a"),
    ] {
        let said = scratch.refused(&format!("fip {line}"));
        assert!(said.contains(expected), "{line}: {said}");
    }
    // Not replaced by a rename either, which a directory's owner may do.
    let mode = |mode| fs::set_permissions(scratch.path("fip.bin"), Permissions::from_mode(mode));
    mode(0o444).expect("set");
    for line in [
        "fip update fip.bin --nt-fw a",
        "fip create --out fip.bin --nt-fw a",
    ] {
        let said = scratch.refused(line);
        assert!(said.contains("it is read-only"), "{line}: {said}");
    }
}
