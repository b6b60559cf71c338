//! Progress: a spinner or a bar on a terminal, one line otherwise. All of it goes to stderr,
//! because stdout is the UART's.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The display of one long step.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Prints that `what` begins.
    pub fn start(what: &str) -> Self {
        if !stderr().is_terminal() {
            say(what);
            return Self {
                bar: ProgressBar::hidden(),
            };
        }
        let bar = ProgressBar::new_spinner().with_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Returns true if a terminal shows the bar.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Shows a detail after the message.
    pub fn detail(&self, text: &str) {
        self.bar.set_prefix(text.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}: {prefix}") {
            self.bar.set_style(style);
        }
    }

    /// Shows the part that is done.
    pub fn percent(&self, percent: f32) {
        if self.bar.length().is_none() {
            self.bar.set_length(100);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {pos} %") {
                self.bar.set_style(style);
            }
        }
        self.bar.set_position(percent.clamp(0.0, 100.0) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Prints a line to stderr.
pub fn say(text: &str) {
    // A closed stderr does not stop the command.
    let _ = writeln!(stderr(), "xtask: {text}");
}
