//! The interface through which a run reports to the program that executes it.

/// Observes a run between its rounds.
pub trait RunObserver {
    /// Called when a scenario begins. All memory allocated from now on is freed before
    /// [`RunObserver::scenario_ends`].
    fn scenario_begins(&mut self);

    /// Reports how many samples the scenario has kept and requested, across all CPUs.
    fn note_samples(&mut self, kept: u32, asked: u32);

    /// Called when the scenario has ended and its results have been printed.
    fn scenario_ends(&mut self);
}
