//! `cargo xtask verify --quick`.

use test_support::{called, command};

#[test]
fn payload_has_no_finding_and_mutations_have() {
    let program = env!("CARGO_BIN_EXE_psci-coherence");
    let (code, out, stderr) = called(&mut command(program, &["verify", "--quick"]));
    assert_eq!(code, 0, "{out}{stderr}");
    assert!(out.ends_with("psci-bench: verified\n"), "{out}");
    let words = [
        "Overwritten: CPU 0 at ",
        "NotCleaned: CPU 1 at find_channel",
    ];
    for word in words {
        assert!(out.contains(word), "{word}: {out}");
    }
}
