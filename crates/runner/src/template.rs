//! Renders templates into text files.

use anyhow::Result;
use host::text_templates;
use minijinja::Value;

/// Renders a template. An undefined value is an error.
pub(crate) fn render(template: &str, values: Value) -> Result<String> {
    Ok(text_templates()?.render_str(template, values)?)
}
