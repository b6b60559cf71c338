//! Exit codes of the commands. 0 is success.

use anyhow::Result;

use crate::interrupt;
use crate::progress::say;

/// A job, a test case or a verdict is not passed; a figure is a regression; or something is skipped
/// that must not be.
pub const FAILED: u8 = 1;
/// Input or use is bad, or something is not to be had.
pub const BAD: u8 = 2;
/// A run, a log or a comparison is incomplete, or the user interrupts.
pub const INCOMPLETE: u8 = 3;

/// The exit codes of all commands, for the help of a program. A command whose codes mean something
/// else says so in its own help.
pub const EXIT_CODES: &str =
    "Exit codes: 0 PASS, or done; 1 FAIL; 2 bad input or use; 3 INCOMPLETE";

/// Returns the exit code of a command that ended with `result`, after saying what was wrong.
pub fn of(result: Result<u8>) -> u8 {
    match result {
        Ok(code) => code,
        Err(_) if interrupt::check().is_err() => {
            say("interrupted");
            INCOMPLETE
        }
        Err(error) => {
            say(&format!("error: {error:#}"));
            BAD
        }
    }
}
