//! Any text that somebody pastes: the identifier found in it reads as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urepo::identity::{Identifier, RepositoryName};

fuzz_target!(|text: &str| {
    if let Ok(found) = Identifier::read(text) {
        let again = Identifier::read(found.as_str()).expect("an identifier that was found");
        assert_eq!(again, found);
    }
    if let Ok(name) = text.parse::<RepositoryName>() {
        assert_eq!(name.to_string(), text);
    }
});
