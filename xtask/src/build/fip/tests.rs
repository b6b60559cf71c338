//! Packages, whole and broken.

use std::fs;
use std::process::Command;

use super::read::{Warning, read};
use super::write::{Builder, WriteError};
use crate::board::Uuid;
use crate::board::image_kinds::{KINDS, called, known};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

fn uuid(option: &str) -> Uuid {
    called(option).expect("a known kind").uuid
}

fn three() -> Builder {
    let mut builder = Builder::default();
    for (option, size) in [("nt-fw", 5), ("tb-fw", 3), ("soc-fw", 16)] {
        let data = (0..size).map(|n| n + size).collect();
        builder.image(uuid(option), data).expect("a good image");
    }
    builder
}

fn refused(file: &[u8]) -> String {
    read(file).expect_err("a broken package").to_string()
}

/// `three()` with 8 bytes at `at` replaced.
fn spoilt(at: usize, value: u64) -> Vec<u8> {
    let mut file = three().build().expect("images");
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    file
}

/// Offset of a field of entry `index`; 3 is the terminator.
fn field(index: usize, offset: usize) -> usize {
    16 + 40 * index + offset
}
const OFFSET: usize = 16;
const SIZE: usize = 24;

#[test]
fn known_uuids() {
    let bl33 = uuid("nt-fw");
    assert_eq!(bl33.to_string(), "D6D0EEA7-FCEA-D54B-9782-9934F234B6E4");
    assert_eq!(uuid("hw-config").0[..4], [0x08, 0xb8, 0xf1, 0xd9]);
    for (index, kind) in KINDS.iter().enumerate() {
        assert_eq!(known(kind.uuid), Some(kind), "two kinds with one UUID");
        assert_eq!(
            called(kind.option),
            Some(&KINDS[index]),
            "two kinds with one name"
        );
    }
}

#[test]
fn what_is_written_is_read() {
    for align in [1, 8, 4096] {
        let file = three()
            .align(align)
            .expect("a power of two")
            .build()
            .expect("images");
        let (package, warnings) = read(&file).expect("a good package");
        assert_eq!(warnings, []);
        let order: Vec<_> = package.entries.iter().map(|entry| entry.uuid).collect();
        assert_eq!(order, [uuid("tb-fw"), uuid("soc-fw"), uuid("nt-fw")]);
        assert_eq!(
            package.image(&file, uuid("nt-fw")),
            Some(&[5, 6, 7, 8, 9][..])
        );
        assert_eq!((package.serial, package.flags), (0x1234_5678, 0));
        assert_eq!(package.end, file.len());
        for entry in package.entries {
            assert!((entry.range.start as u64).is_multiple_of(align));
        }
    }
}

#[test]
fn unknown_images_come_last() {
    let mut builder = three();
    builder.image(Uuid([7; 16]), vec![1]).expect("a good image");
    builder.platform_flags(0xabcd);
    let file = builder.build().expect("images");
    let (package, _) = read(&file).expect("a good package");
    assert_eq!(package.entries[3].uuid, Uuid([7; 16]));
    assert_eq!(package.flags, 0xabcd_0000_0000);
}

#[test]
fn what_cannot_be_written() {
    let empty = Builder::default().build();
    assert_eq!(empty, Err(WriteError::Empty));
    let mut builder = three();
    let again = builder.image(uuid("nt-fw"), vec![1]).err();
    assert_eq!(again, Some(WriteError::Duplicate(uuid("nt-fw"))));
    let none = builder.image(uuid("fwu"), vec![]).err();
    assert_eq!(none, Some(WriteError::NoBytes(uuid("fwu"))));
    assert_eq!(
        builder.image(Uuid::NIL, vec![1]).err(),
        Some(WriteError::Nil)
    );
    assert_eq!(builder.align(3).err(), Some(WriteError::Alignment(3)));
    let large = builder.image(uuid("fwu"), vec![0; (128 << 20) + 1]).err();
    assert_eq!(
        large,
        Some(WriteError::TooLarge(uuid("fwu"), (128 << 20) + 1))
    );
}

#[test]
fn truncated_anywhere() {
    let file = three().build().expect("images");
    for cut in 0..file.len() {
        let error = refused(&file[..cut]);
        assert!(error.contains("offset "), "cut at {cut}: {error}");
    }
}

#[test]
fn every_malformed_package_is_refused_by_name_and_place() {
    let bl31 = "entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: ";
    let duplicate = {
        let mut file = three().build().expect("images");
        file.copy_within(16..32, field(1, 0));
        file
    };
    let mut nothing = three().build().expect("images");
    nothing.truncate(16);
    nothing.extend([0; 40]);
    let cases = [
        (spoilt(0, 0), "offset 0x0: no FIP".to_owned()),
        (
            spoilt(0, 0xaa64_0001),
            "offset 0x4: the serial number is 0".into(),
        ),
        (
            spoilt(field(1, OFFSET), 0x20),
            format!("{bl31}its data at 0x20 overlaps the list"),
        ),
        (
            spoilt(field(1, OFFSET), 0xb1),
            format!("{bl31}its data 0xb1..0xc1 overlaps that of entry 0"),
        ),
        (spoilt(field(1, SIZE), 0), format!("{bl31}its size is 0")),
        (
            spoilt(field(1, SIZE), 0x1000),
            format!("{bl31}its data ends at 0x10b3, and the file at 0xc8"),
        ),
        (
            spoilt(field(1, OFFSET), u64::MAX),
            format!("{bl31}0xffffffffffffffff + 0x10 wraps"),
        ),
        (
            spoilt(field(1, SIZE), u64::MAX),
            format!("{bl31}0xb3 + 0xffffffffffffffff wraps"),
        ),
        (
            spoilt(field(3, OFFSET), 0),
            "offset 0x88: the terminator says".into(),
        ),
        (
            spoilt(field(3, OFFSET), 0xc9),
            "offset 0x88: the terminator says".into(),
        ),
        (
            spoilt(field(3, SIZE), 1),
            "offset 0x88: the terminator has a size".into(),
        ),
        (
            spoilt(field(3, 0), 1),
            "offset 0xc8: the file ends within the list".into(),
        ),
        (
            duplicate,
            "entry 1 (tb-fw, Trusted Boot Firmware BL2) at offset 0x38: entry 0 has".into(),
        ),
        (nothing, "offset 0x10: the package has no entries".into()),
    ];
    for (file, expected) in cases {
        let error = refused(&file);
        assert!(
            error.starts_with(&expected),
            "{error}\ninstead of\n{expected}"
        );
    }
}

#[test]
fn an_endless_list_is_cut_off() {
    let mut file = three().build().expect("images");
    file.truncate(16);
    for n in 1..=300u128 {
        file.extend(n.to_le_bytes());
        file.extend([1; 24]);
    }
    assert!(refused(&file).ends_with("more than 256 entries"));
}

#[test]
fn trailing_bytes_are_a_warning() {
    let mut file = three().build().expect("images");
    let end = file.len();
    file.extend([0xff; 9]);
    let (_, warnings) = read(&file).expect("a good package");
    assert_eq!(warnings, [Warning::Trailing { at: end, bytes: 9 }]);
}

#[test]
fn the_same_bytes_as_fiptools() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Fiptool]).expect("fiptool");
    let dir = tempfile::tempdir().expect("a temporary directory");
    for align in [1u64, 8, 512] {
        let mut builder = Builder::default();
        builder.align(align).expect("a power of two");
        let mut fiptool = Command::new("fiptool");
        fiptool.args(["create", "--align", &align.to_string()]);
        for (index, kind) in KINDS.iter().enumerate() {
            let data = vec![index as u8; index * 7 + 1];
            let path = dir.path().join(kind.option);
            fs::write(&path, &data).expect("written");
            fiptool.arg(format!("--{}", kind.option)).arg(path);
            builder.image(kind.uuid, data).expect("a good image");
        }
        let theirs = dir.path().join("fip.bin");
        process::output(fiptool.arg(&theirs)).expect("fiptool packs all kinds");
        let theirs = fs::read(theirs).expect("there");
        let ours = builder.build().expect("images");
        assert_eq!(read(&theirs), read(&ours));
        assert!(theirs == ours, "aligned to {align}");
    }
}
