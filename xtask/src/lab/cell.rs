//! A cell: one board with one firmware, for one engine, as a folder.
//!
//! Several cells in one folder are a matrix. What an engine gives goes into the
//! cell's folder `results`, where `report --matrix` looks for it; `cell.json`
//! says whose results these are.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use psci_bench::plan::{Method, Plan};

use super::engine::{Engine, Names};
use super::place::{Place, Ready};
use super::qemu::Machine;
use super::{labgrid, lava, monitors, words};
use crate::board::Board;
use crate::report::jobs::cell::{MARK, Mark, SCHEMA};

/// How long a job may take on QEMU at least, unless it is said otherwise.
const QEMU_MINUTES: u32 = 10;
/// The same on a board that says nothing of it.
const BOARD_MINUTES: u32 = 30;
/// What an engine needs besides the run: it copies files, and starts a board.
const ENGINE_MINUTES: u32 = 2;

/// What the board starts from.
pub enum Content {
    /// QEMU, by these arguments, with files that are copied into the cell.
    Qemu(Vec<OsString>),
    /// A recovery image.
    Recovery {
        /// Its name.
        file: String,
        /// All of it.
        data: Vec<u8>,
    },
    /// What somebody has to put on the board.
    Loose {
        /// Its name.
        file: String,
        /// All of it.
        data: Vec<u8>,
    },
}

/// A cell to be.
pub struct Cell<'c> {
    /// How it is called.
    pub names: Names,
    /// Where it is to be.
    pub place: Place,
    /// Its board.
    pub board: &'c Board,
    /// What the payload runs.
    pub plan: Plan,
    /// On how many CPUs.
    pub cpus: u32,
    /// How long a job may take, if the user says so.
    pub minutes: Option<u32>,
    /// How long the run may take by its plan: a job has at least so much time.
    pub run: Duration,
    /// Where the engine finds the cell's folder, if not here.
    pub url: Option<String>,
    /// LAVA's name for the board, if not as the board's file says.
    pub device_type: Option<String>,
    /// LAVA's tags that a device has to have.
    pub tags: Vec<String>,
    /// labgrid's name for the board: it has places, too.
    pub labgrid_place: Option<String>,
    /// Whether the job fails where something is skipped.
    pub deny_skipped: bool,
    /// What the board starts from.
    pub content: Content,
}

/// A file of a cell.
type File = (String, Vec<u8>);

/// Refuses what `engine` can do nothing with.
pub fn check(engine: Engine, plan: &Plan, cpus: u32) -> Result<()> {
    if plan.list {
        bail!("--args only=help: this lists scenarios and runs none, which no job passes with");
    }
    if !plan.methods.iter().any(|method| method == Method::Tftf) {
        bail!("--args method=warm: engines follow what method=tftf prints; use method=tftf,warm");
    }
    if plan.scenarios.suite().is_empty() {
        bail!("--args only=: engines follow the scenarios of TF-A's suite, and there is none");
    }
    if engine == Engine::Lava && cpus > monitors::CPUS_MAX {
        bail!(
            "LAVA looks for a result in the last 4000 characters, which the rows of {cpus} CPUs \
             may fill: use --smp {} or less, or --engine labgrid",
            monitors::CPUS_MAX
        );
    }
    Ok(())
}

impl Cell<'_> {
    /// Makes all of the cell's files; nothing is written yet.
    pub fn ready(&self) -> Result<Ready> {
        Ok(Ready {
            place: self.place.clone(),
            files: self.files()?,
        })
    }

    /// The files of the cell; last the one that makes it a cell.
    fn files(&self) -> Result<Vec<File>> {
        let mut files = Vec::new();
        let mut machine = None;
        match &self.content {
            Content::Qemu(arguments) => {
                let taken = Machine::of(arguments)?;
                for image in &taken.images {
                    let data = fs::read(&image.from);
                    let data = data.with_context(|| image.from.display().to_string())?;
                    files.push((image.file.to_owned(), data));
                }
                machine = Some(taken);
            }
            Content::Recovery { file, data } | Content::Loose { file, data } => {
                files.push((file.clone(), data.clone()));
            }
        }
        let texts = match self.names.engine {
            Engine::Lava => self.lava(machine.as_ref())?,
            Engine::Labgrid => self.labgrid(machine.as_ref()),
        };
        let texts = texts.into_iter();
        files.extend(texts.map(|(name, text)| (name.to_owned(), text.into_bytes())));
        let mark = Mark {
            schema: SCHEMA.to_owned(),
            version: 1,
            engine: self.names.engine.to_string(),
            board: self.names.board.clone(),
            firmware: self.names.firmware.clone(),
            cpus: self.cpus,
            minutes: self.minutes(),
            deny_skipped: self.deny_skipped,
        };
        let mark = serde_json::to_string_pretty(&mark)? + "\n";
        files.push((MARK.to_owned(), mark.into_bytes()));
        Ok(files)
    }

    fn minutes(&self) -> u32 {
        let of_board = self.board.lab.as_ref().map(|lab| *lab.minutes.get_ref());
        let usual = match self.content {
            Content::Qemu(_) => QEMU_MINUTES,
            _ => of_board.unwrap_or(BOARD_MINUTES),
        };
        let run = u32::try_from(self.run.as_secs().div_ceil(60)).unwrap_or(u32::MAX);
        let least = run.saturating_add(ENGINE_MINUTES);
        self.minutes.unwrap_or(usual.max(least))
    }

    fn lava(&self, machine: Option<&Machine>) -> Result<Vec<(&'static str, String)>> {
        let url = match &self.url {
            Some(url) => format!("{}/{}", url.trim_end_matches('/'), self.names.folder()),
            None => file_url(&self.place.path)?,
        };
        let file = match &self.content {
            Content::Qemu(_) => "",
            Content::Recovery { file, .. } => file,
            Content::Loose { .. } => bail!(
                "{} has no [lab] in its board file, which says how LAVA gets files onto it: use \
                 --engine labgrid",
                self.board.title
            ),
        };
        let (way, usual) = match (machine, &self.board.lab) {
            (Some(machine), _) => (lava::Way::Qemu(machine), "qemu"),
            (None, Some(lab)) => (lava::Way::Board(lab), lab.device_type.get_ref().as_str()),
            (None, None) => bail!("{} has no [lab] in its board file", self.board.title),
        };
        let job = lava::job(&lava::Job {
            names: &self.names,
            device_type: self.device_type.as_deref().unwrap_or(usual),
            tags: &self.tags,
            minutes: self.minutes(),
            url: &url,
            file,
            way,
            plan: &self.plan,
            cpus: self.cpus,
            deny_skipped: self.deny_skipped,
        });
        let mut texts = vec![("job.yaml", job)];
        if let Some(machine) = machine {
            texts.push(("device.yaml", lava::device(machine)));
            texts.push(("device.jinja2", lava::DICTIONARY.to_owned()));
        }
        Ok(texts)
    }

    fn labgrid(&self, machine: Option<&Machine>) -> Vec<(&'static str, String)> {
        let place = self.labgrid_place.as_deref();
        let place = place.unwrap_or(&self.names.board);
        let way = match (machine, &self.labgrid_place) {
            (Some(machine), None) => labgrid::Way::Qemu(machine),
            _ => labgrid::Way::Place(place),
        };
        let seconds = u64::from(self.minutes()) * 60;
        let mut tests = labgrid::tests(&self.names, &self.plan, seconds);
        if self.deny_skipped {
            tests.push_str(labgrid::DENY_SKIPPED);
        }
        vec![
            ("env.yaml", labgrid::environment(&self.names, &way)),
            ("test_psci_bench.py", tests),
            ("pytest.ini", labgrid::SETTINGS.to_owned()),
        ]
    }
}

/// Where LAVA's dispatcher finds the folder `place` on this machine. It reads an
/// address as it is written, so that there is no other way to write a character.
fn file_url(place: &Path) -> Result<String> {
    let at = || {
        format!(
            "-o {}: LAVA cannot be told of it: give --url",
            place.display()
        )
    };
    let path = place.to_str().with_context(at)?;
    if words::parts(path).is_some() || words::printable(path).is_err() {
        bail!(
            "{}, or a name without '?', '#' and control characters",
            at()
        );
    }
    Ok(format!("file://{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board;
    use crate::setup::workspace::Workspace;

    fn cell(board: &Board, engine: Engine) -> Cell<'_> {
        let names = Names {
            engine,
            board: board.name.get_ref().clone(),
            firmware: "v2.12".to_owned(),
        };
        Cell {
            place: Place::of(Path::new("/lab"), &names, board, false).expect("free"),
            names,
            board,
            plan: Plan::parse("").expect("good words"),
            cpus: 6,
            minutes: None,
            run: Duration::from_secs(60),
            url: None,
            device_type: None,
            tags: Vec::new(),
            labgrid_place: None,
            deny_skipped: false,
            content: Content::Recovery {
                file: "recovery.zip".to_owned(),
                data: b"PK".to_vec(),
            },
        }
    }

    #[test]
    fn a_job_has_the_time_that_its_run_has() {
        let workspace = Workspace::find().expect("the repository");
        let juno = board::load(&workspace, "juno").expect("a board");
        let mut cell = cell(&juno, Engine::Lava);
        let of_board = juno.lab.as_ref().map(|lab| *lab.minutes.get_ref());
        assert_eq!(Some(cell.minutes()), of_board);
        cell.run = Duration::from_secs(7_201);
        assert_eq!(cell.minutes(), 121 + ENGINE_MINUTES);
        cell.minutes = Some(5);
        assert_eq!(cell.minutes(), 5);
    }

    #[test]
    fn what_engines_cannot_follow() {
        let plan = |args| Plan::parse(args).expect("good words");
        assert!(check(Engine::Lava, &plan("method=tftf,warm"), 24).is_ok());
        assert!(check(Engine::Labgrid, &plan(""), 512).is_ok());
        let refused = |args, cpus| {
            let error = check(Engine::Lava, &plan(args), cpus).expect_err("refused");
            error.to_string()
        };
        assert!(refused("only=help", 4).contains("which no job passes"));
        assert!(refused("method=warm", 4).contains("method=tftf,warm"));
        assert!(refused("only=null_call", 4).contains("there is none"));
        assert!(refused("", 25).contains("--smp 24 or less"));
    }

    #[test]
    fn a_folder_as_an_address() {
        let url = |path: &str| file_url(Path::new(path));
        assert_eq!(url("/a b/50%;'").expect("good"), "file:///a b/50%;'");
        for bad in ["/re#al", "/a?b", "/a\nb"] {
            let error = url(bad).expect_err("refused").to_string();
            assert!(error.contains("give --url"), "{error}");
        }
    }
}
