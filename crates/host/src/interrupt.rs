//! Signals from the user that end the command: Ctrl-C, SIGTERM or SIGHUP.

use std::process::exit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};

use crate::side_by_side::is_given_up;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Installs a signal handler and returns its flag. The first signal sets the flag instead of ending
/// the process. A second signal terminates the process.
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

/// Returns an error if a signal has arrived, or if another step that runs [side by
/// side](crate::side_by_side()) with this one has failed. A terminal also sends the signal to
/// running build tools, whose errors are then meaningless.
pub fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) || is_given_up() {
        bail!("interrupted");
    }
    Ok(())
}
