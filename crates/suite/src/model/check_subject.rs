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
        let at = self.x_text();
        let at = at.map_or_else(String::new, |at| format!(" {at}"));
        let mut cpus = self.cpus.iter().map(|cpu| run.label(cpu)).peekable();
        let on = if cpus.peek().is_some() {
            " on CPU "
        } else {
            ""
        };
        let cpus = join(cpus, ", ");
        format!("{function}{at} ({what}){on}{cpus}")
    }

    /// Returns the level, `power_state` or pause, if there is one.
    pub fn x_text(&self) -> Option<String> {
        let x = self.x?;
        Some(match self.probe.is_of_state() {
            true => format!("{x:#010x}"),
            false => format!("{x}"),
        })
    }
}
