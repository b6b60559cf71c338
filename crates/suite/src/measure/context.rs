//! The part of a CPU's context that later wake-ups depend on, and whether a suspend keeps it.

/// Whether each part of a CPU's context is the same after a suspend as before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptContext {
    /// The timer that wakes the CPU: CVAL, and ENABLE and IMASK in CTL.
    pub timer: bool,
    /// The enable bits and priorities of the CPU's SGIs and PPIs.
    pub private_interrupts: bool,
    /// VBAR_ELx. None if the CPU came back through its entry point, where the payload sets
    /// VBAR_ELx.
    pub vectors: Option<bool>,
}
