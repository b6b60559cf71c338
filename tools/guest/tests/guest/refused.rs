//! Invalid input produces exit code 2 and a message that explains what to do. Nothing is built,
//! fetched or written.

use test_support::scratch::Scratch;

use crate::PROGRAM;

/// Commands, each with parts of its error message.
#[rustfmt::skip]
const REFUSED: &[(&str, &[&str])] = &[
    ("guest run --smp 9", &["the kvm firmware supports 1 to 8 CPUs"]),
    ("guest run --el 2", &["unexpected argument '--el'"]),
    ("guest run --args itterations=2", &["--args: bootargs word 1"]),
    ("guest run --log gone/x", &["--log gone/x: no such directory"]),
    ("guest", &["Usage: cargo xtask guest"]),
];

#[test]
fn commands_are_refused_by_name() {
    Scratch::new(PROGRAM).assert_refused(REFUSED);
}
