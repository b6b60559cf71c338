//! References to nodes: paths, aliases (Devicetree Specification v0.4, section 3.3) and phandles.

use super::fdt::{Fdt, number};
use super::node::{Node, VALUE_MAX, first_text};
use crate::text::format_error::Result;
use crate::text::untrusted::Excerpt;

/// Returns the node that a property of `/chosen` refers to, or `None` if there is no such property.
/// The value is a path or an alias, optionally followed by a colon and settings (section 3.6), or,
/// in Zephyr's trees, a phandle.
///
/// # Errors
/// Returns an error if there is no such node.
pub(crate) fn in_chosen<'t>(tree: Fdt<'t>, name: &'static str) -> Result<Option<Node<'t>>> {
    let Some(chosen) = Node::find(tree, "/chosen") else {
        return Ok(None);
    };
    let Some(value) = chosen.value(name) else {
        return Ok(None);
    };
    if let (4, Some(0)) = (value.len(), value.first()) {
        let phandle = number(value) as u32;
        let target = Node::with_phandle(tree, phandle);
        let missing_node =
            || chosen.error(name, format_args!("no node has the phandle {phandle:#x}"));
        return target.ok_or_else(missing_node).map(Some);
    }
    let text = chosen.text(name)?.unwrap_or("");
    let path = text.split(':').next().unwrap_or(text);
    let missing_node = || {
        let shown = Excerpt(path, VALUE_MAX);
        chosen.error(name, format_args!("no node has the path \"{shown}\""))
    };
    resolve(tree, path)?.ok_or_else(missing_node).map(Some)
}

/// Finds the node for a path or for an alias with an optional path below it. Returns `None` if
/// there is no such path or alias.
///
/// # Errors
/// Returns an error if no node has the alias's path.
pub(crate) fn resolve<'t>(tree: Fdt<'t>, path: &str) -> Result<Option<Node<'t>>> {
    if path.starts_with('/') {
        return Ok(Node::find(tree, path));
    }
    let (alias, below) = path.split_once('/').unwrap_or((path, ""));
    let Some(aliases) = Node::find(tree, "/aliases") else {
        return Ok(None);
    };
    let Some(value) = aliases.value(alias) else {
        return Ok(None);
    };
    let target = first_text(value).ok_or_else(|| aliases.not_text("(an alias)"))?;
    let Some(node) = Node::find(tree, target) else {
        let message = format_args!(
            "the path of {} is \"{}\", which no node has",
            Excerpt(alias, VALUE_MAX),
            Excerpt(target, VALUE_MAX)
        );
        return Err(aliases.error("", message));
    };
    Ok(node.below(below.as_bytes()))
}
