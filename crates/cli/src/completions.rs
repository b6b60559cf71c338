//! The verb `completions` of every program.

use std::io::{Result, Write};

use clap::{ArgMatches, Args as _, Command, FromArgMatches as _, ValueEnum};
use clap_complete::generate;

use super::help_text::{PROGRAM, XTASK};

/// The name of the verb.
pub(super) const VERB: &str = "completions";

/// The name of `cargo xtask` in scripts, in which a program's name is one word.
const XTASK_WORD: &str = "cargo-xtask";
/// Completes `cargo xtask` like `cargo-xtask`. In zsh, cargo's own completion does this.
const XTASK_BASH: &str = include_str!("xtask.bash");
const XTASK_FISH: &str = include_str!("xtask.fish");

/// Print a completion script for bash, fish or zsh.
#[derive(Debug, clap::Args)]
struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Fish,
    Zsh,
}

/// Returns the definition of the verb for the program called `name`.
pub(super) fn verb(name: &str) -> Command {
    let word = word(name);
    let examples = format!(
        "\
Examples:
  {PROGRAM} completions bash >> ~/.bash_completion
  {PROGRAM} completions fish > ~/.config/fish/conf.d/{word}.fish
  {PROGRAM} completions zsh > ~/.zfunc/_{word}

The script takes effect in new shells. bash needs the package bash-completion.
zsh needs the folder in `fpath` before ~/.zshrc calls `compinit`:
  fpath+=(~/.zfunc); autoload -U compinit; compinit"
    );
    CompletionsArguments::augment_args(Command::new(VERB)).after_help(examples)
}

/// Returns `name` as one word.
fn word(name: &str) -> &str {
    if name == XTASK { XTASK_WORD } else { name }
}

/// Writes the script for the shell in `matches`, which are those of the verb. It completes the verbs
/// and options of `command`.
///
/// # Errors
/// Returns an error if the script cannot be written.
pub(super) fn write(matches: &ArgMatches, command: &Command, out: &mut impl Write) -> Result<()> {
    let arguments = CompletionsArguments::from_arg_matches(matches);
    let shell = arguments.expect("clap has checked the shell").shell;
    let name = command.get_name();
    let word = word(name);
    let mut script = match shell {
        Shell::Bash => bash_script(command, word),
        Shell::Fish => generated(command, word, clap_complete::Shell::Fish),
        Shell::Zsh => generated(command, word, clap_complete::Shell::Zsh),
    };
    if name == XTASK {
        script.extend(match shell {
            Shell::Bash => XTASK_BASH.bytes(),
            Shell::Fish => XTASK_FISH.bytes(),
            Shell::Zsh => "".bytes(),
        });
    }
    out.write_all(&script)
}

/// Returns the script of clap_complete for `command`, called `word`.
fn generated(command: &Command, word: &str, shell: clap_complete::Shell) -> Vec<u8> {
    // A shell expects a word in each place where the script contains the name.
    let mut command = command.clone().name(word.to_owned());
    let mut script = Vec::new();
    generate(shell, &mut command, word, &mut script);
    script
}

/// Returns the script for bash. In the one that clap_complete generates for a name with a hyphen,
/// verbs have no options (<https://github.com/clap-rs/clap/issues/6421>).
fn bash_script(command: &Command, word: &str) -> Vec<u8> {
    let function = word.replace('-', "_");
    let mut script = generated(command, &function, clap_complete::Shell::Bash);
    let register = format!("complete -F _{function} -o bashdefault -o default {word}\n");
    script.extend(register.bytes());
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with a verb that has an option.
    fn program(name: &'static str) -> Command {
        let open = clap::Arg::new("open").long("open-it");
        let report = Command::new("report-it").arg(open);
        Command::new(name).bin_name(name).subcommand(report)
    }

    /// Returns the script of `program` for `shell`.
    fn script(name: &'static str, shell: &str) -> String {
        let matches = verb(name).get_matches_from([VERB, shell]);
        let mut script = Vec::new();
        write(&matches, &program(name), &mut script).expect("a Vec takes everything");
        String::from_utf8(script).expect("text")
    }

    #[test]
    fn script_has_verbs_and_options_and_those_of_cargo_xtask_serve_cargo() {
        for (shell, is_word, serves_cargo) in [
            ("bash", "default psci-x\n", "_psci_bench_cargo cargo"),
            ("fish", "complete -c psci-x ", "complete -c cargo "),
            ("zsh", "#compdef psci-x\n", "#compdef cargo-xtask\n"),
        ] {
            let own = script("psci-x", shell);
            let of_xtask = script(XTASK, shell);
            for text in ["report-it", "open-it", is_word] {
                assert!(own.contains(text), "{shell}: {text}: {own}");
            }
            assert!(of_xtask.contains(serves_cargo), "{shell}: {of_xtask}");
            assert!(!own.contains(serves_cargo), "{shell}: {own}");
            assert!(!of_xtask.contains("(cargo xtask)"), "{shell}: {of_xtask}");
        }
    }
}
