//! Templates for the files that engines read. The files contain comments for human readers, which a
//! serializer could not write.

use anyhow::Result;
use host::text_templates;
use minijinja::Value;

const TEMPLATES: [(&str, &str); 5] = [
    ("job.yaml", include_str!("templates/job.yaml.j2")),
    ("device.yaml", include_str!("templates/device.yaml.j2")),
    ("env.yaml", include_str!("templates/env.yaml.j2")),
    (
        "test_psci_bench.py",
        include_str!("templates/test_psci_bench.py.j2"),
    ),
    ("pytest.ini", include_str!("templates/pytest.ini.j2")),
];

/// Renders the templates called `names` with the values in `context`.
pub(super) fn render(
    names: &[&'static str],
    context: &Value,
) -> Result<Vec<(&'static str, String)>> {
    let mut templates = text_templates()?;
    templates.add_filter("quoted", |text: &str| quoted(text));
    for (name, template) in TEMPLATES {
        templates.add_template(name, template)?;
    }
    let file = |name: &&'static str| {
        let text = templates.get_template(name)?.render(context.clone())?;
        Ok((*name, text))
    };
    names.iter().map(file).collect()
}

/// Returns `text` as a YAML string: single-quoted if possible, otherwise in JSON syntax, which YAML
/// 1.2 accepts.
fn quoted(text: &str) -> String {
    if !text.chars().any(is_odd) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let json = serde_json::Value::from(text).to_string();
    let escaped = json.chars().map(|c| match is_odd(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    });
    escaped.collect()
}

/// Returns true if YAML treats `c` as not printable or as the end of a line.
fn is_odd(c: char) -> bool {
    c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_read_back() {
        assert_eq!(quoted("it's: #1"), "'it''s: #1'");
        assert_eq!(quoted("a\nb\t\"c\""), r#""a\nb\t\"c\"""#);
        for text in [
            "",
            "no",
            "1.0",
            "\\w+",
            "{x}",
            "- y",
            "it's",
            "a\nb",
            "a\u{2028}b",
        ] {
            let read: String = serde_saphyr::from_str(&quoted(text)).expect("a scalar");
            assert_eq!(read, text);
        }
    }
}
