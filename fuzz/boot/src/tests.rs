use crate::classes::{BLOCKS, TREES};
use crate::run::{Base, PLAN};
use xtask::setup::workspace::Workspace;

#[test]
fn a_seed_repeats_its_mutants_and_every_class_changes_something() {
    let workspace = Workspace::find().expect("the workspace");
    let base = Base::of(&workspace, PLAN).expect("a payload and a tree");
    let unmutated = base.image(base.tree()).expect("an image");
    for classes in [TREES, BLOCKS] {
        for number in 0..4 * classes.len() {
            let mutant = base.mutant(classes, number, 7).expect("a mutant");
            let again = base.mutant(classes, number, 7).expect("a mutant");
            let name = mutant.class.name;
            assert_eq!((mutant.what, &mutant.image), (again.what, &again.image));
            let other = base.mutant(classes, number, 8).expect("a mutant");
            let others = [&mutant.image, &other.image];
            // At most one of the two mutants may overwrite a field with its current value.
            assert!(others.iter().any(|it| **it != unmutated), "{name}");
        }
    }
}
