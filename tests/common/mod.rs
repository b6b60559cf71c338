//! Runs the payload under QEMU and reads its output.

#![allow(dead_code, reason = "each test program uses only part of it")]

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use boards::device_tree::{self, Choices};
use boards::{BoardFile, Conduit, GicVersion, StateFormat};
use follow::stream::MachineEnding;
use hardware::board::{CpuIndex, Mpidr};
use hardware::text::prose::is_too_wide;
use object::{Object, ObjectSymbol};
use runner::build::firmware_kind::FirmwareKind;
use runner::build::image::Emergency;
use runner::build::payload;
use runner::qemu::Level;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::RunSpec;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use suite::measure::{Facts, Metric, Summary};
use suite::model::{Cell, CellSeries, Run, Scenario, Verdict};
use suite::record::{RecordLine, RunBuilder, pieces};

/// A CPU model on which QEMU runs take half as long as on Cortex-A57, the board's default. On the
/// A57, TF-A turns the MMU off and on in each SMC (CVE-2017-5715), and QEMU then discards all
/// translations.
const FAST_CPU: &str = "cortex-a53";

/// Returns the run that `cargo xtask qemu` would perform with these options and boot arguments, but
/// under TF-A on [`FAST_CPU`] unless the options specify a CPU model.
pub fn spec(options: &str, args: &str) -> RunSpec {
    let timeout = Duration::from_secs(600);
    let mut spec = RunSpec {
        args: (!args.is_empty()).then(|| args.to_owned()),
        timeout,
        ..RunSpec::parse(options).expect("options of a run")
    };
    if spec.board == "qemu" && spec.firmware == FirmwareKind::TfA {
        spec.cpu.get_or_insert_with(|| FAST_CPU.to_owned());
    }
    spec
}

/// Runs `spec` to completion.
pub fn run_spec(spec: &RunSpec) -> RunResult {
    match runner::qemu::prepare::prepare_and_run(spec) {
        Ok(result) => {
            fits_terminal(&result.text());
            result
        }
        Err(error) => panic!("{spec:?}: {error:#}"),
    }
}

/// Checks that no line printed by the payload is wider than a terminal. Lines printed by the
/// firmware are not checked. During the run, these lines start with a log level.
pub fn fits_terminal(text: &str) {
    const OF_FIRMWARE: &str = "ERROR:   ";
    let is_first = |line: &str| line.starts_with("Image at ") || line.starts_with("psci-bench");
    let lines = text.lines().skip_while(|line| !is_first(line));
    // Lines printed by the EFI shell contain escape sequences.
    let own = lines.filter(|line| !line.starts_with(OF_FIRMWARE) && !line.contains('\x1b'));
    let wide: Vec<&str> = own.filter(|line| is_too_wide(line)).collect();
    assert!(
        wide.is_empty(),
        "too wide:\n{}\nin\n{text}",
        wide.join("\n")
    );
}

/// Returns every combination of firmware, GIC and exception level.
pub fn machines() -> Vec<(FirmwareKind, GicVersion, Level)> {
    let mut machines = Vec::new();
    for firmware in [FirmwareKind::TfA, FirmwareKind::Builtin] {
        for gic in [GicVersion::V2, GicVersion::V3] {
            for level in [Level::El1, Level::El2] {
                machines.push((firmware, gic, level));
            }
        }
    }
    machines
}

/// Returns the text as a single line, so that wrapped messages can be searched.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the `plain` log contains all of these strings. `seen` is the human-readable log.
pub fn has_words<S: AsRef<str>>(plain: &str, words: &[S], seen: &str) {
    for word in words.iter().map(AsRef::as_ref) {
        assert!(plain.contains(word), "no {word:?} in\n{seen}");
    }
}

/// Checks that the `plain` log contains none of these strings.
pub fn lacks_words(plain: &str, words: &[&str], seen: &str) {
    for word in words {
        assert!(!plain.contains(word), "{word:?} in\n{seen}");
    }
}

pub struct Ran {
    pub result: RunResult,
    /// The log as a single line.
    pub plain: String,
}

impl Ran {
    pub fn says<S: AsRef<str>>(self, words: &[S]) -> Self {
        has_words(&self.plain, words, &self.result.text());
        self
    }

    pub fn lacks(self, words: &[&str]) -> Self {
        lacks_words(&self.plain, words, &self.result.text());
        self
    }

    pub fn log(&self) -> Log {
        Log::new(&self.result.log)
    }
}

/// Runs `spec`, which must exit on its own with `verdict` and the matching exit code.
pub fn expect_verdict(spec: &RunSpec, verdict: Verdict) -> Ran {
    let result = run_spec(spec);
    let text = result.text();
    let seen = format!("{spec:?}\n{:?}\n{text}", result.diagnosis);
    assert_eq!(result.verdict, verdict, "{seen}");
    assert_ne!(result.ending, MachineEnding::TimedOut, "{seen}");
    assert_eq!(result.exit_code(), verdict.exit_code(), "{seen}");
    let plain = one_line(&text);
    Ran { result, plain }
}

/// Runs `spec`, which must end with a PASS verdict.
pub fn expect_pass(spec: &RunSpec) -> Log {
    expect_verdict(spec, Verdict::Pass).log()
}

pub fn workspace() -> Workspace {
    Workspace::find().expect("the workspace")
}

/// Returns the QEMU board after applying `change` to the text of its board file.
pub fn changed_board(change: impl Fn(&str) -> String) -> BoardFile {
    let path = workspace().board("qemu").join("board.toml");
    let text = std::fs::read_to_string(path).expect("the board file");
    let changed = change(&text);
    boards::parse("board.toml", &changed).expect("a good board")
}

/// Returns the QEMU board after replacing `from` with `to` in its board file.
pub fn board_with(from: &str, to: &str) -> BoardFile {
    changed_board(|text| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// Returns the device tree for `board` with `cpus` CPUs and TF-A.
pub fn tree_of(board: &BoardFile, gic: GicVersion, cpus: u32, bootargs: &str) -> Vec<u8> {
    tree_under("tf-a", Conduit::Smc, board, gic, cpus, bootargs)
}

/// Returns the device tree for `board` with a GICv3 and QEMU's built-in PSCI.
pub fn builtin_tree(board: &BoardFile, conduit: Conduit, cpus: u32, bootargs: &str) -> Vec<u8> {
    tree_under("builtin", conduit, board, GicVersion::V3, cpus, bootargs)
}

/// Returns the device tree for `board` running the `firmware` variant.
pub fn tree_under(
    firmware: &str,
    conduit: Conduit,
    board: &BoardFile,
    gic: GicVersion,
    cpus: u32,
    bootargs: &str,
) -> Vec<u8> {
    let firmware = board.firmware(firmware).expect("its firmware");
    let choices = Choices {
        cpus,
        gic,
        conduit,
        cpu_off: true,
        idle_states: &firmware.idle_states(StateFormat::Original),
    };
    device_tree::build(board, &choices, bootargs).expect("a tree")
}

/// Returns the device tree built from the QEMU board file for `cpus` CPUs.
pub fn good_tree(cpus: u32, bootargs: &str) -> Vec<u8> {
    tree_of(
        &changed_board(str::to_owned),
        GicVersion::V3,
        cpus,
        bootargs,
    )
}

/// Returns the payload with this tree appended, for tests that corrupt the tree.
pub fn image(cpus: u32, bootargs: &str) -> Vec<u8> {
    image_with(&good_tree(cpus, bootargs), cpus)
}

pub fn image_with(tree: &[u8], cpus: u32) -> Vec<u8> {
    image_of(Some(tree), cpus)
}

/// Returns the payload with QEMU's UART in its parameter block.
pub fn image_of(tree: Option<&[u8]>, cpus: u32) -> Vec<u8> {
    let workspace = workspace();
    let board = boards::load("qemu").expect("the board");
    let emergency = Emergency::of_board(&board, Conduit::Smc);
    payload::image(&workspace, tree, emergency, cpus as usize).expect("an image")
}

/// Returns a page of code that loads these values into consecutive registers, starting with X0, and
/// continues on the next page. The code consists of a MOVZ and three MOVKs per register, followed
/// by a branch.
pub fn loading(registers: &[u64]) -> Vec<u8> {
    let mut code = Vec::new();
    for (register, value) in (0u32..).zip(registers) {
        for half in 0..4u32 {
            let movz_or_movk = if half == 0 { 0xd280_0000 } else { 0xf280_0000 };
            let bits = (value >> (16 * half)) as u32 & 0xffff;
            let word: u32 = movz_or_movk | half << 21 | bits << 5 | register;
            code.extend(word.to_le_bytes());
        }
    }
    let branch = 0x1400_0000 | ((4096 - code.len() as u32) / 4);
    code.extend(branch.to_le_bytes());
    code.resize(4096, 0);
    code
}

/// Returns the offset of a symbol in the image.
pub fn offset_of(symbol: &str) -> usize {
    let workspace = workspace();
    let path = payload::build(&workspace).expect("the payload");
    let bytes = std::fs::read(path).expect("its ELF");
    let elf = object::File::parse(&*bytes).expect("an ELF file");
    let mut symbols = elf.symbols();
    let found = symbols.find(|known_symbol| known_symbol.name() == Ok(symbol));
    found.expect("the symbol").address() as usize
}

/// A log and the run that its records describe.
pub struct Log {
    /// The log as text, with CR LF replaced by LF.
    pub text: String,
    pub run: Run,
}

impl Log {
    /// Reads the log. Each record must be valid and occur only once.
    pub fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let mut builder = RunBuilder::default();
        let lines = text.lines().map(str::as_bytes).flat_map(pieces);
        for (place, line) in lines.enumerate() {
            let Some(claim) = RecordLine::parse(line).filter(RecordLine::is_sound) else {
                panic!("a bad record in\n{text}");
            };
            let Some(record) = claim.record() else {
                panic!("a bad record in\n{text}");
            };
            assert_eq!(claim.seq as usize, place, "a record was lost in\n{text}");
            builder.add_record(record);
        }
        let run = builder.finish();
        assert!(run.head.is_some(), "no records in\n{text}");
        Self { text, run }
    }

    pub fn facts(&self) -> &Facts {
        self.run.facts.as_ref().expect("a machine record")
    }

    /// Returns the exception level, the conduit, and the GIC version (0 if there is no GIC).
    pub fn machine(&self) -> (u8, Conduit, u32) {
        let facts = self.facts();
        let gic = facts.gic.map_or(0, GicVersion::number);
        (facts.exception_level, facts.conduit, gic)
    }

    /// Returns a scenario's results, one per method and helper.
    pub fn scenarios(&self, id: ScenarioId) -> impl Iterator<Item = &Scenario> {
        let all = self.run.scenarios.iter();
        all.filter(move |scenario| scenario.id == id)
    }

    /// Returns a scenario's cells, each with its CPU's MPIDR.
    pub fn cells(&self, id: ScenarioId) -> impl Iterator<Item = (Mpidr, &Cell)> {
        let cells = self.scenarios(id).flat_map(|scenario| &scenario.cells);
        cells.map(|cell| (self.mpidr(cell.cpu), cell))
    }

    /// Returns a scenario's series, each with its CPU's MPIDR.
    pub fn series(&self, id: ScenarioId) -> impl Iterator<Item = (Mpidr, CellSeries<'_>)> {
        let all = self.scenarios(id).flat_map(Scenario::all_series);
        all.map(|series| (self.mpidr(series.cell.cpu), series))
    }

    /// Returns each CPU's series of one metric.
    pub fn of_metric(
        &self,
        id: ScenarioId,
        metric: Metric,
    ) -> impl Iterator<Item = (Mpidr, CellSeries<'_>)> {
        let all = self.series(id);
        all.filter(move |(_, cell_series)| cell_series.series.metric == metric)
    }

    /// Returns the statistics for one metric in a scenario, by MPIDR.
    pub fn metric(&self, id: ScenarioId, metric: Metric) -> BTreeMap<Mpidr, Summary> {
        let summary_of = |(cpu, cell): (Mpidr, &Cell)| Some((cpu, *cell.summary(metric)?));
        self.cells(id).filter_map(summary_of).collect()
    }

    /// Returns the statistics for one metric of a CPU that was measured on its own.
    pub fn alone(
        &self,
        id: ScenarioId,
        variant: Variant,
        metric: Metric,
        cpu: Mpidr,
    ) -> Option<&Summary> {
        let step = (ActiveCpus::Alone, variant);
        let mut cells = self.cells(id);
        let (_, cell) = cells
            .find(|(mpidr, cell)| *mpidr == cpu && (cell.step.cpus, cell.step.variant) == step)?;
        Some(&cell.series_of(metric)?.summary)
    }

    /// Returns each CPU's cluster, by MPIDR.
    pub fn clusters(&self) -> BTreeMap<Mpidr, u16> {
        let cpus = self.run.cpus.iter();
        cpus.filter_map(|cpu| Some((cpu.mpidr?, cpu.cluster)))
            .collect()
    }

    fn mpidr(&self, cpu: CpuIndex) -> Mpidr {
        self.run.cpu(cpu).mpidr.expect("a CPU with an MPIDR")
    }
}

/// The values in `RT_INSTR` lines, by test and then by cluster and core.
pub type Rows = BTreeMap<String, BTreeMap<[u64; 2], Vec<u64>>>;

/// Reads the `RT_INSTR` lines of `text`.
pub fn rt_instr(text: &str) -> Rows {
    let mut rows = Rows::new();
    for line in text.lines().filter(|line| line.starts_with("<RT_INSTR:")) {
        let mut fields = line.trim_end_matches("/>").split('\t');
        let test = fields.next().expect("a test")["<RT_INSTR:".len()..].to_string();
        let numbers: Vec<u64> = fields
            .map(|number| number.parse().expect("a number"))
            .collect();
        let place = [numbers[0], numbers[1]];
        let row = rows.entry(test).or_default();
        assert!(row.insert(place, numbers[2..].to_vec()).is_none(), "{line}");
    }
    rows
}

pub fn compile(source: &str) -> Vec<u8> {
    let workspace = workspace();
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("source.dts");
    std::fs::write(&file, source).expect("written");
    let output = Command::new("dtc")
        .args(["-q", "-I", "dts", "-O", "dtb", "-i"])
        .arg(workspace.root.join("tests/data"))
        .arg(&file)
        .output()
        .expect("dtc runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    output.stdout
}

/// Compiles an ACPI table from its source.
pub fn compile_asl(source: &str) -> Vec<u8> {
    setup::ensure(&workspace(), &[Need::Iasl]).expect("iasl");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("table.asl");
    std::fs::write(&file, source).expect("written");
    let output = Command::new("iasl").arg(&file).output().expect("iasl runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    std::fs::read(file.with_extension("aml")).expect("a table")
}
