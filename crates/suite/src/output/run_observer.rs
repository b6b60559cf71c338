//! Reports from a run to the program that executes it.

/// Observes a run between its rounds.
pub trait RunObserver {
    /// A scenario begins. All memory allocated from here on is freed before
    /// [`RunObserver::scenario_ends`].
    fn scenario_begins(&mut self);

    /// Notes how many of the scenario's samples have been kept and requested, on all CPUs together.
    fn note_samples(&mut self, kept: u32, asked: u32);

    /// The scenario has ended and has been printed.
    fn scenario_ends(&mut self);
}
