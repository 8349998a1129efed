//! Users who may only read a collection: whatever changes nothing there works for them.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::World;

#[test]
fn a_reader_of_another_group_reads_everything() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run(&format!("-c archive meta set {name} title=Alpha")).succeeded();
    world.write("theirs/.keep", "");
    let open = |path: &str, mode| {
        std::fs::set_permissions(world.path(path), Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o755);
    open("theirs", 0o777);
    let theirs = world.path("theirs").display().to_string();
    for line in [
        "-c archive list",
        "-c archive log",
        "-c archive status",
        "-c archive list alpha",
        "verify archive",
        &format!("-c archive show {name}"),
        &format!("-c archive status {name}"),
        &format!("-c archive resolve {name}"),
        &format!("-c archive export {name} --to {theirs}/out"),
        &format!("init {theirs}/mirror --host mirror.example.org"),
        &format!("-c archive copy --all --to {theirs}/mirror"),
    ] {
        let environment =
            format!("HOME={theirs} UREPO_STATE={theirs}/state XDG_CACHE_HOME={theirs}/cache");
        let script = format!(
            "{environment} exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" {line}"
        );
        let ran = world.finish(world.shell(&script));
        assert_eq!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
    }
}
