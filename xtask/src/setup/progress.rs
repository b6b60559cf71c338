//! Progress: a spinner or a bar on a terminal, one line otherwise. All of it goes to stderr,
//! because stdout is the UART's.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// The least time of a step that leaves its line on a terminal.
const LONG: Duration = Duration::from_secs(2);

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
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}{time}") {
            let time = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, ", {}", in_words(state.elapsed()));
            };
            bar.set_style(style.with_key("time", time));
        }
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
        let is_step =
            self.is_shown() && self.bar.length().is_none() && self.bar.prefix().is_empty();
        self.bar.finish_and_clear();
        if is_step && self.bar.elapsed() >= LONG {
            say(&format!(
                "{}, {}",
                self.bar.message(),
                in_words(self.bar.elapsed())
            ));
        }
    }
}

/// Returns a time in words: `34 s`, `16 min`.
pub(crate) fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

/// Prints a line to stderr.
pub fn say(text: &str) {
    // A closed stderr does not stop the command.
    let _ = writeln!(stderr(), "xtask: {text}");
}
