//! `cargo xtask fip` beside TF-A's own fiptool, and on what is no FIP.

mod support;

use std::fs;

use support::rows;
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
    scratch.refuses("fip unpack fip.bin --out some", "some/nt-fw.bin");
    scratch.ours("fip unpack fip.bin --out some --force");
    assert_eq!(content("some"), content("theirs"));
    // What is in the way of the last one is seen before the first is written.
    let last = format!("{}.bin", OTHER.to_uppercase());
    fs::create_dir_all(scratch.path("blocked").join(&last)).expect("made");
    scratch.refuses(
        "fip unpack fip.bin --out blocked --force",
        "this is a directory",
    );
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

/// A package of three images.
fn three() -> Vec<u8> {
    let mut builder = Builder::default();
    for (option, size) in [("tb-fw", 33), ("soc-fw", 16), ("nt-fw", 5)] {
        let uuid = called(option).expect("a kind").uuid;
        builder.image(uuid, vec![size; size.into()]).expect("good");
    }
    builder.build().expect("images")
}

/// A field of an entry, of which 3 is the terminator, or an offset into the file; its new
/// value; and the error. `END` is the size of the file. TF-A's continuous integration gives
/// its firmware such packages, and fiptool accepts some.
const MALFORMED: &str = "
0 | 0x1 | offset 0x0: no FIP: 0x00000001
0 | 0xaa640001 | offset 0x4: the serial number is 0
1.uuid | BL2 | entry 1 (tb-fw, Trusted Boot Firmware BL2) at offset 0x38: entry 0 has the same
1.offset | 0x0 | entry 1 SOC at offset 0x38: its data at 0x0 overlaps the list
1.offset | 0x90 | entry 1 SOC at offset 0x38: its data at 0x90 overlaps the list
2.offset | 0xb1 | entry 2 NT at offset 0x60: its data 0xb1..0xb6 overlaps that of entry 0
0.size | 0x22 | entry 1 SOC at offset 0x38: its data 0xd1..0xe1 overlaps that of entry 0
0.size | 0x0 | entry 0 TB at offset 0x10: its size is 0
2.offset | END | entry 2 NT at offset 0x60: its data ends at
2.size | 0x6 | entry 2 NT at offset 0x60: its data ends at
0.size | 0x10000000000 | entry 0 TB at offset 0x10: its data ends at 0x100000000b0
0.offset | 0xffffffffffffffff | entry 0 TB at offset 0x10: 0xffffffffffffffff + 0x21 wraps
0.size | 0xffffffffffffffff | entry 0 TB at offset 0x10: 0xb0 + 0xffffffffffffffff wraps
3.offset | 0x0 | offset 0x88: the terminator says
3.offset | END-1 | offset 0x88: the terminator says
3.offset | END+1 | offset 0x88: the terminator says
3.size | 0x1 | offset 0x88: the terminator has a size
3.uuid | 0x1 | the file ends within the list";

/// The files of `MALFORMED`, and the parts of their messages.
fn malformed() -> Vec<(Vec<u8>, String)> {
    let good = three();
    let mut empty = good.clone();
    empty[16..56].fill(0);
    let mut all = vec![(empty, "offset 0x10: the package has no entries".into())];
    for row in rows(MALFORMED) {
        let (at, field) = row[0].split_once('.').unwrap_or((row[0], ""));
        let at: usize = at.parse().expect("a number");
        let at = match field {
            "" => at,
            "uuid" => 16 + 40 * at,
            "offset" => 16 + 40 * at + 16,
            _ => 16 + 40 * at + 24,
        };
        let mut file = good.clone();
        let end = good.len() as u64;
        let value = match row[1] {
            "BL2" => {
                file.copy_within(16..32, at);
                u64::from_le_bytes(good[16..24].try_into().expect("eight"))
            }
            "END" => end,
            "END-1" => end - 1,
            "END+1" => end + 1,
            hex => u64::from_str_radix(&hex[2..], 16).expect(hex),
        };
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let names = row[2].replace(" TB ", " (tb-fw, Trusted Boot Firmware BL2) ");
        let names = names.replace(" SOC ", " (soc-fw, EL3 Runtime Firmware BL31) ");
        all.push((
            file,
            names.replace(" NT ", " (nt-fw, Non-Trusted Firmware BL33) "),
        ));
    }
    all
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
