//! Shows progress as a bar or as a spinner with the elapsed time on a terminal, and as lines
//! otherwise. Progress goes to stderr, because stdout is for UART output.

use std::collections::BTreeSet;
use std::env;
use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::paint::Painter;
use crate::untrusted_text::plain;
use crate::wrap::wrapped;

/// A step that takes at least this long stays on the terminal after it ends.
const LONG: Duration = Duration::from_secs(2);

/// The displays for all steps in progress, stacked vertically.
static STEPS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// The display for one long step.
pub struct StepProgress {
    bar: ProgressBar,
    /// The name to print if the step takes long enough to stay on the terminal.
    name: String,
    /// True if progress is printed line by line instead of being drawn.
    is_printed: bool,
}

impl StepProgress {
    /// Shows that `name` has started, or prints a line if stderr is not a terminal.
    pub fn start(name: &str) -> Self {
        let is_printed = !stderr().is_terminal();
        if is_printed {
            say(name);
        }
        let mut progress = Self::on_terminal(name);
        progress.is_printed = is_printed;
        progress.name = name.to_owned();
        progress
    }

    /// Shows that `name` has started, if stderr is a terminal.
    pub fn on_terminal(name: &str) -> Self {
        // The spinner is hidden if stderr is not a terminal.
        let bar = STEPS.add(ProgressBar::new_spinner().with_message(name.to_owned()));
        // Terminals print `^C` at the cursor. If the cursor were at the end of the line, `^C` would
        // start a new line, and this line would remain.
        bar.set_style(style("{spinner} [{time}] {wide_msg} {prefix}\r"));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self {
            bar,
            name: String::new(),
            is_printed: false,
        }
    }

    /// Shows that `name` has started within the step, and resets the elapsed time.
    pub fn step(&self, name: &str) {
        if self.is_printed {
            say(name);
        }
        self.bar.reset_elapsed();
        self.bar.set_prefix("");
        self.bar.set_message(name.to_owned());
    }

    /// Shows `part`, the current part of the step, after the step name.
    pub fn part(&self, part: &str) {
        self.bar.set_prefix(part.to_owned());
    }

    /// Shows how much of the step is done.
    pub fn percent(&self, percent: f32) {
        if self.bar.length().is_none() {
            self.bar.set_length(100);
            self.bar
                .set_style(style("{spinner} [{bar:30}] {pos} % {wide_msg}\r"));
        }
        self.bar.set_position(percent.clamp(0.0, 100.0) as u64);
    }
}

impl Drop for StepProgress {
    fn drop(&mut self) {
        let is_kept = !self.bar.is_hidden() && self.bar.message() == self.name;
        self.bar.finish_and_clear();
        STEPS.remove(&self.bar);
        if is_kept && self.bar.elapsed() >= LONG {
            say(&format!("{}, {}", self.name, in_words(self.bar.elapsed())));
        }
    }
}

/// Formats a duration: `34 s`, `16 min`.
pub fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

fn style(template: &str) -> ProgressStyle {
    let time = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Ignore errors, because the line is built in memory.
        let _ = write!(out, "{}", in_words(state.elapsed()));
    };
    let style = ProgressStyle::with_template(template).expect("a valid template");
    style.with_key("time", time)
}

/// The prefix of lines that `cargo xtask test` shows even if the test passes.
pub const NOTE: &str = "note on this host: ";

/// Prints a line to stderr. Tests call this when they skip some checks on this host.
pub fn note(text: &str) {
    // The test harness may have printed the test name on this line. A closed stderr does not stop
    // the test.
    let _ = writeln!(stderr(), "\n{NOTE}{text}");
}

/// The name under which this program was invoked, without its directory.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let path = env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or("xtask".into(), |name| name.to_string_lossy().into_owned())
});

/// Prints a line to stderr, prefixed with the program name, above the displays for steps in
/// progress. Wraps and colors it if stderr is a terminal.
pub fn say(text: &str) {
    let is_terminal = stderr().is_terminal();
    let width = is_terminal.then(|| Term::stderr().size().1.into());
    let shown = fitted(text, width, &Painter::for_stderr());
    // A closed stderr does not stop the command.
    let _ = above_steps(|| writeln!(stderr(), "{shown}"));
}

/// Like [`say`], but prints each text only once. A command that prepares many runs would otherwise
/// repeat its warnings.
pub fn say_once(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(text.to_owned()) {
        say(text);
    }
}

/// Returns `text` after the program name. Wraps the lines that are not indented at `width`; indented
/// lines are commands for the user to copy. Control characters, such as those of a file's name, are
/// replaced, because they could change the terminal.
fn fitted(text: &str, width: Option<usize>, painter: &Painter) -> String {
    let mut shown = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let line = &plain(line);
        let named = match index {
            0 => format!("{}: {line}", *PROGRAM),
            _ => line.to_owned(),
        };
        let fitting = match width {
            Some(width) if !line.starts_with(' ') => wrapped(&named, width),
            _ => named,
        };
        shown.push(painter.paint(line, &fitting));
    }
    shown.join("\n")
}

/// Hides the progress of all steps while `print` runs, so that its output stays above them.
pub fn above_steps<T>(print: impl FnOnce() -> T) -> T {
    STEPS.suspend(print)
}
