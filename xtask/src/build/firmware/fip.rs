//! The arguments by which TF-A's build makes a FIP.
//!
//! Debian's fiptool and cert_create are used: TF-A's makefile would build its own in its
//! source tree, which is not written to, and refuses that for a platform outside the tree.

use anyhow::{Context, Result};

use crate::build::tf_a::MBED_TLS;
use crate::setup::process::find;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// A FIP that TF-A's build makes, with a stand-in for BL33.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FipBuild {
    /// Without certificates.
    Plain,
    /// With certificates, which BL1 and BL2 check (TRUSTED_BOARD_BOOT).
    Trusted,
}

/// The file of the key of the non-trusted firmware, beside a trusted FIP.
pub const NT_FW_KEY: &str = "nt_fw_key.pem";

/// Returns the arguments of make that do not depend on the build's folder.
pub(super) fn arguments(workspace: &Workspace, fip: FipBuild) -> Result<Vec<String>> {
    setup::ensure(workspace, &[Need::Fiptool, Need::CertCreate, Need::Openssl])?;
    let mut arguments = vec!["fip".to_owned()];
    let mut tools = vec![("FIPTOOL", "fiptool")];
    if fip == FipBuild::Trusted {
        tools.push(("CRTTOOL", "cert_create"));
        let mbed_tls = MBED_TLS.fetch(workspace)?;
        arguments.push(format!("MBEDTLS_DIR={}", mbed_tls.display()));
        // Mbed TLS 3.6.6 declares functions twice, which is a warning: E=0.
        let switches = [
            "TRUSTED_BOARD_BOOT=1",
            "GENERATE_COT=1",
            "SAVE_KEYS=1",
            "E=0",
        ];
        arguments.extend(switches.map(str::to_owned));
    }
    for (name, tool) in tools {
        let path = find(tool).with_context(|| format!("there is no {tool}"))?;
        let path = path.display().to_string();
        // A tool that is there need not be made.
        arguments.extend([format!("{name}={path}"), "-o".to_owned(), path]);
    }
    Ok(arguments)
}
