//! Finds nodes and properties in a device tree source without preprocessing it.
//!
//! The text may be a part of a source, such as a `.dtsi` file. Only its structure is read: nodes,
//! labels, and where each property begins and ends. Values and preprocessor lines are skipped.

use std::ops::Range;

use anyhow::{Result, bail};

/// A property or a node's end that a change refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceProperty {
    pub(super) name: String,
    /// From the name to the semicolon, inclusive.
    pub(super) statement: Range<usize>,
    /// The text between the equals sign and the semicolon; None for a property without a value.
    pub(super) value: Option<Range<usize>>,
}

/// A node's body. A node may have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceNode {
    /// The path from the root; None if the node is inside a node that another file defines.
    pub(super) path: Option<String>,
    labels: Vec<String>,
    /// Just after the opening brace.
    pub(super) body: usize,
    pub(super) properties: Vec<SourceProperty>,
}

/// Returns the bodies of all nodes in the order of their opening braces. Success shows only that
/// the source is balanced, not that `dtc` accepts it.
///
/// # Errors
/// Returns an error with the line number if braces, comments or strings are not balanced.
pub(super) fn nodes(text: &str) -> Result<Vec<SourceNode>> {
    let mut scanner = Scanner {
        text: text.as_bytes(),
        at: 0,
        nodes: Vec::new(),
    };
    scanner.body(None, 0)?;
    let at = scanner.at;
    if at < text.len() {
        bail!(
            "line {}: unexpected closing brace",
            line_of(text.as_bytes(), at)
        );
    }
    Ok(scanner.nodes)
}

/// Returns the line number of an offset, starting at 1.
fn line_of(text: &[u8], offset: usize) -> usize {
    let before = text.iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// The nesting depth that is accepted.
const DEPTH_MAX: usize = 64;
/// The words after `#` that start a preprocessor line. Properties may begin with `#`, too.
const DIRECTIVES: &str = "include define undef if ifdef ifndef else elif endif error warning line \
    pragma";

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<SourceNode>,
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn error(&self, at: usize, what: &str) -> anyhow::Error {
        anyhow::anyhow!("line {}: {what}", line_of(self.text, at))
    }

    /// Skips to just after `end`, which must follow.
    fn skip_past(&mut self, end: &[u8], what: &str) -> Result<()> {
        let Some(skipped) = memchr::memmem::find(self.rest(), end) else {
            return Err(self.error(self.at, what));
        };
        self.at += skipped + end.len();
        Ok(())
    }

    /// Skips a string, after its opening quote.
    fn skip_string(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Err(self.error(start, "this string has no end"))
    }

    /// Skips a comment, a string or a preprocessor line if there is one. Returns true if there was.
    fn skip_opaque(&mut self) -> Result<bool> {
        let rest = self.rest();
        if rest.starts_with(b"/*") {
            self.at += 2;
            self.skip_past(b"*/", "this comment has no end")?;
        } else if rest.starts_with(b"//") {
            let line = memchr::memchr(b'\n', rest);
            self.at = line.map_or(self.text.len(), |line| self.at + line);
        } else if rest.starts_with(b"\"") {
            self.at += 1;
            self.skip_string()?;
        } else if self.is_at_directive() {
            self.skip_directive();
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn is_at_directive(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix(b"#") else {
            return false;
        };
        let before = &self.text[..self.at];
        let line_end = before.iter().rposition(|byte| *byte == b'\n');
        let indent = &before[line_end.map_or(0, |line_end| line_end + 1)..];
        let text = rest.trim_ascii_start();
        let end = text.iter().position(|byte| !byte.is_ascii_alphabetic());
        let word = &text[..end.unwrap_or(text.len())];
        let is_whole = end.is_none_or(|word_end| text[word_end] != b'-' && text[word_end] != b',');
        let mut directives = DIRECTIVES.split_whitespace();
        indent.trim_ascii().is_empty()
            && is_whole
            && directives.any(|directive| directive.as_bytes() == word)
    }

    /// Skips to the end of a preprocessor line, which a backslash continues on the next one.
    fn skip_directive(&mut self) {
        while let Some(byte) = self.text.get(self.at) {
            let is_continued = self.text[..self.at].trim_ascii_end().last() == Some(&b'\\');
            if *byte == b'\n' && !is_continued {
                return;
            }
            self.at += 1;
        }
    }

    /// Skips whitespace and everything that is not part of a statement.
    fn skip_blank(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let is_string = rest.starts_with(b"\"");
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            } else if is_string || !self.skip_opaque()? {
                return Ok(());
            }
        }
    }

    /// Reads the statements of a node that starts at `path`, or of the file if `depth` is 0, up to
    /// the closing brace. Returns the node's properties.
    fn body(&mut self, path: Option<&str>, depth: usize) -> Result<Vec<SourceProperty>> {
        let mut properties = Vec::new();
        if depth > DEPTH_MAX {
            return Err(self.error(self.at, "nodes are nested too deep"));
        }
        loop {
            self.skip_blank()?;
            let start = self.at;
            let Some(byte) = self.text.get(self.at) else {
                return if depth == 0 {
                    Ok(properties)
                } else {
                    Err(self.error(start, "a closing brace is missing"))
                };
            };
            if *byte == b'}' {
                return Ok(properties);
            }
            let (head, end) = self.head()?;
            match end {
                b'{' => self.node(&head, path, depth)?,
                b'=' => {
                    let value = self.at;
                    self.skip_value()?;
                    properties.push(SourceProperty {
                        name: head,
                        statement: start..self.at,
                        value: Some(value..self.at - 1),
                    });
                }
                _ => properties.push(SourceProperty {
                    name: head,
                    statement: start..self.at,
                    value: None,
                }),
            }
        }
    }

    /// Reads up to the character that shows the kind of the statement: `{`, `=` or `;`. Returns the
    /// text before it without comments, and the character.
    fn head(&mut self) -> Result<(String, u8)> {
        let (start, mut head) = (self.at, Vec::new());
        while let Some(byte) = self.text.get(self.at).copied() {
            let is_string = byte == b'"';
            let before = self.at;
            // The brace of a path reference, such as &{/cpus}, does not open a body.
            if head.last() == Some(&b'&') && byte == b'{' {
                self.skip_past(b"}", "this reference has no end")?;
                head.extend_from_slice(&self.text[before..self.at]);
                continue;
            }
            if self.skip_opaque()? {
                if is_string {
                    head.extend_from_slice(&self.text[before..self.at]);
                }
                continue;
            }
            self.at += 1;
            match byte {
                b'{' | b'=' | b';' => {
                    let head = String::from_utf8_lossy(head.trim_ascii()).into_owned();
                    return Ok((head, byte));
                }
                b'}' => return Err(self.error(start, "this statement has no semicolon")),
                byte => head.push(byte),
            }
        }
        Err(self.error(start, "this statement has no semicolon"))
    }

    fn skip_value(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            if *byte == b';' {
                self.at += 1;
                return Ok(());
            }
            if !self.skip_opaque()? {
                self.at += 1;
            }
        }
        Err(self.error(start, "this property has no semicolon"))
    }

    /// Reads a node, after its opening brace.
    fn node(&mut self, head: &str, parent: Option<&str>, depth: usize) -> Result<()> {
        let body = self.at;
        let mut labels: Vec<String> = Vec::new();
        let mut name = head;
        if let Some(rest) = name.strip_prefix("/omit-if-no-ref/") {
            name = rest.trim();
        }
        while let Some((label, rest)) = name.split_once(':') {
            labels.push(label.trim().to_owned());
            name = rest.trim();
        }
        let path = self.path(name, parent, depth);
        let index = self.nodes.len();
        self.nodes.push(SourceNode {
            path: path.clone(),
            labels,
            body,
            properties: Vec::new(),
        });
        self.nodes[index].properties = self.body(path.as_deref(), depth + 1)?;
        // The closing brace, and the semicolon.
        self.at += 1;
        self.skip_blank()?;
        if self.rest().first() == Some(&b';') {
            self.at += 1;
        }
        Ok(())
    }

    /// Returns the path of the node called `name`. The root's path is empty.
    fn path(&self, name: &str, parent: Option<&str>, depth: usize) -> Option<String> {
        if let Some(reference) = name.strip_prefix("&{") {
            let path = reference.strip_suffix('}')?;
            return Some(path.trim_end_matches('/').to_owned());
        }
        if let Some(label) = name.strip_prefix('&') {
            let has_label = |node: &&SourceNode| node.labels.iter().any(|other| other == label);
            return self.nodes.iter().find(has_label)?.path.clone();
        }
        if depth == 0 {
            (name == "/").then(String::new)
        } else {
            Some(format!("{}/{name}", parent?))
        }
    }
}

#[cfg(test)]
mod tests {
    use itertools::Itertools as _;

    use super::*;

    const SOURCE: &str = r#"// A comment with { and "
/dts-v1/;
#include <dt-bindings/clock.h>
#define TWO_LINES \
    };
/memreserve/ 0x1000 0x2000;
/ {
	#address-cells = <2>;
	cpus {
		/* } */ entry-method = "psci; } \" {";
		CPU_SLEEP: OTHER: cpu-sleep-0 {
			exit-latency-us = <(100 + 20)>; // ;
			local-timer-stop;
			/delete-property/ wakeup-latency-us;
			child@1f { reg = <1>; };
		};
		/omit-if-no-ref/ LAST: cpu-sleep-1 { };
	};
};
&CPU_SLEEP { min-residency-us = /bits/ 32 <5>; };
&{/cpus/cpu-sleep-1} { min-residency-us = <6>; };
&elsewhere { cpu-sleep-0 { min-residency-us = <7>; }; };
"#;

    #[test]
    fn nodes_have_paths_and_properties() {
        let nodes = nodes(SOURCE).expect("a good source");
        let list = nodes.iter().map(|node| {
            let names = node.properties.iter().map(|property| &property.name);
            let path = node.path.as_deref().unwrap_or("?");
            format!("{path}: {}", names.format(", "))
        });
        assert_eq!(
            list.collect::<Vec<_>>(),
            [
                ": #address-cells",
                "/cpus: entry-method",
                "/cpus/cpu-sleep-0: exit-latency-us, local-timer-stop, \
                 /delete-property/ wakeup-latency-us",
                "/cpus/cpu-sleep-0/child@1f: reg",
                "/cpus/cpu-sleep-1: ",
                "/cpus/cpu-sleep-0: min-residency-us",
                "/cpus/cpu-sleep-1: min-residency-us",
                "?: ",
                "?: min-residency-us",
            ]
        );
        let exit = &nodes[2].properties[0];
        assert_eq!(
            &SOURCE[exit.statement.clone()],
            "exit-latency-us = <(100 + 20)>;"
        );
        let value = exit.value.clone().expect("a value");
        assert_eq!(&SOURCE[value], " <(100 + 20)>");
        assert_eq!(nodes[2].properties[1].value, None);
        assert!(SOURCE[nodes[4].body..].starts_with(" };"));
    }

    #[test]
    fn unbalanced_sources_are_refused_with_their_line() {
        for (text, expected) in [
            (
                "/ {\n\tcpus {\n\t};\n",
                "line 4: a closing brace is missing",
            ),
            ("/ { };\n};", "line 2: unexpected closing brace"),
            ("/ {\n\tmodel = \"x;\n};", "line 2: this string has no end"),
            ("/ {\n/* };", "line 2: this comment has no end"),
            ("/ {\n\treg\n};", "line 2: this statement has no semicolon"),
            (
                "/ {\n\treg = <1>\n}",
                "line 2: this property has no semicolon",
            ),
            ("&{/cpus", "line 1: this reference has no end"),
        ] {
            let error = nodes(text).expect_err(text).to_string();
            assert_eq!(error, expected, "{text}");
        }
        let deep = "a {".repeat(1000);
        let error = nodes(&deep).expect_err("too deep").to_string();
        assert!(error.contains("nested too deep"), "{error}");
        // No prefix of a source does any harm.
        for end in 0..SOURCE.len() {
            drop(nodes(&SOURCE[..end]));
        }
    }
}
