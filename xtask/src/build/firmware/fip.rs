//! The arguments that make TF-A's build produce a FIP with certificates and a placeholder for BL33.
//!
//! This uses Debian's fiptool and cert_create. TF-A's makefile would build these tools in its
//! source tree, where nothing may be written, and does not build them for a platform outside the
//! tree.

use anyhow::{Context, Result};
use host::process::find;

use crate::build::tf_a::MBED_TLS;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The file next to a trusted FIP that contains the non-trusted firmware key.
pub const NT_FW_KEY: &str = "nt_fw_key.pem";

/// Returns the make arguments that do not depend on the build folder.
pub(super) fn arguments(workspace: &Workspace) -> Result<Vec<String>> {
    setup::ensure(workspace, &[Need::Fiptool, Need::CertCreate, Need::Openssl])?;
    let mbed_tls = MBED_TLS.fetch(workspace)?;
    // Mbed TLS 3.6.6 declares functions twice, which causes a warning, hence E=0.
    let switches = [
        "fip",
        "TRUSTED_BOARD_BOOT=1",
        "GENERATE_COT=1",
        "SAVE_KEYS=1",
        "E=0",
    ];
    let mut arguments = switches.map(str::to_owned).to_vec();
    arguments.push(format!("MBEDTLS_DIR={}", mbed_tls.display()));
    for (name, tool) in [("FIPTOOL", "fiptool"), ("CRTTOOL", "cert_create")] {
        let path = find(tool).with_context(|| format!("there is no {tool}"))?;
        let path = path.display().to_string();
        // `-o` keeps make from rebuilding a tool that exists.
        arguments.extend([format!("{name}={path}"), "-o".to_owned(), path]);
    }
    Ok(arguments)
}
