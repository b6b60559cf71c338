//! The trees of Linux's boards, a thousand of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use psci_bench::board::{Board, CPU_MAX, IDLE_STATES_MAX, MEMORY_MAX, RESERVED_MAX};
use psci_bench::image::{TREE_ALIGN, TREE_MAX};
use xtask::build::image::{Emergency, assemble, flatten};
use xtask::build::payload;
use xtask::setup::linux_trees;

use crate::mend::mend;
use crate::verdict::{self, USABLE};
use crate::{assert_golden, here, judge, workspace};

/// How often a tree is mended: console and memory, each once.
const MENDS: usize = 2;

/// What came of a tree.
struct Came {
    /// Its class.
    as_is: String,
    /// Its class with console and memory put right.
    mended: String,
    /// What there is of the memory-mapped timer, where there is a board.
    frame: String,
    /// How much it has of each in [`LIMITS`].
    sizes: [usize; LIMITS.len()],
}

/// What the payload has room for only so many of.
const LIMITS: [(&str, usize); 5] = [
    ("bytes", TREE_MAX),
    ("CPUs", CPU_MAX),
    ("idle states", IDLE_STATES_MAX),
    ("regions of memory", MEMORY_MAX),
    ("reserved regions", RESERVED_MAX),
];

#[test]
#[ignore = "fetches 90 MB: cargo xtask test --trees"]
fn the_trees_of_linux() {
    let workspace = workspace();
    let trees = linux_trees::fetch(&workspace).expect("Debian's kernel for arm64");
    let elf = payload::build(&workspace).expect("the payload");
    let base = flatten(&fs::read(elf).expect("an ELF file")).expect("a flat image");
    let half = trees.files.len().div_ceil(2);
    let judge_all = |files: &[PathBuf]| -> Vec<Result<Came, String>> {
        let came = files.iter().map(|file| look(file, &trees.dir, &base));
        came.collect()
    };
    let came: Vec<Result<Came, String>> = thread::scope(|scope| {
        let halves: Vec<_> = trees
            .files
            .chunks(half)
            .map(|files| scope.spawn(|| judge_all(files)))
            .collect();
        let joined = halves
            .into_iter()
            .flat_map(|half| half.join().expect("no panic"));
        joined.collect()
    });
    let wrong: Vec<&str> = came
        .iter()
        .filter_map(|c| c.as_ref().err())
        .map(String::as_str)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let came: Vec<Came> = came.into_iter().flatten().collect();
    let mut list = String::new();
    for (file, Came { as_is, mended, .. }) in trees.files.iter().zip(&came) {
        writeln!(list, "{}\t{as_is}\t{mended}", name(file, &trees.dir)).expect("a String");
    }
    let list_at = workspace.state().join("linux-trees.txt");
    fs::write(&list_at, list).expect("the list is written");
    println!("each tree with its class: {}", list_at.display());

    let mut text = format!("# {}\n{} trees\n", trees.package, came.len());
    text += "\nas they are\n";
    text += &table(came.iter().map(|c| &c.as_is));
    text += "\nwith console and memory put right\n";
    text += &table(came.iter().map(|c| &c.mended));
    text += "\nframes of the memory-mapped timer\n";
    text += &table(came.iter().map(|c| &c.frame));
    text += "\nthe most that one has\n";
    for (place, (what, limit)) in LIMITS.iter().enumerate() {
        let most = came.iter().map(|c| c.sizes[place]).max().unwrap_or(0);
        writeln!(text, "{most:5} {what}, of {limit}").expect("a String");
    }
    println!("{text}");
    // Of another kernel the counts are others. That each tree was read right,
    // or refused for a reason that is true, has been seen all the same.
    let golden = here().join("linux.txt");
    let of = fs::read_to_string(&golden).unwrap_or_default();
    let bless = std::env::var_os("PSCI_BENCH_BLESS").is_some();
    if bless || of.lines().next() == text.lines().next() {
        assert_golden(&golden, &text);
    } else {
        println!(
            "the expected counts are of another package: {:?}",
            of.lines().next()
        );
    }
}

fn name(file: &Path, dir: &Path) -> String {
    let short = file.strip_prefix(dir).unwrap_or(file);
    short.display().to_string()
}

fn look(file: &Path, dir: &Path, base: &[u8]) -> Result<Came, String> {
    let name = name(file, dir);
    let mut blob = fs::read(file).map_err(|error| format!("{name}: {error}"))?;
    let as_is = judge(&name, &blob)?;
    if as_is == USABLE {
        image(&blob, base).map_err(|wrong| format!("{name}: {wrong}"))?;
    }
    let mut class = as_is.clone();
    for _ in 0..MENDS {
        let Some(mended) = mend(&blob, &class) else {
            break;
        };
        blob = mended;
        class = verdict::judge(&blob).map_err(|wrong| format!("{name}, mended: {wrong}"))?;
    }
    let mut sizes = [blob.len(), 0, 0, 0, 0];
    let mut frame = "(not usable)".to_owned();
    if let Ok(board) = Board::read(&blob) {
        let (memory, reserved) = (board.memory.len(), board.reserved.len());
        let states = board.idle_states.len();
        frame = match board.timer_frame {
            Ok(_) => "one that can be tried".to_owned(),
            Err(why) => why.to_string(),
        };
        sizes = [blob.len(), board.cpu_count, states, memory, reserved];
    }
    Ok(Came {
        as_is,
        mended: class,
        frame,
        sizes,
    })
}

/// The image with `tree` has it where the payload looks for it.
fn image(tree: &[u8], base: &[u8]) -> Result<(), String> {
    let image = assemble(base.to_vec(), Some(tree), Emergency::of_tree(tree), 8);
    let image = image.map_err(|error| error.to_string())?;
    let at = base.len().next_multiple_of(TREE_ALIGN);
    if image.get(at..) != Some(tree) {
        return Err("the image does not end with the tree".to_owned());
    }
    Ok(())
}

fn table<'c>(classes: impl Iterator<Item = &'c String>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for class in classes {
        *counts.entry(class).or_default() += 1;
    }
    counts.iter().fold(String::new(), |text, (class, count)| {
        text + &format!("{count:5} {class}\n")
    })
}
