//! Our own trees, each with what others have that is hard to read.

use std::fs;
use std::path::Path;
use std::process::Command;

use psci_bench::board::Board;
use xtask::setup::{self, Need};

use crate::describe::describe;
use crate::{assert_golden, here, judge, workspace};

/// The tree that dtc makes of a source.
pub fn compile(source: &Path) -> Vec<u8> {
    // Warnings are about style, of which some trees have too little.
    let output = Command::new("dtc")
        .args(["-q", "-I", "dts", "-O", "dtb"])
        .arg(source)
        .output()
        .expect("dtc can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", source.display());
    output.stdout
}

#[test]
fn each_fixture_comes_to_the_board_that_is_written_beside_it() {
    setup::ensure(&workspace(), &[Need::Dtc]).expect("dtc");
    let folder = here().join("fixtures");
    let entries = fs::read_dir(&folder).expect("the folder of fixtures");
    let mut sources: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|ending| ending == "dts"));
    sources.sort();
    assert!(sources.len() >= 12, "{sources:?}");
    for source in sources {
        let blob = compile(&source);
        let name = source.display().to_string();
        let class = judge(&name, &blob).unwrap_or_else(|wrong| panic!("{wrong}"));
        let text = match Board::read(&blob) {
            Ok(board) => describe(&board),
            Err(error) => format!("{class}\n{error}\n"),
        };
        assert_golden(&source.with_extension("txt"), &text);
    }
}
