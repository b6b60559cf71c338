//! Describes what a check tests.

use alloc::format;
use alloc::string::String;

use hardware::text::join::join;

use super::check::Check;
use super::run::Run;

impl Check {
    /// Returns a phrase that identifies the function, what was checked, and the CPUs.
    pub fn subject(&self, run: &Run) -> String {
        let (function, what) = (self.function.name(), self.probe.title());
        let x = self.x_text().map_or_else(String::new, |x| format!(" {x}"));
        let labels = self.cpus.iter().map(|cpu| run.label(cpu));
        let on = if self.cpus.is_empty() { "" } else { " on CPU " };
        format!("{function}{x} ({what}){on}{}", join(labels, ", "))
    }

    /// Returns the level, `power_state` or pause, if there is one.
    pub fn x_text(&self) -> Option<String> {
        let x = self.x?;
        Some(if self.probe.is_of_state() {
            format!("{x:#010x}")
        } else {
            format!("{x}")
        })
    }
}
