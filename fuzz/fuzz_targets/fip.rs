//! FIPs: the reader, and that what was read can be written and read again.

#![no_main]

use fuzz::worded;
use libfuzzer_sys::fuzz_target;
use xtask::board::Uuid;
use xtask::build::fip::{Builder, Package, read};

fuzz_target!(|data: &[u8]| {
    let Some((package, warning)) = worded(read(data)) else {
        return;
    };
    if let Some(warning) = warning {
        assert!(!warning.to_string().is_empty());
    }
    let written = write(&package, data);
    let (again, warning) = read(&written).expect("what was written");
    assert_eq!(warning, None);
    assert_eq!(images(&again, &written), images(&package, data));
    assert_eq!(again.flags, package.flags);
    assert_eq!(again.serial, package.serial);
    assert_eq!(write(&again, &written), written);
});

/// The package of the same images. The alignment is the input's choice, too.
fn write(package: &Package, file: &[u8]) -> Vec<u8> {
    let mut builder = Builder::of(package, file).expect("what was in a package");
    let align = 1 << (package.entries.len() % 8);
    builder.align(align).expect("a power of two");
    builder.build().expect("one image at least")
}

fn images<'f>(package: &Package, file: &'f [u8]) -> Vec<(Uuid, u64, &'f [u8])> {
    let entries = package.entries.iter();
    let mut images: Vec<_> = entries
        .map(|entry| (entry.uuid, entry.flags, &file[entry.range.clone()]))
        .collect();
    images.sort_unstable();
    images
}
