//! The setting of a watchdog.

/// What a watchdog is set to.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The bits that let it run and reset; 0: it stands.
    pub control: u32,
    /// Its clock's ticks until the interrupt, and again until the reset.
    pub count: u64,
}
