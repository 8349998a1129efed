//! Any bytes as `item.toml`: what is read prints, seals and reads as the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urepo::sidecar::{Seal, Sidecar};

fuzz_target!(|bytes: &[u8]| {
    if let Ok((sidecar, _)) = Sidecar::read(bytes) {
        let text = sidecar.to_text();
        let (again, seal) = Sidecar::read(text.as_bytes()).expect("it was just printed");
        assert_eq!(seal, Seal::Intact);
        assert_eq!(again, sidecar);
    }
});
