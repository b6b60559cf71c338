//! Audits of several trees, some of which cannot be audited.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Edit, edit, edited, scratch, tree};

/// Returns a tree in which one CPU lists two states with the same power_state.
fn shared() -> Vec<u8> {
    edited(|tree| {
        let power_state = "arm,psci-suspend-param";
        edit(tree, "cluster-off", power_state, Edit::Us(0x1_0002));
    })
}

/// Returns a tree whose residency is too short.
fn wrong() -> Vec<u8> {
    edited(|tree| edit(tree, "core-off", "min-residency-us", Edit::Us(100)))
}

#[test]
fn tree_that_cannot_be_audited_is_a_line_of_the_table() {
    let scratch = scratch();
    let none = crate::support::tree_with(boards::GicVersion::V3, "");
    scratch.write("boards/a-shared.dtb", &shared());
    scratch.write("boards/b-empty.dtb", "");
    scratch.write("boards/c-text.dtb", "/dts-v1/;\n/ {};\n");
    scratch.write("boards/d-cut.dtb", &tree()[..100]);
    scratch.write("boards/vendor/new/good.DTB", &tree());
    scratch.write("boards/vendor/new/display.dtbo", &tree());
    scratch.write("boards/vendor/none.dtb", &none);
    scratch.write("boards/vendor/wrong.dtb", &wrong());
    scratch.write("boards/notes.txt", "not a tree");
    symlink("missing.dtb", scratch.path("boards/e-dangling.dtb")).expect("made");
    // Folders that contain themselves.
    symlink(".", scratch.path("boards/loop")).expect("made");
    symlink("..", scratch.path("boards/vendor/loop")).expect("made");
    // A folder that has two names.
    symlink("vendor", scratch.path("boards/also-vendor")).expect("made");
    let (code, text, stderr) = scratch.called("audit-idle --tree boards");
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("1 contradictory; 5 trees cannot be audited"),
        "{stderr}"
    );
    let overlays = "note: 1 overlay not audited; use fdtoverlay to apply overlays to a tree";
    assert!(stderr.contains(overlays), "{stderr}");
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.to_lowercase().contains(".dtb  "))
        .collect();
    let expected = [
        "boards/a-shared.dtb n/a cannot be audited: /cpus/idle-states/core-off and",
        "boards/b-empty.dtb n/a cannot be audited: the file is empty",
        "boards/c-text.dtb n/a cannot be audited: device tree source; compile it with",
        "boards/d-cut.dtb n/a cannot be audited: ",
        "boards/e-dangling.dtb n/a cannot be audited: No such file",
        "boards/vendor/new/good.DTB 4 no contradictions",
        "boards/vendor/none.dtb 0 no idle states",
        "boards/vendor/wrong.dtb 4 1 contradictory",
    ];
    assert_eq!(rows.len(), expected.len(), "{text}");
    for (row, expected) in rows.iter().zip(expected) {
        let words: Vec<_> = row.split_whitespace().collect();
        assert!(words.join(" ").starts_with(expected), "{row}");
    }
    let sentence = "boards/vendor/wrong.dtb: core-off (0x00010002), residency-covers-latency";
    assert!(text.contains(sentence), "{text}");
    for format in ["md", "rst", "html", "json"] {
        let line = format!("audit-idle --tree boards --format {format}");
        let (code, text, _) = scratch.called(&line);
        assert_eq!(code, 2);
        assert!(
            text.contains("a-shared.dtb") && text.contains("none.dtb"),
            "{text}"
        );
    }
}

#[test]
fn exit_code_of_several_trees_names_the_worst() {
    let scratch = scratch();
    scratch.write("bad/good.dtb", &tree());
    scratch.write("bad/shared.dtb", &shared());
    scratch.write("wrong/good.dtb", &tree());
    scratch.write("wrong/wrong.dtb", &wrong());
    scratch.write("one/shared.dtb", &shared());
    scratch.write("overlays/board.dtbo", &tree());
    scratch.write("sources/board.dts", "/dts-v1/;\n/ {};\n");
    let none = crate::support::tree_with(boards::GicVersion::V3, "");
    scratch.write("none/none.dtb", &none);
    fs::create_dir(scratch.path("bare")).expect("made");
    scratch.assert_outcomes(&[
        (
            "audit-idle --tree bad",
            2,
            "no contradictions; 1 tree cannot be audited",
        ),
        ("audit-idle --tree wrong", 1, "1 contradictory"),
        (
            "audit-idle --tree wrong --tree bad/shared.dtb",
            2,
            "1 contradictory; 1 tree cannot",
        ),
        (
            "audit-idle --tree good.dtb --tree missing.dtb",
            2,
            "1 tree cannot be audited",
        ),
        ("audit-idle --tree one", 2, "1 tree cannot be audited"),
        (
            "audit-idle --tree none",
            2,
            "none of the 1 trees declares an idle state",
        ),
        ("audit-idle --tree bare", 2, "bare: contains no .dtb file\n"),
        (
            "audit-idle --tree sources",
            2,
            "no .dtb file; compile its .dts files with dtc",
        ),
        (
            "audit-idle --tree overlays",
            2,
            "no .dtb file; apply its overlays to a tree with fdtoverlay",
        ),
        (
            "audit-idle --tree wrong --format dts",
            2,
            "changes one tree, but there are 2",
        ),
        (
            "audit-idle --tree sources/board.dts",
            2,
            "device tree source; compile it with dtc",
        ),
    ]);
}
