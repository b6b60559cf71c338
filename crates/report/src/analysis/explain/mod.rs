//! Explanations: conclusions drawn from all the suite tables together with the CPU types, the cache
//! sizes and the lead.
//!
//! Each rule needs evidence for every part of its sentence. A missing table or a contradictory
//! figure suppresses the explanation.
//!
//! | file | task |
//! |---|---|
//! | `suite_tables` | the figures of a run by scenario, metric and CPU |
//! | `cluster_facts` | CPU types and cache sizes, from records or from a board file |
//! | `flush_sizes` | the flush times that distinguish a CPU's own caches from a cluster's |
//! | `cluster_flush` | which CPUs flush their cluster's caches |
//! | `lead` | the lead, from records or inferred from the tables |
//! | `entry_queue`, `last_flush`, `extra_flush`, `flush_by_size`, `platform_lock`, `uniform_exits`, `lead_cluster`, `best_case`, `cpu_types`, `cluster_exit`, `cpu_off_exit`, `unlike_twin` | the rules, one file each; `findings::rules` lists them |

mod best_case;
mod cluster_exit;
mod cluster_facts;
mod cluster_flush;
mod cpu_off_exit;
mod cpu_types;
mod entry_queue;
mod extra_flush;
mod flush_by_size;
mod flush_sizes;
mod known_lead;
mod last_flush;
mod lead_cluster;
mod platform_lock;
mod suite_tables;
#[cfg(test)]
mod tests;
mod uniform_exits;
mod unlike_twin;

pub(super) use self::best_case::best_case;
pub(super) use self::cluster_exit::cluster_exit;
pub(super) use self::cpu_off_exit::cpu_off_exit;
pub(super) use self::cpu_types::cpu_types;
pub use self::entry_queue::ENTRY_QUEUE;
pub(super) use self::entry_queue::entry_queue;
pub use self::extra_flush::EXTRA_FLUSH;
pub(super) use self::extra_flush::extra_flush;
pub(super) use self::flush_by_size::flush_by_size;
pub(super) use self::last_flush::last_flush;
pub(super) use self::lead_cluster::lead_cluster;
pub use self::platform_lock::PLATFORM_LOCK;
pub(super) use self::platform_lock::platform_lock;
pub(super) use self::suite_tables::{SuiteTables, TableFigure};
pub(super) use self::uniform_exits::uniform_exits;
pub(super) use self::unlike_twin::unlike_twin;
