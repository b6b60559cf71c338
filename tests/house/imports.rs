//! Which file imports which, by each path in `use` or inline. Test modules are left out,
//! as are a parent's `mod` and `pub use`. A name that a module passes on counts as an
//! import of the file that defines the name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fancy_regex::Regex;
use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

/// The path of a module, from its crate's name on.
type Module = Vec<String>;

/// A path in the code, and whether it is one of a `pub use`.
struct Named {
    path: Vec<String>,
    is_passed_on: bool,
}

/// One module: a file, or a part of one in braces.
#[derive(Default)]
struct Source {
    file: PathBuf,
    named: Vec<Named>,
    /// The paths that `use` gives another place, by the name that is seen.
    uses: BTreeMap<String, Vec<String>>,
}

/// The modules of several crates.
#[derive(Default)]
pub struct Crates {
    modules: BTreeMap<Module, Source>,
}

/// Imports between files: the importer, and the imported file.
pub type Imports = BTreeSet<(PathBuf, PathBuf)>;

impl Crates {
    /// Reads the crate of this name, and all its modules, from its root file.
    pub fn read(&mut self, name: &str, root: &Path) {
        self.read_file(vec![name.into()], root, true);
    }

    fn read_file(&mut self, module: Module, file: &Path, owns_folder: bool) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text);
        let parsed = parsed.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parent = file.parent().expect("a folder");
        let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if !owns_folder && stem != "mod" => parent.join(stem),
            _ => parent.to_path_buf(),
        };
        self.read_items(module, file, &folder, parsed.items);
    }

    fn read_items(&mut self, module: Module, file: &Path, folder: &Path, items: Vec<Item>) {
        let mut source = Source {
            file: file.into(),
            ..Source::default()
        };
        for item in items {
            if is_for_tests(&item) {
                continue;
            }
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path = [module.clone(), vec![name.clone()]].concat();
                    match child.content {
                        Some((_, items)) => {
                            self.read_items(path, file, &folder.join(&name), items);
                        }
                        None => {
                            let flat = folder.join(format!("{name}.rs"));
                            let nested = folder.join(&name).join("mod.rs");
                            let file = if flat.exists() { flat } else { nested };
                            self.read_file(path, &file, false);
                        }
                    }
                }
                Item::Use(item) => {
                    let is_passed_on = !matches!(item.vis, Visibility::Inherited);
                    let mut paths = Vec::new();
                    paths_of_use(&item.tree, &[], &mut paths);
                    for path in paths {
                        let seen = path.last().cloned().unwrap_or_default();
                        source.uses.insert(seen, path.clone());
                        source.named.push(Named { path, is_passed_on });
                    }
                }
                other => {
                    let inline = |path| Named {
                        path,
                        is_passed_on: false,
                    };
                    source
                        .named
                        .extend(paths_in(&other).into_iter().map(inline));
                }
            }
        }
        self.modules.insert(module, source);
    }

    /// All imports between different files.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (module, source) in &self.modules {
            for named in source.named.iter().filter(|named| !named.is_passed_on) {
                if let Some(to) = self.resolve(module, &named.path, 0)
                    && *to != source.file
                {
                    imports.insert((source.file.clone(), to.clone()));
                }
            }
        }
        imports
    }

    /// The file that defines what `path` names in `module`; None for another
    /// crate's.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<&PathBuf> {
        let (first, rest) = path.split_first()?;
        let child = [module.clone(), vec![first.clone()]].concat();
        let mut at = match first.as_str() {
            "crate" => vec![module[0].clone()],
            "self" => module.clone(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            _ if self.modules.contains_key(&child) => child,
            name if self.modules.contains_key(&vec![name.to_string()]) => vec![name.into()],
            _ => return None,
        };
        for (place, name) in rest.iter().enumerate() {
            let child = [at.clone(), vec![name.clone()]].concat();
            let source = self.modules.get(&at)?;
            if name == "super" {
                at.pop();
            } else if self.modules.contains_key(&child) {
                at = child;
            } else if let Some(passed_on) = source.uses.get(name)
                && depth < 8
            {
                let path = [passed_on.clone(), rest[place + 1..].to_vec()].concat();
                return self.resolve(&at, &path, depth + 1).or(Some(&source.file));
            } else {
                return Some(&source.file);
            }
        }
        Some(&self.modules.get(&at)?.file)
    }
}

/// Returns true for an item that is compiled for tests alone.
fn is_for_tests(item: &Item) -> bool {
    let attributes: &[Attribute] = match item {
        Item::Mod(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Const(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        _ => &[],
    };
    let text = |it: &Attribute| it.to_token_stream().to_string().replace(' ', "");
    let marks = ["#[cfg(test)]", "#[cfg(all(test"];
    let is_test = |it| marks.iter().any(|mark| text(it).starts_with(mark));
    attributes.iter().any(is_test)
}

/// The paths of a `use`, groups taken apart, by the names before `as`; `self` in a
/// group is the module itself.
fn paths_of_use(tree: &UseTree, path: &[String], paths: &mut Vec<Vec<String>>) {
    let joined = |name: &syn::Ident| [path, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(it) => paths_of_use(&it.tree, &joined(&it.ident), paths),
        UseTree::Group(group) => {
            let items = group.items.iter();
            items.for_each(|item| paths_of_use(item, path, paths));
        }
        UseTree::Name(it) if it.ident == "self" => paths.push(path.to_vec()),
        UseTree::Name(it) => paths.push(joined(&it.ident)),
        UseTree::Rename(it) => paths.push(joined(&it.ident)),
        UseTree::Glob(_) => paths.push(path.to_vec()),
    }
}

/// The paths of at least two names that stand in other code, in macros, too: tokens
/// are printed with a blank between any two.
fn paths_in(item: &Item) -> Vec<Vec<String>> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*( :: [A-Za-z_]\w*)+").expect("it is good"));
    let text = item.to_token_stream().to_string();
    let found = PATH.find_iter(&text).filter_map(Result::ok);
    let path = |it: fancy_regex::Match| it.as_str().split(" :: ").map(str::to_owned).collect();
    found.map(path).collect()
}

/// The circles: groups of files that import each other, directly or by way of
/// others of the group.
pub fn circles(imports: &Imports) -> BTreeSet<BTreeSet<PathBuf>> {
    let mut next: BTreeMap<&PathBuf, Vec<&PathBuf>> = BTreeMap::new();
    for (from, to) in imports {
        next.entry(from).or_default().push(to);
    }
    let mut reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = BTreeMap::new();
    for from in next.keys() {
        let (mut seen, mut pending) = (BTreeSet::new(), vec![*from]);
        while let Some(at) = pending.pop() {
            let others = next.get(at).into_iter().flatten();
            pending.extend(others.filter(|to| seen.insert(**to)));
        }
        reach.insert(from, seen);
    }
    let circle = |(file, reached): (&&PathBuf, &BTreeSet<&PathBuf>)| {
        let is_mutual = |other: &&&PathBuf| reach.get(**other).is_some_and(|it| it.contains(file));
        reached
            .iter()
            .filter(is_mutual)
            .map(|it| (*it).clone())
            .collect()
    };
    let circles = reach.iter().map(circle);
    circles
        .filter(|it: &BTreeSet<PathBuf>| it.len() > 1)
        .collect()
}

/// The imports that go against the order of the folders: from one of them to a
/// later one. Files beside the folders are in none.
pub fn upward(imports: &Imports, root: &Path, order: &[String]) -> Imports {
    let room = |file: &Path| {
        let inner = file.strip_prefix(root).ok()?;
        let first = inner.components().next()?.as_os_str().to_str()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        order.iter().position(|it| *it == name)
    };
    let is_upward = |(from, to): &&(PathBuf, PathBuf)| match (room(from), room(to)) {
        (Some(from), Some(to)) => to > from,
        _ => false,
    };
    imports.iter().filter(is_upward).cloned().collect()
}
