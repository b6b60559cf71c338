//! What a run reports to the program that runs it.

/// Follows a run between its rounds.
pub trait RunObserver {
    /// A scenario begins. All memory that is allocated from here on is freed before
    /// [`RunObserver::scenario_ends`].
    fn scenario_begins(&mut self);

    /// Notes how many samples of the scenario are kept and how many are asked for, on all CPUs
    /// together.
    fn note_samples(&mut self, kept: u32, asked: u32);

    /// The scenario has ended and is printed.
    fn scenario_ends(&mut self);
}
