//! The archives of a resolver: registering them, listing them, and ending registrations.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use urepo::identity::Identifier;
use urepo::progress::NoProgress;
use urepo::resolver::{REGISTRY_HEADER, RegisteredArchive, RegistryFile};
use urepo::web::announcement::RegistrationKey;

use crate::cli::Done;
use crate::cli::command::server::{key_in, no_key, parse, print_mail};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records;
use crate::cli::records::web::Service;

/// Register an archive, and print the mail that confirms the registration
///
/// The mail of its administrator, which `urepo serve --print-registration` prints, has the identifier of the archive
/// service and the key. The key is read from standard input, or from a file that only its owner can read; the registry keeps
/// a slow digest of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Register {
    /// The identifier of the archive service, in the form that the archive announces
    #[arg(value_name = "SERVICE", value_parser = parse::<Identifier>)]
    service: Identifier,
    /// The file of the registered archives; made if it is missing
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// The file with the key; standard input unless given
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Register an archive again, with another key; it must announce itself again
    #[arg(long)]
    replace: bool,
    /// Ask it at private addresses, too
    #[arg(long)]
    allow_private: bool,
}

/// List the registered archives, and which of them are included
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The file of the registered archives
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
}

/// End the registration of an archive, which is not asked any more
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The identifier of the archive service
    #[arg(value_name = "SERVICE", value_parser = parse::<Identifier>)]
    service: Identifier,
    /// The file of the registered archives
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
}

/// Most bytes of a key on standard input.
const LONGEST_KEY: u64 = 1024;

pub(super) fn registry(context: &Context, path: &Path) -> Result<RegistryFile, Failure> {
    Ok(RegistryFile::at(&context.absolute(path), REGISTRY_HEADER)?)
}

impl Register {
    pub(super) fn run(&self, context: &Context) -> Done {
        let key = self.key(context)?;
        let archive = RegisteredArchive::new(self.service.clone(), &key, self.allow_private);
        let archive = archive.map_err(|error| {
            Failure::new(Exit::Failure, "cannot read random bytes").caused_by(error.to_string())
        })?;
        let file = registry(context, &self.registry)?;
        if context.global.dry_run {
            file.read()?.register(archive, self.replace)?;
            context.printer.note(&format!("would register `{}`", self.service));
            return Ok(());
        }
        file.change(&context.caller(&NoProgress), |registry| {
            registry.register(archive, self.replace)
        })?;
        let service = &self.service;
        // In the language of the mail that it answers.
        let text = format!(
            "IBI do serviço de Arquivo:\narchiveserviceibi = {service}\n\n\
             O Arquivo está cadastrado. Ele é incluído sempre que o seu serviço é ligado.\n"
        );
        print_mail(context, "Confirmação de cadastro de um novo Arquivo", &text)
    }

    fn key(&self, context: &Context) -> Result<RegistrationKey, Failure> {
        if let Some(file) = &self.key_file {
            return key_in(context, file);
        }
        let mut text = String::new();
        context.stdin()?.take(LONGEST_KEY).read_to_string(&mut text).map_err(|error| {
            crate::cli::input::unreadable(
                &error,
                "cannot read the key from standard input".to_owned(),
            )
        })?;
        text.parse().map_err(|error| no_key("standard input", &error))
    }
}

impl List {
    pub(super) fn run(&self, context: &Context) -> Done {
        let registry = registry(context, &self.registry)?.read()?;
        let width = registry.archives.iter().map(|it| it.service.as_str().len()).max();
        for archive in &registry.archives {
            let included = archive.included.as_ref();
            if context.printer.json {
                let registration = records::web::Registration {
                    service: archive.service.as_str(),
                    allow_private: archive.allow_private,
                    address: included.map(|it| it.address.to_string()),
                    ip: included.map(|it| it.ip.to_string()),
                    platform: included.map(|it| it.platform.as_str()),
                    email: included.map(|it| it.email.as_str()),
                    since: included.map(|it| it.since.to_string()),
                    confirmed: included.map(|it| it.confirmed),
                };
                context.printer.record(&Service::new("registration", registration))?;
                continue;
            }
            let service = format!("{:width$}", archive.service, width = width.unwrap_or_default());
            context.printer.line(&match included {
                None => format!("{service}  registered"),
                Some(it) => {
                    let state = if it.confirmed { "included" } else { "included, not confirmed" };
                    format!("{service}  {state}  {}  {}", it.address, it.since)
                }
            })?;
        }
        Ok(())
    }
}

impl Remove {
    pub(super) fn run(&self, context: &Context) -> Done {
        let file = registry(context, &self.registry)?;
        if context.global.dry_run {
            file.read()?.remove(&self.service)?;
            context.printer.note(&format!("would end the registration of `{}`", self.service));
            return Ok(());
        }
        file.change(&context.caller(&NoProgress), |registry| registry.remove(&self.service))?;
        context.printer.note(&format!("`{}` is not registered any more", self.service));
        Ok(())
    }
}
