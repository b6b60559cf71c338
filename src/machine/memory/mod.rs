//! Mapped memory: translation tables, stacks, working memory, device registers.

pub mod loader_data;
pub mod mmio;
pub mod probe;
pub mod stacks;
pub mod stress;
pub mod tables;
