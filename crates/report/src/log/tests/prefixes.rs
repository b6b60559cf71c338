//! Logs in which a tool has put a prefix before every line.

use suite::model::Verdict;
use suite::record::MARK;

use super::{LoggedRun, TFTF, read_one, read_runs, whole_log};

/// Returns the prefix of the line with this number.
pub(in crate::log) type Prefix = fn(usize) -> String;

/// Returns the time of a line as `HH:MM:SS`. The first lines are just before midnight.
fn time(line: usize) -> String {
    let second = (86_390 + line) % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the day of the month, which has one digit at first.
fn day(line: usize) -> usize {
    9 + (86_390 + line) / 86_400
}

fn date(line: usize) -> String {
    format!("2026-01-{:02}", day(line))
}

/// The prefixes of tools that are in common use.
const TOOLS: [(&str, Prefix); 41] = [
    ("Jenkins", |line| {
        format!("[{}T{}.123Z]  ", date(line), time(line))
    }),
    ("Jenkins, a branch", |line| {
        format!("[{}T{}.123Z] [board 7] ", date(line), time(line))
    }),
    ("Jenkins, short", |line| format!("{}  ", time(line))),
    ("GitLab", |line| {
        format!("{}T{}.{line:06}Z 00O ", date(line), time(line))
    }),
    ("GitLab, both streams", |line| {
        let stream = ["00O", "01E", "0aO"][line % 3];
        format!("{}T{}.123456Z {stream} ", date(line), time(line))
    }),
    ("GitHub", |line| {
        format!("{}T{}.1234567Z ", date(line), time(line))
    }),
    ("gh run view --log", |line| {
        let mark = if line == 0 { "\u{feff}" } else { "" };
        format!(
            "build (4, x)\tRun board\t{mark}{}T{}.1234567Z ",
            date(line),
            time(line)
        )
    }),
    ("docker compose", |_| "board-1  | ".to_owned()),
    ("docker compose, color", |_| {
        "\x1b[36mboard-1   |\x1b[0m ".to_owned()
    }),
    ("docker compose --timestamps", |line| {
        format!("board-1  | {}T{}.{line:09}Z ", date(line), time(line))
    }),
    ("journald", |line| {
        format!(
            "Jan {:2} {} host board[{}]: ",
            day(line),
            time(line),
            990 + line
        )
    }),
    ("journald, short-iso", |line| {
        format!("{}T{}+0000 host-7 board[1234]: ", date(line), time(line))
    }),
    ("journald, short-precise", |line| {
        format!(
            "Jan {:02} {}.{line:06} host board[1]: ",
            day(line),
            time(line)
        )
    }),
    ("journald, short-full", |line| {
        let weekday = if day(line) == 9 { "Fri" } else { "Sat" };
        format!(
            "{weekday} {} {} UTC host board[1]: ",
            date(line),
            time(line)
        )
    }),
    ("journald, short-monotonic", |line| {
        format!("[{:5}.{line:06}] host board[1]: ", 9_990 + line)
    }),
    ("Buildkite", |line| {
        format!("\x1b_bk;t={}\x07", 1_700_000_000_000 + line)
    }),
    ("KernelCI", |line| format!("{}.{line:06}  ", time(line))),
    ("ts", |line| format!("Jan {:02} {} ", day(line), time(line))),
    ("ts -s %.s", |line| format!("{}.123456 ", line)),
    ("ts %.s", |line| {
        format!("{}.{line:06} ", 1_767_348_672 + line)
    }),
    ("ts -i %H:%M:%.S", |line| {
        format!("00:00:{:02}.000012 ", line % 60)
    }),
    ("minicom", |line| {
        format!("[{} {}] ", date(line), time(line))
    }),
    ("tio", |line| {
        format!("[{}.{:03}] ", time(line), line % 1000)
    }),
    ("grabserial", |line| format!("[{}.123456 0.000123] ", line)),
    ("the kernel", |line| format!("[{:5}.{line:06}] ", 98 + line)),
    ("Tera Term", |line| {
        format!("[Fri Jan {:2} {}.123 2026] ", day(line), time(line))
    }),
    ("conserver", |line| {
        format!("[Fri Jan {:2} {} 2026]", day(line), time(line))
    }),
    ("12 hours", |line| {
        let half = if line < 10 { "PM" } else { "AM" };
        format!("1/{}/2026 {}:59 {half} | ", day(line), 12 - line % 12)
    }),
    ("a time zone", |line| {
        format!("[{}T{}+01:00] ", date(line), time(line))
    }),
    ("no brackets", |line| {
        format!("{} {} ", date(line), time(line))
    }),
    ("an angle", |line| format!("{}.345> ", time(line))),
    ("arrow", |line| format!("{}.345 -> ", time(line))),
    ("ISO 8601 without zero fractions", |line| match line % 3 {
        0 => format!("{}T{}Z ", date(line), time(line)),
        _ => format!("{}T{}.{line}Z ", date(line), time(line)),
    }),
    ("Zephyr", |line| {
        format!("[{},{:03}] <inf> board: ", time(line), line % 1000)
    }),
    ("syslog", |line| {
        format!("<14>Jan {:2} {} host board[7]: ", day(line), time(line))
    }),
    ("syslog, RFC 5424", |line| {
        format!(
            "<14>1 {}T{}.003Z host board 7 ID{line} - ",
            date(line),
            time(line)
        )
    }),
    ("multilog", |line| format!("@400000006957a1b0{line:08x} ")),
    ("Kubernetes", |line| {
        format!("{}T{}.{line:09}Z stdout F ", date(line), time(line))
    }),
    ("nl", |line| format!("{:6}\t", line + 1)),
    ("two stamps", |line| {
        format!("[{}] [    0.{line:06}] ", time(line))
    }),
    ("Buildkite, ESC removed", |line| {
        format!("_bk;t={}\x07", 1_700_000_000_000 + line)
    }),
];

/// Returns the log with a prefix before each line.
pub(in crate::log) fn prefixed(log: &str, prefix: Prefix, ending: &str) -> String {
    let lines = log.lines().enumerate();
    lines
        .map(|(index, line)| format!("{}{line}{ending}", prefix(index)))
        .collect()
}

/// Returns the log as if the run had been cut short after its `end` record.
fn cut_short(log: &str) -> String {
    log.replace("psci-bench: PASS", "psci-bench: INCOMPLETE: PASS")
}

fn assert_equal(logged: &LoggedRun, plain: &LoggedRun, name: &str) {
    assert!(logged.run == plain.run, "{name}");
    assert_eq!(logged.lacks(), plain.lacks(), "{name}");
    assert_eq!(logged.doubts(), plain.doubts(), "{name}");
    assert_eq!(logged.header, plain.header, "{name}");
    assert_eq!(logged.firmware, plain.firmware, "{name}");
    assert_eq!(logged.verdict_text(), plain.verdict_text(), "{name}");
}

#[test]
fn prefix_of_any_tool_is_removed() {
    let tftf = format!("{TFTF}NOTICE:  Exiting tests.\n");
    let whole = whole_log();
    let logs = [whole.clone(), cut_short(&whole), tftf];
    for log in &logs {
        let plain = read_one(log);
        for (name, prefix) in TOOLS {
            for ending in ["\n", "\r\n", "\r\r\n"] {
                let logged = read_one(prefixed(log, prefix, ending));
                assert_equal(&logged, &plain, name);
            }
        }
    }
}

/// A tool may also remove trailing blanks, wrap lines before it adds the prefix, or log other
/// sources too.
#[test]
fn prefix_is_removed_from_wrapped_and_mixed_lines() {
    let plain = read_one(whole_log());
    // Nothing separates the last tool's numbers from the digits at the start of a wrapped line.
    for (name, prefix) in &TOOLS[..TOOLS.len() - 1] {
        let name = *name;
        let prefix = *prefix;
        let wrapped = super::broken(&whole_log(), 132);
        assert_equal(&read_one(prefixed(&wrapped, prefix, "\n")), &plain, name);
        let log = prefixed(&whole_log(), prefix, "\n");
        let trimmed = log.lines().map(|line| line.trim_end().to_owned() + "\n");
        assert_equal(&read_one(trimmed.collect::<String>()), &plain, name);
        let mixed = log
            .lines()
            .map(|line| format!("{line}\nother-1 | [7] hello\n12:00 psci-bench starts soon\n"));
        assert_equal(&read_one(mixed.collect::<String>()), &plain, name);
        let both = format!("{log}{}", prefixed(&whole_log(), |_| "7> ".into(), "\n"));
        let runs = read_runs(both);
        assert_eq!(runs.len(), 2, "{name}");
        for logged in &runs {
            assert_equal(logged, &plain, name);
        }
    }
}

/// GitLab's runner may write a line in parts.
#[test]
fn parts_of_a_line_are_joined_as_the_prefix_says() {
    let in_parts = |log: &str, width: usize| {
        let lines = log.lines().flat_map(|line| {
            let parts = line.as_bytes().chunks(width).enumerate();
            let prefixed_parts = parts.map(|(index, part)| {
                let mark = if index == 0 { ' ' } else { '+' };
                let text = String::from_utf8_lossy(part);
                format!("2026-01-02T03:04:05.123456Z 00O{mark}{text}\n")
            });
            prefixed_parts.collect::<Vec<String>>()
        });
        lines.collect::<String>()
    };
    for log in [whole_log(), cut_short(&whole_log()), TFTF.to_owned()] {
        let plain = read_one(&log);
        for width in [32, 40, 64, 200] {
            assert_equal(&read_one(in_parts(&log, width)), &plain, &width.to_string());
        }
        // The mark does not join whole lines.
        let marked = prefixed(
            &log,
            |_| "2026-01-02T03:04:05.123456Z 00O+".to_owned(),
            "\n",
        );
        assert_equal(&read_one(marked), &plain, "+");
    }
}

/// Text that has another prefix than the run's lines is not the run's, except that a last line may
/// show that the run was cut short.
#[test]
fn line_with_another_prefix_is_not_read() {
    let whole = whole_log();
    let last = whole.rfind("psci-bench: ").expect("a last line");
    let (rest, closing) = whole.split_at(last);
    let stamp: Prefix = |line| format!("[{}] ", time(line));
    let run = prefixed(rest, stamp, "\n");
    for prefix in ["x ", "[10:11:12] [0.123] ", "[10:11:12]", "10:11:12 "] {
        let pass = read_one(format!("{run}{prefix}{closing}\n"));
        assert!(pass.closing.is_none(), "{prefix}");
        assert!(!pass.is_complete() && pass.verdict().is_none(), "{prefix}");
        for log in [&run, &whole.replace(closing, "")] {
            let cut = read_one(format!("{log}{prefix}{}\n", cut_short(closing)));
            assert_ne!(cut.verdict(), Some(Verdict::Pass), "{prefix}");
            assert!(!cut.is_complete(), "{prefix}");
        }
    }
    // Without records, only the last line has a verdict.
    let lines: String = run
        .split_inclusive('\n')
        .filter(|line| !line.contains(MARK))
        .collect();
    let hidden = read_one(format!("{lines}[10:11:12] > {closing}\n"));
    assert!(hidden.verdict().is_none() && !hidden.is_complete());
}

/// A test that failed although all tests in the log passed is one that the log does not contain.
#[test]
fn failed_test_counted_behind_another_prefix_is_missing() {
    let tally = "Tests Failed  : 1";
    let log = TFTF.replace("Failed\n", "Passed\n").replace(tally, "");
    let complete = format!("{log}NOTICE:  Exiting tests.\n");
    assert!(read_one(&complete).is_complete());
    for prefix in ["x ", "[10:11:12] ", "[10:11:12] > "] {
        let lacks = read_one(format!("{log}{prefix}{tally}\nNOTICE:  Exiting tests.\n")).lacks();
        assert!(
            lacks.concat().contains("TFTF counts 1 test failed"),
            "{lacks:?}"
        );
    }
}

/// A prefix must be on more than one line.
#[test]
fn text_before_a_single_line_is_not_a_prefix() {
    for glued in ["firmware says ", "[10:11:12] ", "INFO:    BL31: "] {
        let log = format!("{glued}> Executing 'CPU suspend on all cores in sequence'\n{TFTF}");
        let runs = read_runs(log);
        assert_eq!(runs.len(), 1, "{glued}");
        assert_equal(&runs[0], &read_one(TFTF), glued);
    }
}

/// Blanks before the first line alone are not the prefix of the lines after it, which start with
/// blanks of their own.
#[test]
fn indented_first_line_is_not_a_prefix() {
    let whole = whole_log();
    let plain = read_one(whole_log());
    let indented = read_one(format!(
        "    NOTICE:  BL1: v2.12.1(release):v2.12.1\n{whole}"
    ));
    assert_equal(&indented, &plain, "indented");
}

#[test]
fn log_after_a_cut_one_has_a_prefix_of_its_own() {
    let whole = whole_log();
    let plain = read_one(whole_log());
    let cut = whole.lines().count() / 2;
    let head: String = whole.split_inclusive('\n').take(cut).collect();
    for (name, prefix) in TOOLS {
        let runs = read_runs(format!("{head}{}", prefixed(&whole, prefix, "\n")));
        assert_eq!(runs.len(), 2, "{name}");
        assert!(!runs[0].is_complete(), "{name}");
        assert_equal(&runs[1], &plain, name);
    }
}
