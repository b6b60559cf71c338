//! Renders templates.

use anyhow::Result;
use host::text_templates;
use minijinja::{AutoEscape, UndefinedBehavior, Value, escape_formatter};

/// Renders a template. Values are escaped with `escape` unless they are `safe`, and an undefined
/// value is false in a condition.
///
/// # Errors
/// Returns an error if the template is malformed, or uses a value that `context` does not have.
pub fn render(template: &str, context: Value, escape: fn(&str) -> String) -> Result<String> {
    let mut templates = text_templates()?;
    templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(move |out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&escape(text))?),
        _ => escape_formatter(out, state, value),
    });
    Ok(templates.render_str(template, context)?)
}
