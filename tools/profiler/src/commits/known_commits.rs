//! What earlier runs have found out about commits. The measurement of a known commit can be looked
//! up without unpacking and building the commit.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use host::hex::hex;
use host::read_file;
use runner::build::checkout::Commit;
use runner::build::tf_a::hash_folder;
use runner::build::{firmware, payload};
use runner::qemu::run_spec::RunSpec;
use runner::setup;
use runner::setup::workspace::Workspace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::kept_file;

/// What is known about a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KnownCommit {
    /// The commit has been measured in the run with this identity.
    Measured(String),
    /// The commit does not compile, for this reason.
    DoesNotCompile(String),
}

/// The commits that are known for one kind of run.
#[derive(Debug)]
pub(super) struct KnownCommits {
    folder: PathBuf,
    /// A hash of everything that the measurement depends on, except the TF-A source.
    inputs: String,
}

impl KnownCommits {
    /// Opens the list in `folder` for runs of `spec`. `tools` are other files that the measurement
    /// depends on.
    pub fn open(
        folder: PathBuf,
        workspace: &Workspace,
        spec: &RunSpec,
        tools: &[PathBuf],
    ) -> Result<Self> {
        let spec = RunSpec {
            tf_a: None,
            tf_a_title: None,
            ..spec.clone()
        };
        let own = env::current_exe()
            .and_then(fs::metadata)
            .context("cannot find this program's file")?;
        let (toolchain, qemu) = (firmware::toolchain()?, setup::qemu_version()?);
        let mut hash = Sha256::new();
        hash.update(format!("{spec:?} {toolchain:?} {qemu:?}"));
        // If the tool is built again, it may prepare runs differently.
        hash.update(format!("{} {:?}", own.len(), own.modified()?));
        for file in [&[payload::build(workspace)?], tools].concat() {
            hash.update(read_file::read_own(&file)?);
        }
        let boards = workspace.root.join("platforms");
        hash_folder(&boards, &boards, &[], &mut hash)?;
        let inputs = hex(&hash.finalize());
        Ok(Self { folder, inputs })
    }

    fn place(&self, commit: &Commit) -> PathBuf {
        let key = Sha256::digest(format!("{} {}", self.inputs, commit.tree));
        self.folder.join(hex(&key)).with_added_extension("json")
    }

    /// Returns what is known about the commit.
    pub fn get(&self, commit: &Commit) -> Option<KnownCommit> {
        let json = kept_file::read(&self.place(commit))?;
        serde_json::from_slice(&json).ok()
    }

    /// Remembers what has been found out about the commit.
    pub fn keep(&self, commit: &Commit, known: &KnownCommit) -> Result<()> {
        let place = self.place(commit);
        kept_file::write("a known commit", &place, |out| {
            Ok(serde_json::to_writer(out, known)?)
        })
    }
}
