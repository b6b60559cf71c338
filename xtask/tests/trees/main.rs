//! Device trees that others wrote, through the payload's own reader.
//!
//! For each there is a board, or a reason by name. Neither is believed:
//! [`facts`] has a second opinion, by another crate's reader and another way
//! of looking, and both are held against it. What comes out is kept in text
//! files; `PSCI_BENCH_BLESS=1` takes a change over.

mod describe;
mod facts;
mod fixtures;
mod linux;
mod mend;
mod node;
mod qemu;
mod tf_a;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};

use xtask::setup::workspace::Workspace;

/// Where the expected texts and the fixtures are.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees")
}

fn workspace() -> Workspace {
    Workspace::find().expect("the repository")
}

/// Compares `got` with a file, or with `PSCI_BENCH_BLESS` set makes it that.
fn assert_golden(path: &Path, got: &str) {
    if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
        fs::write(path, got).expect("the expected text is written");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(
        got == expected,
        "{} differs; PSCI_BENCH_BLESS=1 takes it over\n--- got\n{got}",
        path.display()
    );
}

/// The class of the tree `name`; and with a user's tree that is usable the host
/// tool changes the boot arguments, and nothing else.
fn judge(name: &str, blob: &[u8]) -> Result<String, String> {
    let class = verdict::judge(blob).map_err(|wrong| format!("{name}: {wrong}"))?;
    let args = "iterations=8 only=off";
    match (
        class == verdict::USABLE,
        xtask::build::device_tree::adapt(blob, Some(args)),
    ) {
        (true, Ok(adapted)) => {
            verdict::same(blob, &adapted, args).map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        (false, Err(_)) => {}
        (_, adapted) => {
            let said = adapted.map(|tree| tree.len());
            return Err(format!("{name}: {class}, and with boot arguments {said:?}"));
        }
    }
    Ok(class)
}
