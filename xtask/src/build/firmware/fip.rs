//! The arguments by which TF-A's build makes a FIP.
//!
//! Debian's fiptool and cert_create are used: TF-A's makefile would build its own in its
//! source tree, which is not written to, and refuses that for a platform outside the tree.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::build::mbed_tls::{MBED_TLS, mbed_tls_version};
use crate::setup::process::find;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// BL33 until it is replaced.
const STAND_IN: &[u8] = b"a stand-in for BL33";

#[derive(Debug)]
pub(super) struct Fip {
    /// A text that no other FIP's build has.
    pub(super) identity: String,
    tools: Vec<(&'static str, PathBuf)>,
    mbed_tls: Option<PathBuf>,
}

impl Fip {
    pub(super) fn prepare(workspace: &Workspace, fip: FipBuild) -> Result<Self> {
        let tool = |name: &str| find(name).with_context(|| format!("there is no {name}"));
        setup::ensure(workspace, &[Need::Fiptool])?;
        let mut tools = vec![("FIPTOOL", tool("fiptool")?)];
        if fip == FipBuild::Plain {
            return Ok(Self {
                identity: "fip".into(),
                tools,
                mbed_tls: None,
            });
        }
        setup::ensure(workspace, &[Need::CertCreate, Need::Openssl])?;
        tools.push(("CRTTOOL", tool("cert_create")?));
        let mbed_tls = MBED_TLS.fetch(workspace)?;
        Ok(Self {
            identity: format!("trusted fip, Mbed TLS {}", mbed_tls_version(&mbed_tls)?),
            tools,
            mbed_tls: Some(mbed_tls),
        })
    }

    /// Returns the arguments of make, for a build in `scratch` that is kept in `place`.
    pub(super) fn arguments(&self, scratch: &Path, place: &Path) -> Result<Vec<OsString>> {
        let mut arguments = vec![OsString::from("fip")];
        let mut variable = |name: &str, value: &Path| {
            let mut argument = OsString::from(format!("{name}="));
            argument.push(value);
            arguments.push(argument);
        };
        let stand_in = scratch.join("bl33.bin");
        fs::write(&stand_in, STAND_IN)?;
        variable("BL33", &stand_in);
        for (name, path) in &self.tools {
            variable(name, path);
        }
        if let Some(dir) = &self.mbed_tls {
            variable("MBEDTLS_DIR", dir);
            variable("BL33_KEY", &place.join(NT_FW_KEY));
            for word in ["TRUSTED_BOARD_BOOT", "GENERATE_COT", "SAVE_KEYS"] {
                arguments.push(format!("{word}=1").into());
            }
            // Mbed TLS 3.6.6 declares functions twice, which is a warning.
            arguments.push("E=0".into());
        }
        // Tools that are there need not be made.
        for (_, path) in &self.tools {
            arguments.extend(["-o".into(), path.clone().into_os_string()]);
        }
        Ok(arguments)
    }
}

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
