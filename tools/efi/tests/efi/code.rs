//! Looks in the application for instructions that Cortex-A53 may execute incorrectly, as
//! `tests/entries` does in the payload (Arm, Cortex-A53 MPCore Software Developers Errata Notice).

use std::collections::BTreeMap;

use efi::application;
use object::{Object as _, ObjectSection as _, SectionKind};
use runner::build::image::Emergency;
use runner::build::payload;

use crate::common::workspace;

/// Returns the instructions of the application, by address.
fn instructions() -> BTreeMap<u64, u32> {
    let workspace = workspace();
    let image = payload::image(&workspace, None, Emergency::default(), 1).expect("an image");
    let bytes = application::build(&workspace, &image, None).expect("the application");
    let file = object::File::parse(&*bytes).expect("a PE file");
    let mut instructions = BTreeMap::new();
    for section in file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
    {
        let data = section.data().expect("code");
        let addresses = (section.address()..).step_by(4);
        for (address, word) in addresses.zip(data.as_chunks().0) {
            instructions.insert(address, u32::from_le_bytes(*word));
        }
    }
    assert!(instructions.len() > 1000, "code");
    instructions
}

/// Returns true for a load or a store.
fn accesses_memory(word: u32) -> bool {
    word >> 25 & 0b101 == 0b100
}

/// Returns true for a 64-bit multiply-accumulate: MADD, MSUB, SMADDL, SMSUBL, UMADDL or UMSUBL, but
/// not MUL and similar aliases, whose Ra is XZR.
fn accumulates(word: u32) -> bool {
    word >> 24 == 0x9b && matches!(word >> 21 & 7, 0 | 1 | 5) && word >> 10 & 0x1f != 0x1f
}

/// Erratum 843419 is not checked, because the application's linker has no workaround for it and EFI
/// firmware contains such sequences too.
#[test]
fn no_sequence_of_erratum_835769() {
    let code = instructions();
    for (address, word) in &code {
        let next = code.get(&(address + 4)).copied().unwrap_or(0);
        assert!(
            !(accesses_memory(*word) && accumulates(next)),
            "{address:#x}"
        );
    }
}

/// DC CVAC, CVAU, CVAP and CVADP may lose stores on Cortex-A53 r0p0 to r0p2 (819472, 824069,
/// 827319). DC CIVAC must be used instead.
#[test]
fn no_line_is_cleaned_without_being_invalidated() {
    for (address, word) in instructions() {
        // SYS #3, C7, CRm, #1, where CRm is 10, 11, 12 or 13.
        let is_clean = word & 0xffff_f0e0 == 0xd50b_7020 && matches!(word >> 8 & 0xf, 10..=13);
        assert!(!is_clean, "{address:#x}");
    }
}
