//! FIPs (Firmware Image Packages), valid and broken.

use boards::image_kinds::{IMAGE_KINDS, find_by_option, find_by_uuid, uuid_of};
use uuid::Uuid;

use super::Fip;

fn fip() -> Vec<u8> {
    let mut fip = Fip::default();
    for (option, size) in [("nt-fw", 5), ("tb-fw", 3), ("soc-fw", 16)] {
        let data = (0..size).map(|index| index + size).collect();
        fip.put(uuid_of(option), data).expect("a good image");
    }
    fip.build().expect("images")
}

fn refused(file: &[u8]) -> String {
    format!("{:#}", Fip::read(file).expect_err("a broken package"))
}

/// Returns a FIP with three images, in which the 8 bytes at `at` are replaced.
fn spoilt(at: usize, value: u64) -> Vec<u8> {
    let mut file = fip();
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    file
}

/// Returns the offset of a field in entry `index`; entry 3 is the terminator.
fn field(index: usize, offset: usize) -> usize {
    16 + 40 * index + offset
}
const OFFSET: usize = 16;
const SIZE: usize = 24;

#[test]
fn every_kind_has_an_option_and_a_uuid_of_its_own() {
    let bl33 = format!("{:X}", uuid_of("nt-fw"));
    assert_eq!(bl33, "D6D0EEA7-FCEA-D54B-9782-9934F234B6E4");
    assert_eq!(IMAGE_KINDS.len(), 34);
    for kind in IMAGE_KINDS.iter() {
        assert_eq!(
            [find_by_uuid(kind.uuid), find_by_option(kind.option)],
            [Some(kind); 2]
        );
    }
}

#[test]
fn every_malformed_package_is_refused_by_name_and_place() {
    let mut duplicate = fip();
    duplicate.copy_within(16..32, field(1, 0));
    let nothing = [&fip()[..16], &[0; 40]].concat();
    let entries = (1..=300u128).map(|number| [&number.to_le_bytes()[..], &[1; 24]].concat());
    let endless = [fip()[..16].to_vec(), entries.collect::<Vec<_>>().concat()].concat();
    for (file, expected) in [
        (duplicate, "entry 1 (tb-fw, Trusted Boot Firmware BL2) at "),
        (nothing, "offset 0x10: the package has no entries"),
        (endless, "more than 256 entries"),
        (spoilt(0, 0), "offset 0x0: not a FIP"),
        (spoilt(0, 0xaa64_0001), "offset 0x4: the serial number is 0"),
        (spoilt(field(3, 0), 1), "offset 0xc8: the file ends within"),
        (
            spoilt(field(3, SIZE), 1),
            "offset 0x88: the terminator: its size",
        ),
    ] {
        let error = refused(&file);
        assert!(error.starts_with(expected), "{error}\nnot {expected}");
    }
    for (at, value, expected) in [
        (OFFSET, 0x20, "its data at 0x20 overlaps the list"),
        (OFFSET, 0xb1, "its data 0xb1..0xc1 overlaps that of entry 0"),
        (SIZE, 0, "its size is 0"),
        (
            SIZE,
            0x1000,
            "its data ends at 0x10b3, but the file ends at",
        ),
        (OFFSET, u64::MAX, "0xffffffffffffffff + 0x10 exceeds"),
        (SIZE, u64::MAX, "0xb3 + 0xffffffffffffffff exceeds"),
    ] {
        let error = refused(&spoilt(field(1, at), value));
        let place = "entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: ";
        assert!(error.starts_with(&format!("{place}{expected}")), "{error}");
    }
    for end in [0, 0xc7, 0xc9] {
        let error = refused(&spoilt(field(3, OFFSET), end));
        let expected = "offset 0x88: the terminator: the end of the package";
        assert!(error.starts_with(expected), "{error}");
    }
}

/// fiptool reads such packages, writes some of them, and repairs them all.
#[test]
fn fault_that_leaves_each_image_its_bytes_is_named_and_no_error() {
    let whole = Fip::read(&fip()).expect("good").0;
    let nothing = [&fip()[..16], &[0; 40]].concat();
    let names = ["tb-fw", "soc-fw", "nt-fw"];
    for (file, images, fault) in [
        (nothing, 0, "offset 0x10: the package has no entries"),
        (
            spoilt(field(1, SIZE), 0),
            3,
            "entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: its size is 0",
        ),
        (
            spoilt(field(1, OFFSET), 0x20),
            3,
            "entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: its data at 0x20 overlaps the list",
        ),
        (
            spoilt(field(1, OFFSET), 0xb1),
            3,
            "entry 1 (soc-fw, EL3 Runtime Firmware BL31) at offset 0x38: its data 0xb1..0xc1 overlaps that",
        ),
        (
            spoilt(field(3, SIZE), 1),
            3,
            "offset 0x88: the terminator: its size or flags are nonzero",
        ),
        (
            spoilt(field(3, OFFSET), 0),
            3,
            "offset 0x88: the terminator: the end of the package at 0x0 is not",
        ),
    ] {
        let mut inspected = Fip::inspect(&file).expect(fault);
        assert!(
            inspected.faults[0].starts_with(fault),
            "{:?}",
            inspected.faults
        );
        assert_eq!(inspected.fip.images.len(), images, "{fault}");
        // Replacing an image and checking the layout work as they do for a valid package.
        for name in names {
            let uuid = uuid_of(name);
            let data = whole.get(uuid).expect("one of three").to_vec();
            inspected.fip.put(uuid, data).expect("a good image");
        }
        assert_eq!(inspected.fip.build().expect("images"), fip(), "{fault}");
    }
    // The space for the entry of an empty image stays unused.
    let empty = Fip::inspect(&spoilt(field(1, SIZE), 0)).expect("a package");
    let built = empty.fip.build().expect("a package");
    let (fip, _) = Fip::read(&built).expect("a valid package");
    assert_eq!(fip.images[0].offset, 16 + 40 * 4);
    assert_eq!(fip.images.len(), 2);
}

#[test]
fn a_truncated_package_is_refused_by_place() {
    let file = fip();
    for cut in 0..file.len() {
        let error = refused(&file[..cut]);
        assert!(error.contains("offset "), "cut at {cut}: {error}");
    }
}

#[test]
fn what_is_not_understood_stays() {
    let unknown = Uuid::from_bytes([7; 16]);
    let (mut fip, _) = Fip::read(&fip()).expect("good");
    fip.flags = 0x1234_0000_0001;
    fip.put(unknown, vec![2; 5]).expect("good");
    fip.images[0].flags = 0x22;
    let mut foreign = fip.build().expect("images");
    foreign[4..8].copy_from_slice(&0x55u32.to_le_bytes());
    let (mut fip, _) = Fip::read(&foreign).expect("good");
    assert_eq!(fip.serial, 0x55);
    fip.put(uuid_of("nt-fw"), vec![3]).expect("good");
    let (fip, _) = Fip::read(&fip.build().expect("images")).expect("good");
    // Like fiptool, replaces the serial number.
    assert_eq!((fip.serial, fip.flags), (0x1234_5678, 0x1234_0000_0001));
    let last = fip.images.last().expect("four");
    assert_eq!((last.uuid, last.flags), (unknown, 0x22));
    assert_eq!(fip.get(unknown), Some(&[2; 5][..]));
}
