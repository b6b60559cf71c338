//! Renders templates.

use anyhow::Result;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter};

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

/// Renders a template. Values are escaped with `escape` unless they are `safe`, and an undefined
/// value is false in a condition.
pub(super) fn render(template: &str, context: Value, escape: fn(&str) -> String) -> Result<String> {
    let mut templates = text_templates()?;
    templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(move |out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&escape(text))?),
        _ => escape_formatter(out, state, value),
    });
    Ok(templates.render_str(template, context)?)
}
