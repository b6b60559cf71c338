//! The template engine for text files.

use anyhow::Result;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

/// Returns an environment for text files. Lines that contain only block tags do not leave blank
/// lines behind, values are not escaped, and an undefined value is an error.
///
/// # Errors
/// Returns an error if the template engine rejects the syntax.
pub fn text_templates<'t>() -> Result<Environment<'t>> {
    let mut templates = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    templates.set_syntax(syntax.keep_trailing_newline(true).build()?);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(templates)
}
