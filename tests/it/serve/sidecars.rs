//! Sidecars are read once for all the requests that need them.

use std::sync::Arc;

use urepo::disk::{Operation, Watcher};
use urepo::web::listen::Limits;

use super::site::{SERVICE, Site};
use crate::support::{System, Trace, World, change_item};

#[test]
fn a_sidecar_is_read_once_for_each_version() {
    let world = World::with_collection();
    for number in 0..20 {
        world.write(&format!("d/{number}.txt"), number.to_string());
    }
    let name = world.run("-c archive new d --target 1.txt").line();
    let root = world.path("archive");
    let trace = Arc::new(Trace::on(System::Own));
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    let roots = [(root.as_path(), "a.example.org")];
    let site = Site::watched(&watcher, SERVICE, &roots, Limits::default(), |_| {});
    let sidecar = root.join(&name).join("item.toml");
    let opened = || {
        let all = std::mem::take(&mut *trace.0.lock().unwrap());
        all.into_iter().filter(|it| *it == (Operation::Open, sidecar.clone())).count()
    };
    let query = "servicesubject=urlRequest&clientinformation.ipaddress=192.0.2.7";
    let all = || {
        for (target, status) in [
            (format!("/{name}"), 302),
            (format!("/{name}:"), 200),
            (format!("/{name}:(oai_dc)"), 200),
            (format!("/{name}/2.txt"), 302),
            (format!("/{name}/nothing"), 404),
            (format!("/{name}?ibiurl.verblist=GetFileList"), 200),
            (format!("/col/{name}/doc/3.txt"), 200),
            (format!("/col/{name}/doc/4.txt"), 200),
            (format!("/col/{name}/doc/nothing"), 404),
            (format!("/{SERVICE}?{query}&parsedibiurl.ibi={name}"), 200),
        ] {
            assert_eq!(site.get(&target).status, status, "{target}");
        }
    };
    all();
    assert_eq!(opened(), 1);
    all();
    assert_eq!(opened(), 0);
    // A change is seen at once.
    change_item(&root, &name, |sidecar| sidecar.access.level = "closed".parse().unwrap());
    assert_eq!(site.get(&format!("/{name}")).status, 403);
    assert_eq!(site.get(&format!("/col/{name}/doc/3.txt")).status, 403);
    assert_eq!(opened(), 1);
}
