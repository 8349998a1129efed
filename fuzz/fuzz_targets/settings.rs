//! Any text as `urepo.toml`: what is read prints and reads again, with the same prefixes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urepo::collection::Settings;

fuzz_target!(|text: &str| {
    if let Ok(settings) = Settings::read(text) {
        let again = Settings::read(&settings.to_text()).expect("it was just printed");
        assert_eq!(again.id, settings.id);
        assert_eq!(again.subsystems.len(), settings.subsystems.len());
    }
});
