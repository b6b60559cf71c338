//! The idle states that a tree, ACPI tables or a board file declare.

use anyhow::{Context as _, Result, anyhow, bail};
use boards::device_tree::{Choices, build};
use boards::{BoardFile, StateFormat};
use device_tree::declared::DeclaredStates;
use hardware::words;
use itertools::Itertools as _;

words! {
    /// The kind of a [`DeclaredSource`].
    pub enum DeclaredBy, word {
        /// A device tree blob.
        Tree = "device tree",
        /// ACPI tables, converted to a device tree.
        Acpi = "ACPI tables",
        /// The device tree that is built from a board file.
        BoardFile = "board file",
    }
}

/// Declared idle states and their origin.
///
/// Holding one proves that there is at least one state, and that no CPU uses two states with the
/// same power_state. It does not prove that the declared values are consistent.
#[derive(Clone, Debug)]
pub struct DeclaredSource {
    /// The name of what declares the states, such as a path, for messages.
    pub name: String,
    /// The kind of the source.
    pub by: DeclaredBy,
    /// The name of the board whose states are declared.
    pub board: String,
    /// At least one state.
    pub declared: DeclaredStates,
}

impl DeclaredSource {
    /// Reads the states in a device tree or in a tree that was made from ACPI tables.
    ///
    /// # Errors
    /// Returns an error if the tree is malformed, or if its states cannot be audited.
    pub fn of_tree(name: &str, by: DeclaredBy, blob: &[u8]) -> Result<Self> {
        let source = Self::of_any_tree(name, by, blob)?;
        let why = "has no idle state with arm,psci-suspend-param, so nothing to audit";
        source.with_context(|| format!("{name}: {why}"))
    }

    /// Like [`Self::of_tree`], but returns None for a tree without idle states.
    ///
    /// # Errors
    /// Returns an error if the tree is malformed, or if its states cannot be audited.
    pub fn of_any_tree(name: &str, by: DeclaredBy, blob: &[u8]) -> Result<Option<Self>> {
        let declared = DeclaredStates::read(blob).map_err(|error| anyhow!("{name}: {error}"))?;
        if declared.states.is_empty() {
            return Ok(None);
        }
        let source = Self {
            name: name.to_owned(),
            by,
            board: declared.model.clone(),
            declared,
        };
        source.check()?;
        Ok(Some(source))
    }

    /// Returns the states that a board file declares for the board's default firmware, for a
    /// machine with this number of CPUs.
    ///
    /// # Errors
    /// Returns an error if the file does not declare any latency.
    pub fn of_board(board: &BoardFile, cpus: u32, format: StateFormat) -> Result<Self> {
        let name = format!("the board file of {}", board.name);
        let firmware = board.firmware(&board.default_firmware)?;
        let states = firmware.idle_states(format);
        if states.iter().all(|state| state.latency_us.is_none()) {
            bail!(
                "{name}: declares no latencies; specify the board's device tree with --tree, or \
                 its ACPI tables with --acpi"
            );
        }
        let choices = Choices {
            cpus,
            gic: board.default_gic(),
            conduit: board.psci.conduit,
            cpu_off: true,
            idle_states: &states,
        };
        let tree = build(&board.with_clusters_of(firmware), &choices, "")?;
        Self::of_tree(&name, DeclaredBy::BoardFile, &tree)
    }

    /// Rejects states that cannot be audited.
    fn check(&self) -> Result<()> {
        let name = &self.name;
        let declared = &self.declared;
        for cpu in &declared.cpus {
            let mut pairs = declared
                .lists
                .iter()
                .filter(|list| list.cpus.contains(cpu))
                .flat_map(|list| &list.states)
                .unique()
                .map(|index| &declared.states[*index])
                .tuple_combinations();
            let duplicate = pairs.find(|(one, other)| one.power_state == other.power_state);
            if let Some((one, other)) = duplicate {
                let power_state = one.power_state;
                bail!(
                    "{name}: {} and {}, both used by CPU {cpu}, share power_state \
                     {power_state:#010x}, so figures cannot be assigned to one of them; remove one",
                    one.path,
                    other.path
                );
            }
        }
        Ok(())
    }
}
