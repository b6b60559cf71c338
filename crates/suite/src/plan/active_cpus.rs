//! The CPUs that are active while one of them is measured.

use hardware::words;

words! {
    /// The CPUs on which a step was measured.
    #[derive(Default)]
    pub enum ActiveCpus, word {
        /// On one CPU. The other CPUs do what the scenario defines.
        #[default]
        Alone = "alone",
        /// On all CPUs at the same time.
        All = "all",
        /// On one CPU, while one other CPU in the same cluster is active.
        Near = "near",
        /// On one CPU, while one CPU in another cluster is active.
        Far = "far",
    }
}

impl ActiveCpus {
    /// Describes the CPUs in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Alone => "one CPU alone",
            Self::All => "all CPUs at once",
            Self::Near => "beside a CPU in the same cluster",
            Self::Far => "beside a CPU in another cluster",
        }
    }
}
