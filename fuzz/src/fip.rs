//! Parses FIPs, writes them out, and parses the result.

use boards::Uuid;
use fip::Fip;
use test_support::tree_text::accepted;

/// Checks one input.
pub fn check(data: &[u8]) {
    let Some((package, warning)) = accepted(Fip::read(data)) else {
        return;
    };
    if let Some(warning) = warning {
        assert!(!warning.to_string().is_empty());
    }
    let written = write(&package);
    let (again, no_warning) = Fip::read(&written).expect("what was written");
    assert_eq!(no_warning, None);
    assert_eq!(images(&again), images(&package));
    assert_eq!(again.flags, package.flags);
    assert_eq!(write(&again), written);
}

/// Builds a FIP with the same images. The input also determines the alignment.
fn write(package: &Fip) -> Vec<u8> {
    let mut aligned = package.clone();
    let align = 1 << (package.images.len() % 8);
    aligned.align(align).expect("a power of two");
    aligned.build().expect("a package")
}

fn images(package: &Fip) -> Vec<(Uuid, u64, &[u8])> {
    let mut images = Vec::new();
    for image in &package.images {
        images.push((image.uuid, image.flags, &image.data[..]));
    }
    images.sort_unstable();
    images
}
