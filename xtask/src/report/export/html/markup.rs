//! Text, tables and lists as elements.

use std::fmt::Write;

use crate::report::analysis::compare::Outcome;
use crate::report::export::document::{Line, Remark};
use crate::report::export::escape::xml_characters;
use crate::report::export::table::{Align, Table};

/// Returns `text` as the content of an element or of an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in xml_characters(text).chars() {
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

/// Returns a table in a frame of its own, which scrolls if there is no room.
pub(super) fn table(table: &Table) -> String {
    let title = escape(&table.title);
    // Nothing is found behind five hundred rows.
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

/// Returns a cell: its mark if it is not verified, or a change that counts.
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

/// Returns names and texts as a list.
pub(super) fn definitions(lines: &[Line]) -> String {
    let line =
        |(name, text): &Line| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape(text));
    let lines: String = lines.iter().map(line).collect();
    format!("<dl class=\"method\">\n{lines}</dl>\n")
}

/// Returns remarks as a list; the details of one open when asked.
pub(super) fn remarks(all: &[Remark]) -> String {
    let mut out = String::from("<ul class=\"remarks\">\n");
    for Remark { text, basis, each } in all {
        out += &format!("<li>{}", escape(text));
        let basis = Some(basis).filter(|it| !it.is_empty());
        let name = if basis.is_some() {
            "Rests on"
        } else {
            "Each of them"
        };
        let details: String = basis
            .into_iter()
            .chain(each)
            .map(|text| format!("<p>{}</p>\n", escape(text)))
            .collect();
        if !details.is_empty() {
            out += &format!("\n<details><summary>{name}</summary>\n{details}</details>");
        }
        out += "</li>\n";
    }
    out + "</ul>\n"
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
        hostile.words(["<i>"]);
        hostile.rows.push(vec!["</td> ?".to_owned()]);
        let made = table(&hostile);
        assert!(
            !made.contains("<script>") && !made.contains("<i>") && !made.contains("</td></td>")
        );
        assert!(made.contains("class=\"unverified\""));
    }
}
