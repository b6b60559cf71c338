//! Reports, byte for byte.
//!
//! To take over a change that was meant, run with `PSCI_BENCH_BLESS=1`, and
//! read the difference.

use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/data/report").join(name)
}

/// Compares with the file `expected/NAME`.
pub fn holds(name: &str, made: &str) {
    super::assert_golden(&data("expected").join(name), made);
}
