//! Events while the program works: `UREPO_LOG`.

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::printer::bar_output;

/// The variable that says what is written: a level, or levels of modules, such as `urepo::disk=trace`.
const VARIABLE: &str = "UREPO_LOG";

/// Writes events to stderr, as `UREPO_LOG` says; without it, warnings and the access log of a server, which has no other place for them.
/// Returns what is wrong with the variable.
pub(super) fn start(is_server: bool) -> Option<String> {
    let chosen = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let usual = if is_server {
        "warn,urepo::access=info"
    } else {
        return chosen.and_then(|text| begin(&text));
    };
    begin(chosen.as_deref().unwrap_or(usual))
}

fn begin(text: &str) -> Option<String> {
    let targets: Targets = match text.parse() {
        Ok(targets) => targets,
        Err(error) => return Some(format!("`{VARIABLE}={text}` has no effect: {error}")),
    };
    let format = tracing_subscriber::fmt::layer().with_writer(bar_output).with_ansi(false);
    // Only one subscriber is ever set.
    let _ = tracing_subscriber::registry().with(targets).with(format).try_init();
    None
}
