//! Reads a [`LoggedRun`] from published tables: one CSV file per scenario, named after it.
//!
//! The columns are `cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns` or
//! `cluster,core,latency_ns`. This header line is optional, because the files in TF-A's
//! `docs/perf/data/PLATFORM/{current,previous}` lack it. A change after a figure, such as `185700
//! (-30.51%)`, belongs to a different comparison and is ignored.
//!
//! These tables contain only figures: no samples, timestamps or conditions. The board is known only
//! from the folder name. The rows are read like RT_INSTR lines.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use hardware::text::keywords::Word as _;
use host::progress::say;
use host::read_file;
use suite::plan::ScenarioId;

use super::builder::LoggedRunBuilder;
use super::logged_run::LoggedRun;
use super::page::{self, has_extension};
use super::plain_line::{PlainLine, RtInstr};
use super::published_rows::{PublishedRow, csv_lines, rows};
use super::release_version::ReleaseVersion;

/// The maximum file size in bytes, which is more than enough for 512 CPUs.
const FILE_MAX: usize = 1 << 17;

/// Returns true if `path` contains tables rather than a log.
pub fn are_at(path: &Path) -> bool {
    path.is_dir() || has_extension(path, "csv") || page::is_at(path)
}

/// Reads the newest release's tables from a page.
fn read_page(path: &Path) -> Result<LoggedRun> {
    let page = page::read(path)?;
    for doubt in &page.doubts {
        say(doubt);
    }
    let mut builder = LoggedRunBuilder::of_tables();
    let newest = page.releases().swap_remove(0);
    // One title may name a different release than the others, or they may all say "(current
    // release)".
    let release = page::most_common_release(newest.iter().copied())
        .filter(|release| ReleaseVersion::parse(release).is_some())
        .cloned();
    for table in &newest {
        builder.extend(table.line as u64, (0, 0));
        for row in &table.rows {
            builder.line(line(table.id.tag(), row));
        }
    }
    let mut logged = builder.finish(&page.input, 1);
    logged.header.board = page.board;
    logged.header.release = release;
    logged.header.has_unknown_clusters = page.has_unknown_clusters;
    Ok(logged)
}

/// Reads the tables at `path`, which is a page, a file, a folder of files, or a folder with a
/// `current` subfolder.
pub fn read(path: &Path) -> Result<LoggedRun> {
    if page::is_at(path) {
        return read_page(path);
    }
    let mut files = if path.is_dir() {
        in_folder(path)?
    } else {
        vec![path.to_owned()]
    };
    files.sort_by_cached_key(|file| {
        let index = ScenarioId::from_word(&tag(file)).map(ScenarioId::index);
        (index.unwrap_or(ScenarioId::ALL.len()), tag(file))
    });
    let mut builder = LoggedRunBuilder::of_tables();
    let mut size = 0;
    for file in &files {
        let bytes = read_file::read("table", file, FILE_MAX)?;
        size += bytes.len() as u64;
        builder.extend(0, (0, size));
        let tag = &tag(file);
        let rows = parse(&bytes, tag).map_err(|error| anyhow!("{}:{error:#}", file.display()))?;
        for row in rows {
            builder.line(line(tag, &row));
        }
    }
    let mut logged = builder.finish(&path.display().to_string(), 1);
    logged.header.board = files.first().and_then(|file| platform(file));
    Ok(logged)
}

/// Returns the platform, from the names of the folders that contain a file. This is the folder that
/// contains `current` or `previous`, or else a folder that has the same name as a board in
/// this repository.
fn platform(file: &Path) -> Option<String> {
    let folder = fs::canonicalize(file.parent()?).ok()?;
    let names: Vec<_> = folder.iter().rev().map(OsStr::to_string_lossy).collect();
    if let [release, platform, ..] = &names[..]
        && ["current", "previous"].contains(&&**release)
    {
        return Some(platform.to_string());
    }
    page::known_board(names.iter().map(|name| &**name)).map(str::to_owned)
}

fn tag(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn in_folder(dir: &Path) -> Result<Vec<PathBuf>> {
    let name = || dir.display().to_string();
    let entries = fs::read_dir(dir).with_context(name)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_>>().with_context(name)?;
    files.retain(|path| {
        !path.is_dir() && has_extension(path, "csv") && tag(path).starts_with("test_")
    });
    let current = dir.join("current");
    if files.is_empty() && current.is_dir() {
        return in_folder(&current);
    }
    let example = ScenarioId::SUSPEND_DEEP_PARALLEL.tag();
    ensure!(
        !files.is_empty(),
        "{}: this folder contains no tables and no folder named current; expected files such as \
         {example}.csv",
        name()
    );
    Ok(files)
}

/// Reads the rows of a scenario's table.
fn parse(bytes: &[u8], tag: &str) -> Result<Vec<PublishedRow>> {
    let lines = csv_lines(bytes)?;
    rows(ScenarioId::from_word(tag), &lines, 1)
}

/// Converts a row to the line that TFTF would print for it.
fn line<'t>(tag: &'t str, row: &PublishedRow) -> PlainLine<'t> {
    let ns = |column: usize| row.figures.get(column).map(|figure| figure.ns);
    PlainLine::RtInstr(RtInstr {
        tag,
        label: row.label,
        values: [ns(0), ns(1), ns(2)],
    })
}

#[cfg(test)]
mod tests {
    use suite::measure::Metric;

    use super::*;

    #[test]
    fn tables_of_each_layout_are_read() {
        let header = "cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns\n0,1,9,7,5\n";
        let quoted = "\u{feff}\"0\",\"1\",\"18 (-30.51%)\",\"27\",\"0\"\n";
        for (text, label, values) in [
            (quoted, (0, 1), [Some(18), Some(27), Some(0)]),
            ("1,3, 7\r\n1,2,880\r\n", (1, 3), [Some(7), None, None]),
            (header, (0, 1), [Some(9), Some(7), Some(5)]),
        ] {
            let tag = "test_x";
            let expected = PlainLine::RtInstr(RtInstr { tag, label, values });
            let rows = parse(text.as_bytes(), tag).expect("rows");
            assert_eq!(line(tag, &rows[0]), expected);
        }
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        let rows = "0,0,1\n".repeat(4097);
        let off = "test_rt_instr_cpu_off_serial";
        let version = ScenarioId::PSCI_VERSION_PARALLEL.tag();
        for (tag, text, part) in [
            ("test_x", "", "no CPU rows"),
            ("test_x", "cluster,core,latency_ns\n", "no CPU rows"),
            ("test_x", "0,0,1,2\n", "1:1: 4 cells, expected 3 or 5"),
            ("test_x", "0,0,1\n0,1\n", "2:1: 2 cells, expected 3 or 5"),
            (
                "test_x",
                "0,0,1\n0,1,-5\n",
                "2:5: \"-5\" is not a valid latency",
            ),
            ("test_x", "0,0,7 (x)\n", "\"7 (x)\" is not a valid latency"),
            (
                "test_x",
                "0,0,99999999999999999999\n",
                "is not a valid latency",
            ),
            (
                "test_x",
                "0,65536,7\n",
                "1:3: \"65536\" is not a valid cluster or core",
            ),
            ("test_x", "0,0,\n", "\"\" is not a valid latency"),
            (
                "test_x",
                "core,cluster,latency_ns\n0,0,0\n",
                "\"core\" is not a valid cluster or core",
            ),
            ("test_x", &rows, "more than 4096 rows"),
            (off, "0,0,7\n", "but no latency"),
            (version, "0,0,7,8,9\n", "only a latency"),
        ] {
            let message = format!("{:#}", parse(text.as_bytes(), tag).expect_err(text));
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    /// Returns a grid table with one row. Its entries are separated by commas in `row`.
    fn grid(title: &str, names: &str, row: &str) -> String {
        let rule = "+------------".repeat(row.split(',').count()) + "+";
        let line = |texts: &str| {
            let entries = texts.split(',').map(|text| format!("|{text:^12}"));
            entries.collect::<String>() + "|"
        };
        let names = line(names);
        let row = line(row);
        format!(
            ".. table:: {title}\n\n    {rule}\n    {names}\n    {rule}\n    {row}\n    {rule}\n\n"
        )
    }

    #[test]
    fn titles_of_a_page_name_its_board_release_and_unit() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page.rst");
        let deep = "CPU_SUSPEND latencies (us) to deepest power level in";
        let suspend = "Cluster,Core,Powerdown,Wakeup,Cache Flush";
        let version = "Cluster,Core,Latency";
        // One title uses a different name for the release, and all figures are in nanoseconds.
        let tables = [
            grid(
                &format!("{deep} parallel (v2.10)"),
                suspend,
                "0,0,333000.0,7.0,8.0",
            ),
            grid(
                &format!("{deep} serial (v2.10)"),
                suspend,
                "0,0,9000.0,7.0,8.0",
            ),
            grid(
                "CPU_VERSION latency (us) in parallel (2.10)",
                version,
                "0,0,520.0",
            ),
            grid(&format!("{deep} serial (v2.9)"), suspend, "0,0,1.0,7.0,8.0"),
        ];
        let text = format!("Performance of (N1SDP)\n======\n\n{}", tables.concat());
        fs::write(&path, text).expect("written");
        let logged = read(&path).expect("tables");
        assert_eq!(logged.board(), Some("n1sdp"));
        assert_eq!(logged.header.release.as_deref(), Some("v2.10"));
        let scenarios = logged.run.scenarios.iter();
        let figures: Vec<_> = scenarios
            .map(|scenario| {
                let cell = &scenario.cells[0];
                cell.figure(Metric::Powerdown)
                    .or(cell.figure(Metric::Latency))
            })
            .collect();
        assert_eq!(figures, [Some(333_000), Some(9000), Some(520)]);
    }

    #[test]
    fn contradictory_rows_are_called_table_rows() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = format!("{}.csv", ScenarioId::PSCI_VERSION_PARALLEL.tag());
        fs::write(dir.path().join(file), "0,0,7\n0,0,8\n0,1,9\n").expect("written");
        let logged = read(dir.path()).expect("tables");
        let cells = logged.run.scenarios[0].cells.iter();
        let figures: Vec<_> = cells.map(|cell| cell.figure(Metric::Latency)).collect();
        assert_eq!(figures, [Some(9)]);
        assert!(logged.doubts().concat().starts_with("1 table row with"));
    }

    #[test]
    fn unknown_scenarios_are_named_and_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let tag = ScenarioId::PSCI_VERSION_PARALLEL.tag();
        for (tag, text) in [(tag, "0,1,7\n0,0,8\n"), ("test_later", "0,0,9\n")] {
            fs::write(dir.path().join(format!("{tag}.csv")), text).expect("written");
        }
        let logged = read(dir.path()).expect("tables");
        let cells = &logged.run.scenarios[0].cells;
        assert_eq!(cells[0].figure(Metric::Latency), Some(7));
        assert!(logged.run.scenarios.len() == 1 && logged.is_complete());
        assert!(!logged.is_doubtful(&cells[0]));
        let part = "1 row for scenarios unknown to this version: test_later";
        assert!(logged.doubts().join("\n").contains(part));
    }
}
