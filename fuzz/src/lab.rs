//! Recovery images for boards in labs.

use xtask::lab::recovery::replace_fip;

/// The FIP's path, which is short so that the fuzzer finds it quickly.
const FIP: &str = "fip";

/// Checks one input.
pub fn check(data: &[u8]) {
    // A rewritten recovery image must be readable and contain the new FIP.
    let Ok(new) = replace_fip(data, FIP, |_| Ok(b"another".to_vec())) else {
        return;
    };
    let again = replace_fip(&new, FIP, |fip| {
        assert_eq!(fip, b"another");
        Ok(fip.to_vec())
    });
    again.expect("what was written");
}
