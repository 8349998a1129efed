//! Any bytes as the lock file of a prefix.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = urepo::distributor::slot::read(bytes);
});
