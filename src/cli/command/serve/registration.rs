//! The registration key, and the outcomes of announcements for people.

use std::path::{Path, PathBuf};

use urepo::disk::{Dir, Watcher};
use urepo::identity::HostPort;
use urepo::serve::Status;
use urepo::web::announcement::RegistrationKey;
use urepo::web::ask::AskError;

use crate::cli::Done;
use crate::cli::command::server::{key_in, no_key, print_mail};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// The variable with the key, where there is no file of it.
const VARIABLE: &str = "UREPO_REGISTRATION_KEY";

/// The registration key of the file, or of the variable, if there is one.
pub(super) fn key(
    context: &Context,
    file: Option<&Path>,
) -> Result<Option<RegistrationKey>, Failure> {
    let Some(file) = file else {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(None) };
        return text.parse().map(Some).map_err(|error| no_key(VARIABLE, &error));
    };
    key_in(context, file).map(Some)
}

/// The same; a missing file gets a new key.
pub(super) fn key_or_new(
    context: &Context,
    file: Option<&PathBuf>,
) -> Result<RegistrationKey, Failure> {
    let found = key(context, file.map(PathBuf::as_path));
    let Some(file) = file else {
        return found?.ok_or_else(|| {
            Failure::usage("there is no registration key")
                .hint("`--key-file FILE` keeps a new one in a file")
        });
    };
    let path = context.absolute(file);
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Failure::usage(format!("`{}` is not the path of a file", path.display())));
    };
    let above = Dir::open(above, Watcher::default())?;
    if above.stat(name)?.is_some() || context.global.dry_run {
        return found?.ok_or_else(|| Failure::usage("there is no registration key"));
    }
    let key = RegistrationKey::draw().map_err(|error| {
        Failure::new(Exit::Failure, "cannot read random bytes").caused_by(error.to_string())
    })?;
    let mut file = above.create_file_with_mode(name, 0o600)?;
    file.write_all(format!("{}\n", key.reveal()).as_bytes())?;
    file.sync()?;
    above.sync()?;
    Ok(key)
}

/// The outcome of an announcement, for people; a failure if the archive is not asked by the resolver.
pub(super) fn outcome(
    address: &HostPort,
    outcome: &Result<Status, AskError>,
) -> Result<String, Failure> {
    let failed = |message: String| Failure::new(Exit::Failure, message);
    match outcome {
        Ok(Status::Included) => Ok(format!("the resolver has included the archive at {address}, and reached it")),
        Ok(Status::Excluded) => Ok(format!("the resolver does not ask the archive at {address} any more")),
        Ok(Status::Unreachable) => {
            Err(failed(format!("the resolver has included the archive, but could not reach {address}"))
                .hint("does `address` in `[archive]` lead here, with port 80 open and not redirected?"))
        }
        Ok(Status::Refused(Some(pair))) => Err(failed(format!("the resolver refuses `{pair}` of {address}"))),
        Ok(Status::Refused(None)) => Err(failed(format!("the resolver refuses the archive at {address}"))
            .hint("is it registered with this key? `urepo serve --print-registration` prints the mail for that")),
        Ok(Status::Unknown(status)) => {
            Err(failed(format!("the resolver answers with {status}, and with no status of an archive"))
                .hint("is `resolver` in `[archive]` the service of a resolver?"))
        }
        Err(error) => {
            let failure = failed("the resolver cannot be asked".to_owned()).caused_by(error.to_string());
            let cause = std::error::Error::source(error).map(ToString::to_string);
            Err(cause.into_iter().fold(failure, Failure::caused_by))
        }
    }
}

/// Reports an outcome while the server runs: a failure is a warning, since it is tried again.
pub(super) fn report(context: &Context, address: &HostPort, found: &Result<Status, AskError>) {
    match outcome(address, found) {
        Ok(text) => context.printer.note(&text),
        Err(failure) => context.printer.warning(&failure.in_one_line()),
    }
}

/// Prints the mail that registers an archive.
pub(super) fn print(
    context: &Context,
    archive: &urepo::serve::Archive,
    key: &RegistrationKey,
) -> Done {
    let (subject, text) = archive.registration(key);
    print_mail(context, subject, &text)
}
