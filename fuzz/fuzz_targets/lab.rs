//! Files that labs give and take: recovery images, LAVA's results, JUnit's XML.

#![no_main]

use fuzz::worded;
use libfuzzer_sys::fuzz_target;
use xtask::lab::recovery::Recovery;
use xtask::report::jobs::{Kind, Results, read_log};

/// Where the FIP is; short, so that it is soon found.
const FIP: &str = "fip";

fuzz_target!(|data: &[u8]| {
    recovery(data);
    for kind in [Kind::Junit, Kind::Lava] {
        worded(kind.read(data, &mut Results::default()));
    }
    worded(read_log(data));
});

/// A file that is written reads as before, but for the FIP.
fn recovery(data: &[u8]) {
    let Ok(mut old) = Recovery::open(data, FIP) else {
        return;
    };
    worded(old.read_fip(1 << 20));
    let Ok(new) = old.replace_fip(b"another") else {
        return;
    };
    let mut new = Recovery::open(&new, FIP).expect("what was written");
    assert_eq!(new.read_fip(1 << 20).expect("what was written"), b"another");
}
