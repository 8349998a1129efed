//! When what is found is told: in order, and as soon as it can be.

use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::*;

/// Longer than any machine takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(60);

impl World {
    /// An item that is worth a task of its own.
    fn large_item(&self, name: &str) {
        fs::create_dir_all(self.path(name).join("doc")).unwrap();
        fs::write(self.path(name).join("doc/large"), vec![7; 2 * 1024 * 1024]).unwrap();
        self.seal(name, |_| {});
    }
}

/// Small items before a large one are told, and large ones too, while the next is read.
#[test]
fn does_not_wait_for_large_items_that_come_later() {
    let world = World::new();
    let names = ["2009/02.16.17.46", "2009/02.16.17.47", "2009/02.16.17.48", "2009/02.16.17.49"]
        .map(|suffix| format!("sid.inpe.br/mtc-m18/{suffix}"));
    world.small_item(&names[0]);
    world.large_item(&names[1]);
    world.small_item(&names[2]);
    world.large_item(&names[3]);
    let (told, hears) = mpsc::channel();
    let heard = Mutex::new((hears, 0));
    let last = world.path(&names[3]).join("doc/large");
    let waits = on(Operation::Read, &last, move || {
        let (hears, heard) = &mut *heard.lock().unwrap_or_else(PoisonError::into_inner);
        while *heard < 3 {
            *heard = hears.recv_timeout(LIMIT).map_err(io::Error::other)?;
        }
        Ok(())
    });
    let collection = world.open(&waits);
    let (mut reported, mut findings) = (Vec::new(), Vec::new());
    let options = Options { depth: Depth::Full, jobs: 2 };
    let all = Names::default();
    let interrupt = Interrupt::default();
    verify(&collection, Scope::All(&all), options, &NoProgress, &interrupt, |report| {
        if let Report::Item(item) = report {
            reported.push(item.name.to_string());
            findings.extend(item.findings.as_slice().iter().cloned());
        }
        let _ = told.send(reported.len());
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(reported, names);
    assert_eq!(findings, []);
}
