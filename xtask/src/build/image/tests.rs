//! Flattening and patching.

use psci_bench::image::{IMAGE_SIZE_OFFSET, MAGIC, MAGIC_OFFSET, PARAMETER_BLOCK, PARAMETER_MAGIC};

use super::*;

/// A payload of `size` bytes that is nothing but header and zeros.
fn blank(size: usize) -> Vec<u8> {
    let mut file = vec![0; size];
    file[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
    file[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
    file[PARAMETER_BLOCK + 8] = 1;
    file[PARAMETER_BLOCK + 12] = 0x40;
    file
}

/// An ELF file with these segments: address, bytes in the file, size.
fn elf(segments: &[(u64, &[u8], u64)]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3, 0, 183, 0, 1, 0, 0, 0]);
    for value in [0u64, 64, 0] {
        file.extend(value.to_le_bytes());
    }
    file.extend([
        0,
        0,
        0,
        0,
        64,
        0,
        56,
        0,
        segments.len() as u8,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ]);
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

fn refused(segments: &[(u64, &[u8], u64)]) -> String {
    let flat = flatten(&elf(segments)).map(|flat| flat.len());
    flat.expect_err("a wrong ELF file").to_string()
}

#[test]
fn segments_and_bss_become_one_file() {
    let head = blank(0x100);
    let flat = flatten(&elf(&[(0, &head, 0x100), (0x1000, &[1, 2], 0x800)])).expect("a good ELF");
    assert_eq!(flat.len(), 0x1800);
    assert_eq!(flat[..0x100], head);
    assert_eq!(flat[0x1000..0x1004], [1, 2, 0, 0]);
}

#[test]
fn what_cannot_be_flattened() {
    let head = blank(0x100);
    let part: &[u8] = &[1];
    assert!(refused(&[(0x1000, &head, 0x100)]).contains("not the lowest, at 0"));
    assert!(refused(&[(0, &head, 0x100), (0x80, part, 1)]).contains("overlap"));
    assert!(refused(&[(0, &head, 0x100), (0x3000, part, 1)]).contains("a hole of 12032 bytes"));
    assert!(refused(&[(0, &head, BASE_MAX as u64 + 1)]).contains("does not fit"));
    assert!(refused(&[(0, &head, 0x100), (u64::MAX, part, 9)]).contains("does not fit"));
    assert!(refused(&[(0, &[0; 0x100], 0x100)]).contains("no arm64 Image magic"));
    assert!(refused(&[(0, &head, 0x80)]).contains("more bytes in the file than in memory"));
    assert!(refused(&[]).contains("shorter than"));
    let good = elf(&[(0, &head, 0x100)]);
    for cut in 0..good.len() {
        flatten(&good[..cut]).expect_err("truncated");
    }
    let mut x86 = good.clone();
    x86[18] = 62;
    assert!(flatten(&x86).is_err());
}

#[test]
fn a_tree_is_appended_and_told() {
    let uart = EmergencyUart {
        kind: psci_bench::image::UartKind::Pl011,
        base: 0x0900_0000,
        reg_shift: 0,
        io_width: 1,
    };
    let emergency = Emergency {
        uart: Some(uart),
        conduit: Some(Conduit::Smc),
    };
    let file = assemble(blank(0x1804), Some(&[7; 33]), emergency, 8).expect("an image");
    let block = ParameterBlock::read(&file).expect("a block");
    assert_eq!(
        (block.base_size, block.tree_offset, block.tree_size),
        (0x1804, 0x1808, 33)
    );
    assert_eq!(
        (block.uart, block.conduit),
        (Some(uart), Some(Conduit::Smc))
    );
    assert_eq!(file[0x1808..], [7; 33]);
    let size: [u8; 8] = file[IMAGE_SIZE_OFFSET..][..8].try_into().expect("eight");
    let least = 0x1808 + 33 + (64 << 10) + 8 * (32 << 10);
    assert_eq!(
        u64::from_le_bytes(size),
        (least as u64).next_multiple_of(4096)
    );

    let bare = assemble(blank(0x1000), None, Emergency::default(), 1).expect("an image");
    assert_eq!(bare.len(), 0x1000);
    assert_eq!(ParameterBlock::read(&bare).expect("a block").tree_offset, 0);
    assert!(assemble(blank(BASE_MAX + 1), None, Emergency::default(), 1).is_err());
    let large = vec![0; TREE_MAX + 1];
    assert!(assemble(blank(0x1000), Some(&large), Emergency::default(), 1).is_err());
    assert!(assemble(vec![0; 0x1000], None, Emergency::default(), 1).is_err());
    let short = blank(0x80)[..0x70].to_vec();
    assert!(assemble(short, Some(&[0; 64]), Emergency::default(), 1).is_err());
}

#[test]
fn a_tree_is_taken_off_again() {
    let flat = blank(0x123);
    let tree = [&TREE_MAGIC[..], &[7; 37]].concat();
    let whole = bare(flat).expect("an image");
    let with = assemble(whole.clone(), Some(&tree), Emergency::default(), 4).expect("an image");
    let stripped = strip(with.clone()).expect("an image");
    assert!(bare(stripped).expect("an image") == whole);
    for image in [whole, with] {
        for cut in 0..image.len() {
            assert!(strip(image[..cut].to_vec()).is_err(), "cut at {cut}");
        }
    }
}
