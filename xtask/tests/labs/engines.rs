use xtask::setup;
use xtask::workspace::Workspace;
#[test]
fn set_up() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &setup::LABS).expect("the engines");
}
