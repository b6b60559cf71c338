//! The exit codes of all commands. 0 means success.

use anyhow::Result;

use crate::interrupt;
use crate::progress::say;

/// A job or test case failed, the verdict is not PASS, a result has regressed, or something
/// required was skipped.
pub const FAILED: u8 = 1;
/// The input or usage is invalid, or a requirement is unavailable.
pub const BAD: u8 = 2;
/// A run, log or comparison is incomplete, or the user interrupted the command.
pub const INCOMPLETE: u8 = 3;

/// The exit codes of all commands, for use in help texts. Commands that use other codes document
/// them in their help.
pub const EXIT_CODES: &str =
    "Exit codes: 0 PASS or done; 1 FAIL; 2 bad input or usage; 3 INCOMPLETE";

/// Returns the exit code for a command that ended with `result`. Prints the error first, if any.
pub fn from_result(result: Result<u8>) -> u8 {
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
