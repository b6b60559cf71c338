//! Tests the definition of the command line, its help, and the documented commands.

use std::path::Path;

use cli::program_tests::check_program;

use super::program::command;

#[test]
fn command_line_is_sound_and_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    check_program("psci-idle-audit", command, folder, 5);
}
