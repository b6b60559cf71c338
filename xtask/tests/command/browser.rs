//! Pages with flame graphs and ledger charts in a browser.

use std::path::Path;

use crate::profile_pages::{change_page, ledger_page, profile_page};
use crate::support::browser::check_page;

#[test]
fn browser_finds_nothing_wrong_in_profiles_and_ledgers() {
    for (name, page) in [
        ("profile", profile_page()),
        ("change", change_page()),
        ("ledger", ledger_page()),
    ] {
        check_page(name, &page, Path::new(env!("CARGO_TARGET_TMPDIR")));
    }
}
