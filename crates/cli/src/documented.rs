//! Extracts the commands shown in the help and the documentation, so that tests can run them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use itertools::Itertools as _;

/// A command shown in the help or on a page.
#[derive(Clone, Debug)]
pub struct Example {
    /// The complete line, for error messages.
    pub line: String,
    /// The words after the program name.
    pub words: Vec<String>,
    /// The file that stdin is redirected from.
    pub input: Option<String>,
}

impl Example {
    /// Parses the part of a shell line after the program name, ignoring comments and pipes to other
    /// commands.
    fn read(line: &str) -> Self {
        let command = line.split(" # ").next().unwrap_or(line);
        let mut words = Vec::new();
        for (index, part) in command.split(['"', '\'']).enumerate() {
            let is_quoted = index % 2 == 1;
            if is_quoted {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        let end = words
            .iter()
            .position(|word| ["<", ">", ">>", "|"].contains(&&**word));
        let redirected = words.split_off(end.unwrap_or(words.len()));
        let input = redirected.iter().skip_while(|word| *word != "<").nth(1);
        Self {
            line: line.trim().to_owned(),
            input: input.cloned(),
            words,
        }
    }
}

/// Returns the invocations of `program` on the shell lines in `text`.
fn examples_in(text: &str, program: &str) -> Vec<Example> {
    let joined = text.replace("\\\n", " ");
    let examples = joined.lines().filter_map(|line| {
        let (_, rest) = line.split_once(&format!("{program} "))?;
        Some(Example::read(rest))
    });
    examples.collect()
}

/// Returns the examples in the help of `command` and all its subcommands.
pub fn help_examples(command: &Command, program: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    if let Some(help) = command.get_after_help() {
        examples.extend(examples_in(&help.to_string(), program));
    }
    for verb in command.get_subcommands() {
        examples.extend(help_examples(verb, program));
    }
    examples
}

/// The pages in the root.
const ROOT_PAGES: [&str; 3] = ["CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// Returns the path and the text of the pages in the root, and of each page in docs/, in tools/ and
/// in the tools' and the boards' folders, from the checkout at `root`.
///
/// # Panics
/// Panics if a page cannot be read.
pub fn pages(root: &Path) -> Vec<(PathBuf, String)> {
    let tools = entries(&root.join("tools"));
    let boards = entries(&root.join("platforms"));
    let folders = tools.iter().chain(&boards).filter(|path| path.is_dir());
    let pages = folders.flat_map(|folder| entries(folder));
    entries(&root.join("docs"))
        .into_iter()
        .chain(pages)
        .chain(tools.iter().cloned())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .chain(ROOT_PAGES.map(|page| root.join(page)))
        .sorted()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a text");
            (path, text)
        })
        .collect()
}

/// Returns what is in `folder`, if it exists.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// Returns the examples in a page's shell blocks.
pub fn page_examples(page: &str, program: &str) -> Vec<Example> {
    // Blocks within a list may be indented.
    page.split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .flat_map(|block| examples_in(block, program))
        .collect()
}

/// Returns the different examples of the verbs of `command` in its help and on the pages of the
/// checkout at `root`. Checks that `command` accepts each of them.
///
/// # Panics
/// Panics if an example is not accepted.
pub fn accepted_examples(command: &Command, root: &Path) -> Vec<Example> {
    let program = command.get_name();
    let mut examples = help_examples(command, program);
    for (_, page) in pages(root) {
        examples.extend(page_examples(&page, program));
    }
    examples.retain(|example| {
        let verb = example.words.first();
        verb.is_some_and(|verb| command.find_subcommand(verb).is_some())
    });
    for Example { line, words, .. } in &examples {
        let all = [program.to_owned()]
            .into_iter()
            .chain(words.iter().cloned());
        let parsed = command.clone().try_get_matches_from(all);
        assert!(parsed.is_ok(), "{line}: {parsed:?}");
    }
    examples
        .into_iter()
        .unique_by(|example| example.words.clone())
        .collect()
}
