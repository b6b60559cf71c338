//! Writes a copy of the payload's hand-over for each mutation of it, a module each.

use std::path::PathBuf;
use std::{env, fs};

const SOURCE: &str = "../src/machine/round/handover.rs";

/// Mutations: the module's name, a text of the source, and the text in its place.
const MUTATIONS: [(&str, &str, &str); 7] = [
    ("unchanged", "", ""),
    (
        "issued_relaxed",
        "self.issued.store(number.wrapping_add(1), Ordering::Release)",
        "self.issued.store(number.wrapping_add(1), Ordering::Relaxed)",
    ),
    (
        "done_relaxed",
        "self.done.store(number, Ordering::Release)",
        "self.done.store(number, Ordering::Relaxed)",
    ),
    (
        "issued_read_relaxed",
        "self.issued.load(Ordering::Acquire)",
        "self.issued.load(Ordering::Relaxed)",
    ),
    (
        "done_read_relaxed",
        "self.done.load(Ordering::Acquire) == self.issued",
        "self.done.load(Ordering::Relaxed) == self.issued",
    ),
    // The order is written after it is issued.
    (
        "late_order",
        "        // SAFETY: done = issued, as just checked: the order is the lead's.\n",
        "        self.issued.store(number.wrapping_add(1), Ordering::Release);\n\
         // SAFETY: none: this is the mutation.\n",
    ),
    // The outcome is read before it is done: whether it is, is no longer looked at.
    (
        "early_outcome",
        "if !self.is_done() {",
        "if self.is_dismissed() {",
    ),
];

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let source = fs::read_to_string(SOURCE).expect("the hand-over's source");
    // An included file has no inner comments.
    let lines = source.lines().filter(|line| !line.starts_with("//!"));
    let source: String = lines.map(|line| format!("{line}\n")).collect();
    let mut all = String::new();
    for (name, text, other) in MUTATIONS {
        let mutant = match text {
            "" => source.clone(),
            _ => {
                assert_eq!(
                    source.matches(text).count(),
                    1,
                    "{name}: {text:?} in {SOURCE}"
                );
                source.replace(text, other)
            }
        };
        let mutant = mutant.replace("use super::cells", "use crate::cells");
        let allow = "#[allow(dead_code, missing_docs, unused)]";
        all += &format!("{allow}\npub mod {name} {{\n{mutant}}}\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo's folder"));
    fs::write(out.join("handovers.rs"), all).expect("written");
}
