//! Requests from the user to end the command: Ctrl-C, SIGTERM or SIGHUP.

use std::process::exit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};

use crate::side_by_side::is_given_up;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Returns the flag that such a signal sets from now on instead of ending this process. A second
/// signal ends it.
pub fn watch() -> Result<&'static AtomicBool> {
    static WATCHED: Once = Once::new();
    let mut set = Ok(());
    WATCHED.call_once(|| {
        set = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                // The exit code for incomplete results.
                exit(3);
            }
        });
    });
    set?;
    Ok(&INTERRUPTED)
}

/// Returns an error after such a signal, or if the other of two steps that run [side by
/// side](crate::side_by_side()) has failed. A terminal sends the signal to build programs too; the
/// error of a program that it ended is of no use.
pub fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) || is_given_up() {
        bail!("interrupted");
    }
    Ok(())
}
