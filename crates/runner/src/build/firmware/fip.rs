//! The arguments that make the TF-A build produce a FIP with a placeholder for BL33.
//!
//! The build uses fiptool and cert_create from Debian. The TF-A makefile would build these tools in
//! its source tree, where nothing may be written, and does not build them for a platform outside
//! the tree.

use anyhow::{Context, Result};
use host::process::find_program;

use super::platform::FipBuild;
use crate::build::tf_a::MBED_TLS;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The name of the file, next to a trusted FIP, that contains the non-trusted firmware key.
pub const NT_FW_KEY: &str = "nt_fw_key.pem";

/// Returns the make arguments that do not depend on the build folder.
pub(super) fn arguments(workspace: &Workspace, fip: FipBuild) -> Result<Vec<String>> {
    match fip {
        FipBuild::None => Ok(Vec::new()),
        FipBuild::Plain => {
            setup::ensure(workspace, &[Need::Fiptool, Need::Dtc])?;
            Ok(tool("FIPTOOL", "fiptool")?.to_vec())
        }
        FipBuild::Trusted => trusted(workspace),
    }
}

fn trusted(workspace: &Workspace) -> Result<Vec<String>> {
    workspace.check_for_make()?;
    setup::ensure(workspace, &[Need::Fiptool, Need::CertCreate, Need::Openssl])?;
    let mbed_tls = MBED_TLS.fetch(workspace)?;
    // Mbed TLS 3.6.6 declares functions twice, which causes a warning, hence E=0.
    let switches = [
        "TRUSTED_BOARD_BOOT=1",
        "GENERATE_COT=1",
        "SAVE_KEYS=1",
        "E=0",
    ];
    let mut arguments = switches.map(str::to_owned).to_vec();
    arguments.push(format!("MBEDTLS_DIR={}", mbed_tls.display()));
    arguments.extend(tool("FIPTOOL", "fiptool")?);
    arguments.extend(tool("CRTTOOL", "cert_create")?);
    Ok(arguments)
}

/// Returns the arguments that make the TF-A build use the installed `tool`.
fn tool(variable: &str, tool: &str) -> Result<[String; 3]> {
    let path = find_program(tool)
        .with_context(|| format!("{tool} is missing"))?
        .display()
        .to_string();
    // `-o` keeps make from rebuilding a tool that already exists.
    Ok([format!("{variable}={path}"), "-o".to_owned(), path])
}
