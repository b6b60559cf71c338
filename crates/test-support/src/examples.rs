//! Runs the commands in help texts and on pages.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Command as Definition;
use cli::documented::{Example, accepted_examples};
use runner::setup::workspace::Workspace;

/// Runs the examples of the verbs of `definition` with the program at `program`, except those for
/// which `is_skipped` returns true. They run in `folder/work`, and find only the programs in
/// `folder`. Returns their number.
pub fn run_examples(
    program: &str,
    definition: &Definition,
    folder: &Path,
    is_skipped: impl Fn(&Example) -> bool,
) -> usize {
    let root = Workspace::find().expect("the repository").root;
    let mut examples = accepted_examples(definition, &root);
    examples.retain(|example| !is_skipped(example));
    for example in &examples {
        run_example(program, folder, example);
    }
    examples.len()
}

fn run_example(program: &str, folder: &Path, example: &Example) {
    let work = folder.join("work");
    let mut command = Command::new(program);
    command.args(&example.words).current_dir(&work).env_clear();
    // A script in the folder needs no PATH to find its shell.
    command.env("PATH", folder).env("TMPDIR", folder);
    command.stdin(match &example.input {
        Some(name) => File::open(work.join(name.trim_start_matches('/')))
            .expect("an input file")
            .into(),
        None => Stdio::null(),
    });
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}: {output:?}", example.line);
}
