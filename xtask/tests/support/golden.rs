//! Reports, byte for byte.
//!
//! To take over a change that was meant, run with `PSCI_BENCH_BLESS=1`, and
//! read the difference.

use std::fs;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/data/report").join(name)
}

/// Compares with the file `expected/NAME`.
pub fn holds(name: &str, made: &str) {
    let path = data("expected").join(name);
    if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
        fs::write(&path, made).expect("the folder is there");
    }
    let expected = fs::read_to_string(&path).expect("the file is there");
    assert!(
        made == expected,
        "{name} differs: see PSCI_BENCH_BLESS\n{made}"
    );
}
