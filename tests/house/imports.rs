//! Determines which files import which other files, based on all paths in `use` items and in other
//! code. Test modules are ignored, as are a parent's `mod` and `pub use` items. Using a re-exported
//! name counts as an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fancy_regex::Regex;
use quote::ToTokens;
use syn::{Item, UseTree, Visibility};

/// The path of a module or item, starting with the crate name.
type Names = Vec<String>;

/// A module, which is either a file or a block in a file.
#[derive(Default)]
struct Source {
    file: PathBuf,
    /// The paths in the module's code, except those in `pub use` items.
    named: Vec<Names>,
    /// The paths imported by `use` items, keyed by the name that each introduces.
    uses: BTreeMap<String, Names>,
}

/// Modules from several crates.
#[derive(Default)]
pub struct Crates {
    modules: BTreeMap<Names, Source>,
}

/// Imports between files. Each pair contains the importing file and the imported file.
pub type Imports = BTreeSet<(PathBuf, PathBuf)>;

/// Returns the path of the item called `name` in a module.
fn join(module: &[String], name: &str) -> Names {
    [module, &[name.to_owned()]].concat()
}

impl Crates {
    /// Reads all modules of the crate with this name, starting at its root file.
    pub fn read(&mut self, name: &str, root: &Path) {
        let folder = root.parent().expect("a folder");
        self.read_file(vec![name.into()], root, folder);
    }

    /// Reads a module whose child modules are in `folder`.
    fn read_file(&mut self, module: Names, file: &Path, folder: &Path) {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        match syn::parse_file(&text) {
            Ok(parsed) => self.read_items(module, file, folder, parsed.items),
            Err(error) => panic!("{}: {error}", file.display()),
        }
    }

    fn read_items(&mut self, module: Names, file: &Path, folder: &Path, items: Vec<Item>) {
        let mut source = Source {
            file: file.into(),
            ..Source::default()
        };
        for item in items.into_iter().filter(|item| !is_for_tests(item)) {
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path = join(&module, &name);
                    let inner = folder.join(&name);
                    let flat = inner.with_extension("rs");
                    let is_path = |attribute: &syn::Attribute| attribute.path().is_ident("path");
                    match child.content {
                        Some((_, items)) => self.read_items(path, file, &inner, items),
                        None if flat.exists() => self.read_file(path, &flat, &inner),
                        // The file of a module with a `path` attribute belongs to another crate.
                        None if child.attrs.iter().any(is_path) => {}
                        None => self.read_file(path, &inner.join("mod.rs"), &inner),
                    }
                }
                Item::Use(item) => {
                    let mut paths = Vec::new();
                    paths_of_use(&item.tree, &[], &mut paths);
                    let seen = |path: &Names| {
                        (
                            path.last().cloned().expect("a path has a name"),
                            path.clone(),
                        )
                    };
                    source.uses.extend(paths.iter().map(seen));
                    if matches!(item.vis, Visibility::Inherited) {
                        source.named.extend(paths);
                    }
                }
                other => source.named.extend(paths_in(&other)),
            }
        }
        self.modules.insert(module, source);
    }

    /// Returns all imports between different files.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (module, source) in &self.modules {
            let files = source
                .named
                .iter()
                .filter_map(|path| self.resolve(module, path, 0));
            let others = files.filter(|file| **file != source.file);
            imports.extend(others.map(|file| (source.file.clone(), file.clone())));
        }
        imports
    }

    /// Returns the file that defines `path` as used in `module`, or None if it is in another crate.
    fn resolve(&self, module: &Names, path: &[String], depth: usize) -> Option<&PathBuf> {
        let (first, rest) = path.split_first()?;
        let first_child = join(module, first);
        let mut at = match first.as_str() {
            "crate" => vec![module[0].clone()],
            "self" => module.clone(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            _ if self.modules.contains_key(&first_child) => first_child,
            name if self.modules.contains_key(&vec![name.to_string()]) => vec![name.into()],
            _ => return None,
        };
        for (place, name) in rest.iter().enumerate() {
            let child = join(&at, name);
            let source = self.modules.get(&at)?;
            if name == "super" {
                at.pop();
            } else if self.modules.contains_key(&child) {
                at = child;
            } else if let Some(passed_on) = source.uses.get(name)
                && depth < 8
            {
                let full = [passed_on, &rest[place + 1..]].concat();
                return self.resolve(&at, &full, depth + 1).or(Some(&source.file));
            } else {
                return Some(&source.file);
            }
        }
        Some(&self.modules.get(&at)?.file)
    }
}

/// Returns true for an item that is compiled only for tests. The attributes precede the item's
/// first brace.
fn is_for_tests(item: &Item) -> bool {
    let text = item.to_token_stream().to_string().replace(' ', "");
    let head = text.split('{').next().expect("the first part");
    head.contains("#[cfg(test)]") || head.contains("#[cfg(all(test")
}

/// Returns the paths in a `use` item with groups expanded. If a path is renamed, the original name
/// is returned. `self` in a group refers to the module itself.
fn paths_of_use(tree: &UseTree, path: &[String], paths: &mut Vec<Names>) {
    let joined_path = |name: &syn::Ident| join(path, &name.to_string());
    match tree {
        UseTree::Path(part) => paths_of_use(&part.tree, &joined_path(&part.ident), paths),
        UseTree::Group(group) => {
            let items = group.items.iter();
            items.for_each(|item| paths_of_use(item, path, paths));
        }
        UseTree::Name(name) if name.ident == "self" => paths.push(path.to_vec()),
        UseTree::Name(name) => paths.push(joined_path(&name.ident)),
        UseTree::Rename(renamed) => paths.push(joined_path(&renamed.ident)),
        UseTree::Glob(_) => paths.push(path.to_vec()),
    }
}

/// Returns the paths with at least two segments in all other code, including macros. Relies on
/// tokens being printed with spaces between them.
fn paths_in(item: &Item) -> Vec<Names> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*( :: [A-Za-z_]\w*)+").expect("it is good"));
    let text = item.to_token_stream().to_string();
    let found = PATH.find_iter(&text).filter_map(Result::ok);
    found
        .map(|path| path.as_str().split(" :: ").map(str::to_owned).collect())
        .collect()
}

/// Returns the imports that are part of a cycle: the imported file directly or indirectly imports
/// the importing file.
pub fn circular(imports: &Imports) -> Imports {
    let mut next: BTreeMap<&PathBuf, Vec<&PathBuf>> = BTreeMap::new();
    for (from, to) in imports {
        next.entry(from).or_default().push(to);
    }
    let comes_back = |(source_path, target_path): &&(PathBuf, PathBuf)| {
        let mut seen = BTreeSet::new();
        let mut pending = vec![target_path];
        while let Some(at) = pending.pop() {
            let others = next.get(at).into_iter().flatten();
            pending.extend(others.filter(|target_path| seen.insert(**target_path)));
        }
        seen.contains(source_path)
    };
    imports.iter().filter(comes_back).cloned().collect()
}

/// Returns the imports that violate the folder order because the imported file is in a later
/// folder. Files outside these folders are ignored.
pub fn upward(imports: &Imports, root: &Path, order: &[String]) -> Imports {
    let room = |file: &Path| {
        let inner = file.strip_prefix(root).ok()?;
        let first = inner.components().next()?.as_os_str().to_str()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        order.iter().position(|listed_name| *listed_name == name)
    };
    let is_upward = |(source_path, target_path): &&(PathBuf, PathBuf)| match (
        room(source_path),
        room(target_path),
    ) {
        (Some(source_path), Some(target_path)) => target_path > source_path,
        _ => false,
    };
    imports.iter().filter(is_upward).cloned().collect()
}
