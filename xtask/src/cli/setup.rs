//! `cargo xtask setup`.

use anyhow::Result;

use crate::build::{mbed_tls, tf_a};
use crate::setup;
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;

pub(super) fn set_up() -> Result<u8> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::ALL)?;
    let source = tf_a::TF_A.fetch(&workspace)?;
    mbed_tls::MBED_TLS.fetch(&workspace)?;
    say("everything is there");
    say(&format!(
        "TF-A {} is in {}",
        tf_a::TF_A.version,
        source.display()
    ));
    Ok(0)
}
