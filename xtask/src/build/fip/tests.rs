//! Packages, whole and broken.

use std::fs;
use std::process::Command;

use uuid::Uuid;

use super::layout::IMAGE_MAX;
use super::read::read;
use super::write::Builder;
use crate::board::image_kinds::{KINDS, called, known, uuid_of};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

fn three() -> Builder {
    let mut builder = Builder::default();
    for (option, size) in [("nt-fw", 5), ("tb-fw", 3), ("soc-fw", 16)] {
        let data = (0..size).map(|n| n + size).collect();
        builder.image(uuid_of(option), data).expect("a good image");
    }
    builder
}

fn built() -> Vec<u8> {
    three().build().expect("images")
}

fn refused(file: &[u8]) -> String {
    format!("{:#}", read(file).expect_err("a broken package"))
}

/// Returns the package of three with 8 bytes at `at` replaced.
fn spoilt(at: usize, value: u64) -> Vec<u8> {
    let mut file = built();
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    file
}

/// Returns the offset of a field of entry `index`; 3 is the terminator.
fn field(index: usize, offset: usize) -> usize {
    16 + 40 * index + offset
}
const OFFSET: usize = 16;
const SIZE: usize = 24;

#[test]
fn every_kind_has_an_option_and_a_uuid_of_its_own() {
    let bl33 = format!("{:X}", uuid_of("nt-fw"));
    assert_eq!(bl33, "D6D0EEA7-FCEA-D54B-9782-9934F234B6E4");
    for kind in &KINDS {
        assert_eq!(
            (known(kind.uuid), called(kind.option)),
            (Some(kind), Some(kind))
        );
    }
}

#[test]
fn a_written_package_is_read() {
    for align in [1, 8, 4096] {
        let file = three()
            .align(align)
            .and_then(|it| it.build())
            .expect("images");
        let (package, warning) = read(&file).expect("a good package");
        assert_eq!(warning, None);
        let order: Vec<_> = package.entries.iter().map(|entry| entry.uuid).collect();
        assert_eq!(order, ["tb-fw", "soc-fw", "nt-fw"].map(uuid_of));
        let bl33 = package.image(&file, uuid_of("nt-fw"));
        assert_eq!(bl33, Some(&[5, 6, 7, 8, 9][..]));
        assert_eq!((package.serial, package.flags), (0x1234_5678, 0));
        let starts = package.entries.iter().map(|entry| entry.range.start as u64);
        assert!(starts.into_iter().all(|start| start.is_multiple_of(align)));
    }
}

#[test]
fn unknown_images_come_last_and_bytes_after_the_end_are_a_warning() {
    let unknown = Uuid::from_bytes([7; 16]);
    let mut builder = three();
    builder.image(unknown, vec![1]).expect("a good image");
    builder.platform_flags(0xabcd);
    let mut file = builder.build().expect("images");
    let end = file.len();
    file.extend([0xff; 9]);
    let (package, warning) = read(&file).expect("a good package");
    assert_eq!(package.entries[3].uuid, unknown);
    assert_eq!(package.flags, 0xabcd_0000_0000);
    let expected = format!("9 bytes follow the package's end at {end:#x}");
    assert_eq!(warning, Some(expected));
}

#[test]
fn images_that_cannot_be_in_a_package_are_refused() {
    let empty = Builder::default().build().expect_err("empty");
    assert_eq!(empty.to_string(), "no image is given");
    let mut builder = three();
    for (uuid, size, expected) in [
        (
            uuid_of("nt-fw"),
            1,
            "nt-fw, Non-Trusted Firmware BL33: given twice",
        ),
        (
            uuid_of("fwu"),
            0,
            "fwu, Firmware Updater NS_BL2U: the file is empty",
        ),
        (Uuid::nil(), 1, "a UUID of zeros ends the list"),
        (
            uuid_of("fwu"),
            IMAGE_MAX + 1,
            "134217729 bytes are more than a boot flash holds",
        ),
    ] {
        let error = builder.image(uuid, vec![0; size]).map(|_| ());
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = builder.align(3).map(|_| ()).expect_err("3").to_string();
    assert_eq!(error, "the alignment 3 is not a power of two up to a MiB");
}

#[test]
fn every_malformed_package_is_refused_by_name_and_place() {
    let bl31 = |fault: &str| {
        format!("entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: {fault}")
    };
    let mut duplicate = built();
    duplicate.copy_within(16..32, field(1, 0));
    let nothing = [&built()[..16], &[0; 40]].concat();
    let entries = (1..=300u128).map(|n| [&n.to_le_bytes()[..], &[1; 24]].concat());
    let endless = [built()[..16].to_vec(), entries.collect::<Vec<_>>().concat()].concat();
    let terminator = "offset 0x88: the terminator ";
    for (file, expected) in [
        (spoilt(0, 0), "offset 0x0: no FIP".to_owned()),
        (
            spoilt(0, 0xaa64_0001),
            "offset 0x4: the serial number is 0".into(),
        ),
        (
            spoilt(field(1, OFFSET), 0x20),
            bl31("its data at 0x20 overlaps the list"),
        ),
        (
            spoilt(field(1, OFFSET), 0xb1),
            bl31("its data 0xb1..0xc1 overlaps that of entry 0"),
        ),
        (spoilt(field(1, SIZE), 0), bl31("its size is 0")),
        (
            spoilt(field(1, SIZE), 0x1000),
            bl31("its data ends at 0x10b3, and the file at 0xc8"),
        ),
        (
            spoilt(field(1, OFFSET), u64::MAX),
            bl31("0xffffffffffffffff + 0x10 wraps"),
        ),
        (
            spoilt(field(1, SIZE), u64::MAX),
            bl31("0xb3 + 0xffffffffffffffff wraps"),
        ),
        (spoilt(field(3, OFFSET), 0), format!("{terminator}says")),
        (spoilt(field(3, OFFSET), 0xc9), format!("{terminator}says")),
        (spoilt(field(3, SIZE), 1), format!("{terminator}has a size")),
        (
            spoilt(field(3, 0), 1),
            "offset 0xc8: the file ends within the list".into(),
        ),
        (
            duplicate,
            "entry 1 (tb-fw, Trusted Boot Firmware BL2) at offset 0x38: entry 0 has".into(),
        ),
        (nothing, "offset 0x10: the package has no entries".into()),
        (endless, "offset 0x2810: more than 256 entries".into()),
    ] {
        let error = refused(&file);
        assert!(
            error.starts_with(&expected),
            "{error}\ninstead of\n{expected}"
        );
    }
}

#[test]
fn a_truncated_package_is_refused_by_place() {
    let file = built();
    for cut in 0..file.len() {
        let error = refused(&file[..cut]);
        assert!(error.contains("offset "), "cut at {cut}: {error}");
    }
}

#[test]
fn a_package_has_the_same_bytes_as_fiptools() {
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
        read(&theirs).expect("a good package");
        assert!(
            theirs == builder.build().expect("images"),
            "aligned to {align}"
        );
    }
}
