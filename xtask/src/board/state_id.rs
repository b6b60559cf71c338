//! The layouts of a power_state's StateID.

/// The layout of CPU_SUSPEND's power_state that the firmware takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateId {
    /// The original format.
    #[default]
    Original,
    /// The extended format.
    Extended,
}
