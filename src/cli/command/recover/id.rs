//! `urepo recover`: the settings of a collection that lost them, and its id.

use urepo::collection::{Collection, CollectionError, IdSource, LostSettings, discover};
use urepo::layout;

use super::Recover;
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Recover {
    /// The collection, with one id in its settings and its ledger, and whether these were written. A dry run leaves them as they
    /// are; `None` if it can plan nothing more.
    pub(super) fn identified(
        &self,
        context: &Context,
    ) -> Result<Option<(Collection, bool)>, Failure> {
        let root = match &context.config.collection {
            Some(named) => context.collection_path(&named.value),
            None => discover::enclosing(&context.current).or_else(|error| match error {
                CollectionError::NotInACollection { .. } => Ok(context.current.clone()),
                error => Err(error),
            })?,
        };
        // Without the warning of two ids, which end here.
        let open = || Ok(context.attended(Collection::open(&root, &context.watcher())?));
        let mut source = None;
        let collection = match open() {
            Err(CollectionError::NoSettings { .. } | CollectionError::NotACollection { .. }) => {
                let made_by = (&context.agent, &context.clock as _);
                let lost = LostSettings::look(&root, self.new_id, made_by, &context.watcher());
                let lost = match lost {
                    // In the usual words.
                    Err(CollectionError::NotACollection { .. }) => {
                        return Ok(Some((context.collection()?, false)));
                    }
                    lost => lost?,
                };
                let path = root.join(layout::SETTINGS);
                let (path, guess) = (path.display(), guessed(&lost));
                if context.global.dry_run {
                    context.printer.note(&format!("would write `{path}` again: {guess}"));
                    return Ok(None);
                }
                lost.write(&context.waiter())?;
                context.printer.warning(&format!("wrote `{path}` again: {guess}"));
                source = Some(lost.source);
                open()?
            }
            collection => collection?,
        };
        if self.new_id && source != Some(IdSource::Random) {
            self.make_another(context, &collection)?;
        } else if let Some(stated) = collection.stated_id() {
            let (id, is_dry) = (collection.id(), context.global.dry_run);
            let gave = if is_dry { "would give" } else { "gave" };
            if !is_dry {
                collection.settle_id(&context.agent, &context.waiter())?;
            }
            let line =
                format!("{gave} `urepo.toml` the id of the ledger, {id}, in place of {stated}");
            context.printer.note(&line);
        } else {
            return Ok(Some((collection, source.is_some())));
        }
        Ok(Some((open()?, true)))
    }

    /// Gives the collection an id of its own, after a person agreed.
    fn make_another(&self, context: &Context, collection: &Collection) -> Result<(), Failure> {
        let (printer, old) = (&context.printer, collection.id());
        let root = collection.path().display();
        if context.global.dry_run {
            printer.note(&format!("would make another collection of `{root}`, which is {old}"));
            return Ok(());
        }
        let question = format!(
            "make another collection of `{root}`? Its Originals become Copies of those of {old}"
        );
        confirm(context, self.yes, &question)?;
        let id = collection.take_new_id(&context.agent, &context.waiter())?;
        printer.note(&format!("`{root}` is the collection {id} now; it was {old}"));
        printer.hint(&shell::pasted(
            "`urepo repair` writes into the sidecars that the items are Copies",
        ));
        Ok(())
    }
}

/// The settings that were guessed, in words.
fn guessed(LostSettings { settings, source, .. }: &LostSettings) -> String {
    let id = match source {
        IdSource::Ledger => "the id is that of the ledger",
        IdSource::Originals => "the id is the one that all Originals name",
        IdSource::Random => "the id is a new one, so that all items are Copies",
    };
    let hosts: Vec<_> = settings.subsystems.iter().map(|it| it.host.to_string()).collect();
    let hosts = match &*hosts {
        [] => "no memory names a host, so that no identifiers are issued".to_owned(),
        hosts => format!("the hosts are those of the memories, {}", hosts.join(", ")),
    };
    let name = crate::cli::escape::one_line(&settings.name);
    format!("{id}, the name `{name}` is that of the directory, {hosts}; correct and complete it")
}
