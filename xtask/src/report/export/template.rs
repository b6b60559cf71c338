//! The environment of templates.

use anyhow::Result;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

/// Returns an environment in which lines of blocks leave nothing behind, and no text is
/// escaped unless a filter does that.
pub(super) fn environment() -> Result<Environment<'static>> {
    let mut templates = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    templates.set_syntax(syntax.keep_trailing_newline(true).build()?);
    templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(templates)
}
