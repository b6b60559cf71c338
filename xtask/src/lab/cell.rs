//! A cell: one board with one firmware, for one engine, as a folder.
//!
//! Several cells in one folder are a matrix. What an engine gives goes into the
//! cell's folder `results`, where `report --matrix` looks for it; `cell.json`
//! says whose results these are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use psci_bench::plan::{Method, Plan};
use serde::{Deserialize, Serialize};

use super::qemu::Machine;
use super::{Engine, Names, labgrid, lava, monitors};
use crate::board::Board;

/// What `cell.json` is called by, in its key `schema`.
pub const SCHEMA: &str = "psci-bench-lab-cell";
/// The file that makes a folder a cell.
pub const MARK: &str = "cell.json";
/// The folder of what an engine gives.
pub const RESULTS: &str = "results";
/// How long a job may take on QEMU at least, unless it is said otherwise.
const QEMU_MINUTES: u32 = 10;
/// The same on a board that says nothing of it.
const BOARD_MINUTES: u32 = 30;
/// What an engine needs besides the run: it copies files, and starts a board.
const ENGINE_MINUTES: u32 = 2;

/// Who a cell's results belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// [`SCHEMA`].
    pub schema: String,
    /// 1; another one means something else.
    pub version: u32,
    /// The engine's word.
    pub engine: String,
    /// The board's folder in `platforms`.
    pub board: String,
    /// What the user calls the firmware.
    pub firmware: String,
}

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
    /// Where it is to be: [`free`] says so.
    pub folder: PathBuf,
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
    /// labgrid's name for the board.
    pub place: Option<String>,
    /// What the board starts from.
    pub content: Content,
}

/// A file of a cell.
type File = (String, Vec<u8>);

/// Refuses what `engine` can do nothing with.
///
/// # Errors
/// When it cannot.
pub fn check(engine: Engine, plan: &Plan, cpus: u32) -> Result<()> {
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

/// All that a cell is to have, and a place for it.
pub struct Ready {
    place: PathBuf,
    files: Vec<File>,
}

impl Ready {
    /// Writes the cell, and says where it is. What was there before is replaced.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self) -> Result<&Path> {
        let place = self.place.as_path();
        let place_is = || format!("{}", place.display());
        let dir = place.parent().with_context(place_is)?;
        let dir_is = || format!("-o {}", dir.display());
        fs::create_dir_all(dir).with_context(dir_is)?;
        let partial = tempfile::Builder::new().prefix(".cell-").tempdir_in(dir);
        let partial = partial.with_context(dir_is)?;
        for (name, data) in &self.files {
            fs::write(partial.path().join(name), data).with_context(place_is)?;
        }
        // The folder is for others, too.
        open(partial.path()).with_context(place_is)?;
        if place.exists() {
            fs::remove_dir_all(place).with_context(place_is)?;
        }
        fs::rename(partial.keep(), place).with_context(place_is)?;
        Ok(place)
    }
}

impl Cell<'_> {
    /// Makes all of the cell's files; nothing is written yet.
    ///
    /// # Errors
    /// When the engine cannot be given what the cell has.
    pub fn ready(&self) -> Result<Ready> {
        Ok(Ready {
            place: self.folder.clone(),
            files: self.files(&self.folder)?,
        })
    }

    /// The files of the cell, which is to be at `place`.
    fn files(&self, place: &Path) -> Result<Vec<File>> {
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
            Engine::Lava => self.lava(place, machine.as_ref())?,
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

    fn lava(&self, place: &Path, machine: Option<&Machine>) -> Result<Vec<(&'static str, String)>> {
        let url = match &self.url {
            Some(url) => format!("{}/{}", url.trim_end_matches('/'), self.names.folder()),
            None => {
                let path = place.to_str();
                let path = path.with_context(|| format!("{}: give --url", place.display()))?;
                format!("file://{path}")
            }
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
        });
        let mut texts = vec![("job.yaml", job)];
        if let Some(machine) = machine {
            texts.push(("device.yaml", lava::device(machine)));
            texts.push(("device.jinja2", lava::DICTIONARY.to_owned()));
        }
        Ok(texts)
    }

    fn labgrid(&self, machine: Option<&Machine>) -> Vec<(&'static str, String)> {
        let place = self.place.as_deref().unwrap_or(&self.names.board);
        let way = match (machine, &self.place) {
            (Some(machine), None) => labgrid::Way::Qemu(machine),
            _ => labgrid::Way::Place(place),
        };
        let seconds = u64::from(self.minutes()) * 60;
        vec![
            ("env.yaml", labgrid::environment(&self.names, &way)),
            (
                "test_psci_bench.py",
                labgrid::tests(&self.names, &self.plan, seconds),
            ),
            ("pytest.ini", labgrid::SETTINGS.to_owned()),
        ]
    }
}

/// Where a cell goes below `dir`; the way there is absolute. A cell that is
/// there may be replaced if `force` says so.
///
/// # Errors
/// When something is there that is not to be replaced.
pub fn free(dir: &Path, names: &Names, force: bool) -> Result<PathBuf> {
    let absolute = if dir.exists() {
        fs::canonicalize(dir)
    } else {
        std::path::absolute(dir)
    };
    let dir = absolute.with_context(|| format!("-o {}", dir.display()))?;
    let place = dir.join(names.folder());
    if !place.exists() {
        return Ok(place);
    }
    let at = place.display();
    if !place.join(MARK).is_file() {
        bail!("{at} is there, and is no cell: choose another -o or another --name");
    }
    if !force {
        bail!("{at} is there already: --force replaces it, --name gives the new one another name");
    }
    if place.join(RESULTS).exists() {
        bail!("{at} has results, of what it was before: move or remove {at}/{RESULTS}");
    }
    Ok(place)
}

/// A scratch folder is its owner's alone; this one is for all whom a new folder
/// would be for.
fn open(dir: &Path) -> Result<()> {
    let fresh = dir.join("new");
    fs::create_dir(&fresh)?;
    let usual = fs::metadata(&fresh)?.permissions();
    fs::remove_dir(&fresh)?;
    Ok(fs::set_permissions(dir, usual)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    fn cell(board: &Board, engine: Engine) -> Cell<'_> {
        Cell {
            names: Names {
                engine,
                board: board.name.get_ref().clone(),
                firmware: "v2.12".to_owned(),
            },
            board,
            plan: Plan::parse("").expect("good words"),
            cpus: 6,
            folder: PathBuf::from("/lab/lava-juno-v2.12"),
            minutes: None,
            run: Duration::from_secs(60),
            url: None,
            device_type: None,
            tags: Vec::new(),
            place: None,
            content: Content::Recovery {
                file: "recovery.zip".to_owned(),
                data: b"PK".to_vec(),
            },
        }
    }

    #[test]
    fn nothing_is_lost() {
        let workspace = Workspace::find().expect("the repository");
        let juno = Board::load(&workspace, "juno").expect("a board");
        let cell = cell(&juno, Engine::Lava);
        let dir = tempfile::tempdir().expect("a directory");
        let write = |force| {
            let cell = Cell {
                folder: free(dir.path(), &cell.names, force)?,
                ..self::cell(&juno, Engine::Lava)
            };
            cell.ready()?.write().map(Path::to_path_buf)
        };
        let place = write(false).expect("written");
        assert!(place.ends_with("lava-juno-v2.12"));
        assert_eq!(fs::read(place.join("recovery.zip")).expect("there"), b"PK");
        let refused = |force| {
            let error = write(force).expect_err("refused");
            format!("{error:#}")
        };
        assert!(refused(false).contains("--force replaces it"));
        write(true).expect("replaced");
        fs::create_dir(place.join(RESULTS)).expect("made");
        assert!(refused(true).contains("has results"));
        fs::remove_dir_all(&place).expect("removed");
        fs::create_dir(&place).expect("made");
        fs::write(place.join("thesis"), "").expect("written");
        assert!(refused(true).contains("is no cell"));
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn a_job_has_the_time_that_its_run_has() {
        let workspace = Workspace::find().expect("the repository");
        let juno = Board::load(&workspace, "juno").expect("a board");
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
        assert!(refused("method=warm", 4).contains("method=tftf,warm"));
        assert!(refused("only=null_call", 4).contains("there is none"));
        assert!(refused("", 25).contains("--smp 24 or less"));
    }
}
