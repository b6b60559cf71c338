//! Sphinx, which builds TF-A's documentation.

use std::process::Command;

use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use super::scratch::Scratch;

/// Installs Sphinx, and builds the pages in the folder `source` as HTML in the folder `html`. Checks
/// that there are no warnings. As in TF-A's configuration, a title that occurs twice produces a
/// duplicate label.
pub fn build_pages(scratch: &Scratch) {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::PythonVenv, Need::Sphinx]).expect("Sphinx");
    let programs = Need::Sphinx.programs(&workspace).expect("it was installed");
    let conf = "project = 'Reports'\nhtml_theme = 'basic'\n\
        extensions = ['sphinx.ext.autosectionlabel']\nautosectionlabel_maxdepth = 1\n";
    scratch.write("source/conf.py", conf);
    let output = Command::new(programs.join("sphinx-build"))
        .args(["-n", "-W", "--keep-going", "-q", "-b", "html"])
        .args([scratch.path("source"), scratch.path("html")])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
}

/// Returns a page that [`build_pages`] has built.
pub fn built_page(scratch: &Scratch, name: &str) -> String {
    let page = scratch.read(&format!("html/{name}.html"));
    String::from_utf8(page).expect("UTF-8")
}
