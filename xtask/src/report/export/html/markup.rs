//! Text, tables and lists as elements.

use std::fmt::Write;

use crate::report::analysis::compare::Outcome;
use crate::report::export::content::Remark;
use crate::report::export::method::Line;
use crate::report::export::table::{Align, Table};
use crate::report::export::xml::characters;

/// `text` as the content of an element or of an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in characters(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The most rows of a table that are shown without scrolling.
const ROWS_MAX: usize = 48;

/// A table, in a frame of its own that scrolls where there is no room.
pub(super) fn table(table: &Table) -> String {
    let title = escape(&table.title);
    // What comes behind five hundred rows is not found.
    let long = if table.rows.len() > ROWS_MAX {
        " long"
    } else {
        ""
    };
    let mut out = format!(
        "<figure>\n<figcaption>{title}</figcaption>\n\
         <div class=\"scroll{long}\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n\
         <table aria-label=\"{title}\">\n<thead><tr>"
    );
    let class = |align: &Align| match align {
        Align::Left => "",
        Align::Right => " class=\"number\"",
    };
    // A String takes all.
    for (heading, align) in &table.columns {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(align),
            escape(heading)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (cell, (_, align)) in row.iter().zip(&table.columns) {
            let _ = write!(out, "<td{}>{}</td>", class(align), figure(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n</figure>\n");
    out
}

/// A cell, with its mark where it is not verified, or a change that counts.
fn figure(cell: &str) -> String {
    match (cell, cell.strip_suffix(" ?")) {
        (_, Some(figure)) => format!(
            "{} <abbr class=\"unverified\" title=\"not verified\">?</abbr>",
            escape(figure)
        ),
        _ if cell == Outcome::Worse.word() => format!("<b class=\"bad\">{cell}</b>"),
        _ if cell == Outcome::Better.word() => format!("<b class=\"good\">{cell}</b>"),
        _ => escape(cell),
    }
}

/// Names and what is to be said of them.
pub(super) fn definitions(lines: &[Line]) -> String {
    let line = |(name, text): &Line| {
        let name = if name.is_empty() { "Also" } else { name };
        format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(text))
    };
    let lines: String = lines.iter().map(line).collect();
    format!("<dl class=\"method\">\n{lines}</dl>\n")
}

/// Remarks as a list; nothing of none. What stands behind one opens when asked.
pub(super) fn remarks(all: &[Remark]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ul class=\"remarks\">\n");
    for Remark { text, behind } in all {
        out.push_str(&format!("<li>{}", escape(text)));
        if let Some((title, more)) = behind {
            out.push_str(&format!(
                "\n<details><summary>{}</summary>\n",
                escape(title)
            ));
            for text in more {
                out.push_str(&format!("<p>{}</p>\n", escape(text)));
            }
            out.push_str("</details>");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            escape("<b a='\"'>&\u{1b}[0m\u{ffff}\n"),
            "&lt;b a=&#39;&quot;&#39;&gt;&amp;\u{fffd}[0m\u{fffd}\n"
        );
        let mut hostile = Table::titled("<script>");
        hostile.words("<i>");
        hostile.rows.push(vec!["</td> ?".to_owned()]);
        let made = table(&hostile);
        assert!(
            !made.contains("<script>") && !made.contains("<i>") && !made.contains("</td></td>")
        );
        assert!(made.contains("class=\"unverified\""));
    }
}
