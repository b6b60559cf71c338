//! The user's wish to end the command: Ctrl-C, SIGTERM or SIGHUP.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Returns the flag that such a signal sets from now on, instead of ending this process.
pub(crate) fn watch() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed))?;
    Ok(&INTERRUPTED)
}

/// Fails after such a signal. A terminal sends it to the programs that build something,
/// too: the error of one that ends by it is of no use.
pub(crate) fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}
