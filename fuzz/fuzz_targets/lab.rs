//! Files that labs give and take: recovery images, LAVA's results, JUnit's XML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::lab::recovery::Recovery;
use xtask::report::jobs::{Kind, Results, read_log};

/// Where the FIP is; short, so that it is soon found.
const FIP: &str = "fip";

fuzz_target!(|data: &[u8]| {
    recovery(data);
    for kind in [Kind::Junit, Kind::Lava] {
        let mut results = Results::default();
        if let Err(error) = kind.read(data, &mut results) {
            assert!(!error.to_string().is_empty());
        }
    }
    if let Err(error) = read_log(data) {
        assert!(!error.to_string().is_empty());
    }
});

/// A file that is written reads as before, but for the FIP.
fn recovery(data: &[u8]) {
    let Ok(mut old) = Recovery::open(data, FIP) else {
        return;
    };
    if let Err(error) = old.fip_within(1 << 20) {
        assert!(!error.to_string().is_empty());
    }
    let Ok(new) = old.with(b"another") else {
        return;
    };
    let mut new = Recovery::open(&new, FIP).expect("what was written");
    assert_eq!(new.fip().expect("what was written"), b"another");
}
