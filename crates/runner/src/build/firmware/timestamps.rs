//! Determines whether PMF timestamps can be read from the firmware, and which build variables this
//! requires.

use std::path::Path;

use anyhow::{Context, Result};
use boards::Pmf;
use object::{Object as _, ObjectSymbol as _};

/// The source files of the handler for PMF timestamp SMCs, for platforms that do not add it
/// themselves.
const HANDLER: [&str; 2] = ["services/el3/ven_el3_svc.c", "lib/pmf/pmf_smc.c"];

/// The function in BL31 that reads a timestamp for the normal world. Its callers are not looked up,
/// because the compiler may inline them.
const READER: &str = "pmf_get_timestamp_smc";

/// PMF timestamps in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// The payload can read them if TF-A is built with these variables.
    Readable(Vec<String>),
    /// The payload cannot read them, so TF-A is built without them. The string gives the reason.
    Unreadable(String),
}

impl Timestamps {
    /// Determines whether timestamps can be read with the TF-A in `source` (version `version`).
    pub fn find(pmf: Option<Pmf>, source: &Path, version: &str) -> Self {
        let instrumented = "ENABLE_RUNTIME_INSTRUMENTATION=1".to_owned();
        match pmf {
            Some(Pmf::Linked) => Self::Readable(vec![instrumented]),
            Some(Pmf::Unlinked) => match HANDLER.iter().find(|file| !source.join(file).is_file()) {
                None => {
                    let handler = format!("VENDOR_EL3_SRCS={}", HANDLER.join(" "));
                    Self::Readable(vec![instrumented, handler])
                }
                Some(missing) => Self::Unreadable(format!(
                    "TF-A {version} has no {missing}, and the platform has no PMF handler of \
                         its own"
                )),
            },
            Some(Pmf::None) | None => Self::Unreadable("the platform has no PMF".into()),
        }
    }

    /// Returns the make variables.
    pub fn variables(&self) -> &[String] {
        match self {
            Self::Readable(variables) => variables,
            Self::Unreadable(_) => &[],
        }
    }

    /// Returns a sentence about what the payload measures.
    pub fn describe(&self) -> String {
        match self {
            Self::Readable(_) => "PMF timestamps: read by the payload".into(),
            Self::Unreadable(why) => {
                format!("no PMF timestamps: {why}; calls are measured from the caller's side")
            }
        }
    }
}

/// Returns true if `elf` (the BL31 file) lets the payload read PMF timestamps.
pub(crate) fn are_in(elf: &[u8]) -> Result<bool> {
    let file = object::File::parse(elf).context("bl31.elf")?;
    Ok(file.symbols().any(|symbol| symbol.name() == Ok(READER)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_handler_is_added_where_the_source_has_it() {
        let source = tempfile::tempdir().expect("a temporary directory");
        let find = |pmf| Timestamps::find(pmf, source.path(), "2.10");
        let old = find(Some(Pmf::Unlinked));
        assert!(old.variables().is_empty());
        let why = old.describe();
        assert!(
            why.contains("TF-A 2.10 has no services/el3/ven_el3_svc.c"),
            "{why}"
        );
        for file in HANDLER {
            let path = source.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        let handler = "VENDOR_EL3_SRCS=services/el3/ven_el3_svc.c lib/pmf/pmf_smc.c";
        assert_eq!(find(Some(Pmf::Unlinked)).variables()[1..], [handler]);
        assert_eq!(find(Some(Pmf::Linked)).variables().len(), 1);
        assert!(find(Some(Pmf::None)).variables().is_empty());
    }
}
