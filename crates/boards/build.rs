//! Generates `embedded.rs`, a list of all board files, which `src/read.rs` includes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let platforms = package.join("../../platforms").canonicalize()?;
    println!("cargo::rerun-if-changed={}", platforms.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&platforms)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| {
            io::Error::other(format!("{}: the name is not valid UTF-8", name.display()))
        })?;
        let file = entry.path().join("board.toml");
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
            files.push((name, file));
        }
    }
    files.sort();
    let line =
        |(name, file): &(String, PathBuf)| format!("    ({name:?}, include_str!({file:?})),\n");
    let lines: String = files.iter().map(line).collect();
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(
        Path::new(&out).join("embedded.rs"),
        format!("[\n{lines}]\n"),
    )
}
