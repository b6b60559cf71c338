//! Renders templates.

use anyhow::Result;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter};

/// Renders a template. Lines that contain only block tags do not leave blank lines behind. Values
/// are escaped with `escape` unless they are `safe`.
pub(super) fn render(template: &str, context: Value, escape: fn(&str) -> String) -> Result<String> {
    let mut templates = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    templates.set_syntax(syntax.keep_trailing_newline(true).build()?);
    templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(move |out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&escape(text))?),
        _ => escape_formatter(out, state, value),
    });
    Ok(templates.render_str(template, context)?)
}
