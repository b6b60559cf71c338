//! Renders templates into text files.

use anyhow::Result;
use minijinja::{Environment, UndefinedBehavior, Value};

/// Renders a template, which ends with a newline. An undefined value is an error.
pub(crate) fn render(template: &str, values: Value) -> Result<String> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    // The template engine drops the last newline.
    Ok(templates.render_str(template, values)? + "\n")
}
