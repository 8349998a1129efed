//! Opening files in the programs of the desktop.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use urepo::collection::StoredItem;
use urepo::disk::{Kind, Links, resolved, stat_of};

use super::Done;
use super::context::Context;
use super::did::Did;
use super::exit::Exit;
use super::failure::Failure;
use super::records::{Item, PathAt};

/// The program of the desktop that opens any file.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens the file or directory at `path` in `item`, unless links lead out of the item. `otherwise` is the
/// hint if it fails.
pub(crate) fn open(context: &Context, path: &Path, item: &StoredItem, otherwise: &str) -> Done {
    let failed = |cause: String| {
        Failure::new(Exit::Failure, format!("cannot open `{}`", path.display()))
            .caused_by(cause)
            .hint(otherwise)
    };
    // An item may have dangling links, as its source had.
    let is_link = || stat_of(path, Links::AsIs).is_ok_and(|it| it.kind == Kind::Link);
    let real = match resolved(path) {
        Ok(real) => real,
        Err(error) if error.is_link() => return Err(failed("its links lead in a circle".into())),
        Err(error) if error.kind() == ErrorKind::NotFound && is_link() => {
            return Err(failed("it is a dangling link".into()));
        }
        Err(error) => return Err(error.into()),
    };
    if !real.starts_with(resolved(item.path())?) {
        return Err(failed(format!("a link leads out of the item, to `{}`", real.display())));
    }
    let dry_run = context.global.dry_run;
    let tell = || {
        let path = Some(PathAt::new("path", path));
        context.printer.record(&Item { path, dry_run, ..Item::became(item.name(), Did::Opened) })
    };
    if dry_run {
        let would = || context.printer.line(&format!("would open {}", path.display()));
        return if context.printer.json { tell() } else { would() };
    }
    let own = context.config.opener.as_ref();
    let program = OsStr::new(own.map_or(OPENER, |found| &found.value));
    let mut command = Command::new(program);
    command.arg(path);
    if own.is_none() {
        command.stdin(Stdio::null()).stdout(Stdio::null());
    }
    match urepo::disk::with_umask(|| command.status()) {
        Ok(status) if status.success() && context.printer.json => tell(),
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("`{}` ended with {status}", program.display()))),
        Err(error) => Err(failed(format!("cannot start `{}`: {error}", program.display()))),
    }
}
