//! Flattening and patching.

use psci_bench::image::{MAGIC, MAGIC_OFFSET, PARAMETER_BLOCK, PARAMETER_MAGIC};

use super::*;

/// Makes a payload of `size` bytes: header and zeros.
fn blank(size: usize) -> Vec<u8> {
    let mut file = vec![0; size];
    file[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
    file[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
    file[PARAMETER_BLOCK + 8] = 1;
    file[PARAMETER_BLOCK + 12] = 0x40;
    file
}

/// A segment: address, bytes in the file, size.
type Segment<'d> = (u64, &'d [u8], u64);

fn elf(segments: &[Segment<'_>]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3, 0, 183, 0, 1, 0, 0, 0]);
    for value in [0, 64, 0, 56 << 48 | 64 << 32, segments.len() as u64] {
        file.extend(u64::to_le_bytes(value));
    }
    let mut at = 64 + 56 * segments.len() as u64;
    for (address, data, size) in segments {
        file.extend([1, 0, 0, 0, 4, 0, 0, 0]);
        for value in [at, *address, *address, data.len() as u64, *size, 1] {
            file.extend(value.to_le_bytes());
        }
        at += data.len() as u64;
    }
    for (_, data, _) in segments {
        file.extend(*data);
    }
    file
}

#[test]
fn an_elf_file_becomes_flat_or_is_refused() {
    let head = &blank(0x100)[..];
    let good: Segment<'_> = (0, head, 0x100);
    let flat = flatten(&elf(&[good, (0x1000, &[1, 2], 0x800)])).expect("a good ELF");
    assert_eq!((flat.len(), &flat[..0x100]), (0x1800, head));
    assert_eq!(flat[0x1000..0x1004], [1, 2, 0, 0]);
    for (segments, expected) in [
        (&[(0, head, BASE_MAX as u64 + 1)][..], "is no good"),
        (&[good, (u64::MAX, &[1], 9)], "is no good"),
        (&[(0, &[0; 0x100], 0x100)], "no arm64 Image magic"),
        (&[(0, head, 0x80)], "256 of them in the file, is no good"),
        (&[], "shorter than"),
    ] {
        let error = format!("{:#}", flatten(&elf(segments)).expect_err(expected));
        assert!(error.starts_with("the payload's ELF file: ") && error.contains(expected));
    }
    let mut file = elf(&[good]);
    for cut in 0..file.len() {
        flatten(&file[..cut]).expect_err("truncated");
    }
    file[18] = 62;
    flatten(&file).expect_err("x86");
}

#[test]
fn what_is_too_large_or_no_payload_is_refused() {
    let large = vec![0; TREE_MAX + 1];
    for (base, tree) in [
        (blank(BASE_MAX + 1), None),
        (blank(0x1000), Some(&large[..])),
        (vec![0; 0x1000], None),
        (blank(0x80)[..0x70].to_vec(), Some(&[0; 64])),
    ] {
        assemble(base, tree, Emergency::default(), 1).expect_err("too large, or no image");
    }
}
