//! All formats, by name.

use super::exporter::Exporter;

/// All formats, in the order in which the help lists them.
pub const ALL: [&dyn Exporter; 11] = [
    &super::text::Text,
    &super::markdown::Markdown,
    &super::rst::Rst,
    &super::csv::Csv,
    &super::json::Json,
    &super::html::Html,
    &super::junit::Junit,
    &super::gha::GhaBenchmark,
    &super::perfetto::Perfetto,
    &super::dt::DeviceTree,
    &super::tfa_docs::TfaDocs,
];

/// Returns the format that is called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Exporter> {
    ALL.into_iter().find(|exporter| exporter.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names() {
        for exporter in ALL {
            assert!(by_name(exporter.name()).is_some_and(|it| it.about() == exporter.about()));
            assert!(!exporter.about().ends_with('.') && !exporter.about().is_empty());
        }
        assert!(by_name("").is_none());
    }
}
