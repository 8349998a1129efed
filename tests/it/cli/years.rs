//! Times of files in years that TOML does not have.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::World;

/// File systems have years that TOML has not; see `docs/format.md`.
#[test]
fn times_of_every_year_are_kept() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    let year_zero = SystemTime::UNIX_EPOCH - Duration::from_secs(62_167_219_200);
    let times = [
        year_zero - Duration::from_secs(1),
        year_zero - Duration::from_secs(86_400 * 365 * 4000),
        SystemTime::UNIX_EPOCH - Duration::from_nanos(1),
        SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800),
        SystemTime::UNIX_EPOCH + Duration::from_secs(31_556_889_832_780),
    ];
    let modified = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    for (at, time) in times.into_iter().enumerate() {
        let name = format!("d{at}/file");
        let file = File::create(world.write(&name, "old")).unwrap();
        // ext4 has the years 1901 to 2446.
        let is_set = file.set_modified(time).is_ok();
        if !is_set || modified(&world.path(&name)) != time {
            continue;
        }
        let ran = world.run(&format!("-c archive new d{at}"));
        let item = ran.line();
        world.run(&format!("-c archive copy {item} --to mirror")).succeeded();
        world.run(&format!("-c mirror export {item} --name source --to out{at}")).succeeded();
        assert_eq!(modified(&world.path(format!("out{at}/d{at}/file"))), time, "{at}");
        assert_eq!(world.run(&format!("-c mirror verify {item}")).code, 0, "{at}");
        assert_eq!(world.run(&format!("-c archive show {item} --json")).code, 0, "{at}");
        assert_eq!(world.run(&format!("-c archive export {item} --format tar --to t{at}")).code, 0);
    }
}
