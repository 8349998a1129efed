//! Any bytes as a manifest of an import, in each format.
#![no_main]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use urepo::disk::{Dir, Links, Watcher};
use urepo::import::{Format, Manifest, ManifestReader, TableOptions};

/// Rows name paths below it; none of them is read.
static ROOT: OnceLock<Arc<Dir>> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let open = || Arc::new(Dir::open(Path::new("/"), Watcher::default()).expect("a root"));
    for format in [Format::Csv, Format::Tsv, Format::Jsonl, Format::Toml] {
        let root = ROOT.get_or_init(open).clone();
        let table = TableOptions::new(format);
        let reading = ManifestReader { table, root, links: Links::Keep };
        let reader = Box::new(std::io::Cursor::new(bytes.to_vec()));
        if let Ok(rows) = Manifest::new(reader, "fuzz".to_owned(), reading) {
            rows.take(1000).for_each(drop);
        }
    }
});
