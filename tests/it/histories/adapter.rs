//! The one file that knows the engines: performs a command as the program does, by the library.

use std::ops::ControlFlow;
use std::path::Path;

use urepo::agent::Agent;
use urepo::amend::{Amender, Amendment};
use urepo::collection::{Actual, Collection, IssueOptions, Issuer, Names, recover};
use urepo::custody::Discard;
use urepo::custody::remedy::{Condition, Damage, Row, Way, alternatives, condition, remedy};
use urepo::disk::Watcher;
use urepo::holdings::{Sight, places};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::{PayloadPath, State};
use urepo::progress::NoProgress;
use urepo::promotion::{Loss, Registrar};
use urepo::removal::{
    DamageRule, LastRule, Order, PermanentRule, Purger, Remover, Restoration, Wanted, purgeable,
};
use urepo::repair::{self, LoggedItems, Repairer};
use urepo::transfer::{
    self, Authority, NameFeed, Options, Recovery, RunMode, Tombstones, Transfer, Verb, interrupted,
};
use urepo::verify::{self, Depth, Report, Scope, Severity};

use super::script::{Leaves, Part};
use super::world::Named;
use crate::support::{self, TestClock, caller, waiter};

/// Done, or refused with a reason.
pub(super) type Ended<T = ()> = Result<T, String>;

/// A command of the program on one machine.
pub(super) struct Command<'a> {
    pub(super) own: &'a Path,
    /// The other collections that the settings name and that are in sight.
    pub(super) others: Vec<&'a Path>,
    pub(super) agent: &'a Agent,
    pub(super) clock: &'a TestClock,
    pub(super) watcher: Watcher,
}

fn told(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

impl Command<'_> {
    fn open(&self, root: &Path) -> Ended<Collection> {
        Collection::open(root, &self.watcher).map_err(told)
    }

    fn known(&self) -> Ended<Vec<Collection>> {
        let own = std::iter::once(self.own);
        own.chain(self.others.iter().copied()).map(|root| self.open(root)).collect()
    }

    pub(super) fn new_item(&self, bytes: &'static [u8]) -> Ended<String> {
        let own = self.open(self.own)?;
        let name = PayloadPath::from_text("letter.txt").unwrap();
        let source = urepo::deposit::Source::Stream { name: name.clone(), reader: Box::new(bytes) };
        let request = urepo::deposit::Request { source, ..support::request("") };
        let (options, interrupt) = (support::options(), Interrupt::default());
        let (requests, clock) = (vec![request], self.clock);
        let deposited =
            support::deposit_by(self.agent, &interrupt, &own, requests, options, clock, |_| ());
        let (mut outcomes, summary) = deposited.map_err(told)?;
        match outcomes.pop() {
            Some(outcome) => Ok(outcome.result.map_err(told)?.label.name.to_string()),
            None => Err(format!("{summary:?}")),
        }
    }

    pub(super) fn mint(&self) -> Ended<String> {
        let own = self.open(self.own)?;
        let options = IssueOptions { ..support::issue_options() };
        let mut issuer = Issuer::new(&own, self.agent, self.clock, &options).map_err(told)?;
        let (labels, _) = issuer.mint(1).map_err(told)?;
        Ok(labels[0].name.to_string())
    }

    /// Adds the creator `edit`.
    pub(super) fn meta(&self, name: &RepositoryName, edit: &str) -> Ended {
        let own = self.open(self.own)?;
        let writer = own.writer(self.agent, &waiter(self.clock)).map_err(told)?;
        let interrupt = Interrupt::default();
        let caller = caller(self.agent, self.clock, &interrupt);
        let change = Box::new(|description: &mut urepo::amend::Description| {
            description.metadata.add("creator", edit).unwrap();
            Ok(())
        });
        let known = self.known()?;
        let sight = &Sight::of_one(known[1..].iter());
        let amender =
            Amender { collection: &own, sight, writer: Some(&writer), locks: None, caller };
        amender.amend(Amendment { name: name.clone(), change }).map_err(told)?;
        writer.finish().map_err(told)
    }

    /// Copies an item, or all of them with their deletions.
    pub(super) fn copy(&self, to: &Path, name: Option<&RepositoryName>) -> Ended {
        let (from, to) = (self.open(self.own)?, self.open(to)?);
        let tombstones = if name.is_none() { Tombstones::Bring } else { Tombstones::Refuse };
        self.transfer((&from, &to), options(Verb::Copy, tombstones), &[], name)
    }

    pub(super) fn migrate(&self, to: &Path, name: &RepositoryName, leaves: Leaves) -> Ended {
        let (from, to) = (self.open(self.own)?, self.open(to)?);
        let leaves = match leaves {
            Leaves::Copy => transfer::Leaves::Copy,
            Leaves::Nothing => transfer::Leaves::Stub,
        };
        let options = Options { leaves, ..options(Verb::Migrate, Tombstones::Refuse) };
        let mut others = self.known()?;
        others.retain(|other| ![from.id(), to.id()].contains(&other.id()));
        self.transfer((&from, &to), options, &others, Some(name))
    }

    fn transfer(
        &self,
        (from, to): (&Collection, &Collection),
        options: Options,
        others: &[Collection],
        name: Option<&RepositoryName>,
    ) -> Ended {
        let (interrupt, waiter) = (Interrupt::default(), waiter(self.clock));
        let source_writer = (options.verb == Verb::Migrate)
            .then(|| from.writer_to_delete(self.agent, &waiter))
            .transpose();
        let transfer = Transfer {
            from,
            to,
            writer: Some(to.writer(self.agent, &waiter).map_err(told)?),
            source_writer: source_writer.map_err(told)?,
            options,
            sight: &Sight::of_many(others),
            caller: caller(self.agent, self.clock, &interrupt),
        };
        let names = Names::default();
        let feed: Box<NameFeed<'_>> = match name {
            Some(name) => Box::new(|take| {
                let _ = take(name.clone());
                Ok(())
            }),
            None => names.feed(from),
        };
        let mut ended = Ok(());
        let summary = transfer.run(feed, |outcomes| {
            for outcome in outcomes {
                if let Err(error) = outcome.result {
                    ended = Err(told(error));
                }
            }
            Ok(())
        });
        summary.fatal.map_or(ended, |error| Err(told(error)))
    }

    pub(super) fn delete(&self, name: &RepositoryName) -> Ended {
        let own = self.open(self.own)?;
        let others: Vec<_> =
            self.others.iter().map(|root| self.open(root)).collect::<Ended<_>>()?;
        let state = own.named_item(name).and_then(|item| item.sidecar()).map_err(told)?.0.state;
        let sight = Sight::of_many(&others);
        let order = Order {
            by: "ann@vault".into(),
            reason: None,
            sight: &sight,
            last: if state == State::Original { LastRule::Remove } else { LastRule::Keep },
            damage: DamageRule::Refuse,
            permanent: PermanentRule::Refuse,
        };
        self.remove(&own, |remover| {
            let mut outcome = Ok(());
            remover.delete(std::slice::from_ref(name), &order, &mut |_, deleted| {
                outcome = deleted.map(drop).map_err(told);
                ControlFlow::Continue(())
            });
            outcome
        })
    }

    pub(super) fn restore(&self, name: &RepositoryName) -> Ended {
        let own = self.open(self.own)?;
        let known = self.known()?;
        let restoration =
            Restoration { sight: &Sight::of_many(&known), damage: DamageRule::Refuse };
        self.remove(&own, |remover| {
            let mut outcome = Ok(());
            remover.restore(std::slice::from_ref(name), &restoration, &mut |_, restored| {
                outcome = restored.map(drop).map_err(told);
                ControlFlow::Continue(())
            });
            outcome
        })
    }

    fn remove(&self, own: &Collection, act: impl FnOnce(&Remover<'_>) -> Ended) -> Ended {
        let interrupt = Interrupt::default();
        let writer = own.writer_to_delete(self.agent, &waiter(self.clock)).map_err(told)?;
        let caller = caller(self.agent, self.clock, &interrupt);
        let remover = Remover { collection: own, writer, caller };
        act(&remover)?;
        remover.finish().map_err(told)
    }

    pub(super) fn purge(&self) -> Ended {
        let own = self.open(self.own)?;
        let plan = purgeable(&own, &Wanted::default()).map_err(told)?;
        let (waiter, interrupt) = (waiter(self.clock), Interrupt::default());
        let mut purger = Purger::new(&own, self.agent, waiter, &interrupt).map_err(told)?;
        let mut ended = Ok(());
        purger.purge(&plan.entries, &mut |_, purged| match purged {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => {
                ended = Err(told(error));
                ControlFlow::Break(())
            }
        });
        purger.finish();
        ended
    }

    pub(super) fn promote(&self, name: &RepositoryName, lost: &str) -> Ended {
        let lost = Some(lost.to_owned());
        self.type_in(name, &Named::Promote(Discard::Refuse, lost))
    }

    /// What a crash left is ended; `restored` says that a backup was put back.
    pub(super) fn recover(&self, restored: bool) -> Ended {
        let own = self.open(self.own)?;
        let (known, waiter) = (self.known()?, waiter(self.clock));
        let others: Vec<_> = known[1..].iter().collect();
        let writer = own.writer(self.agent, &waiter).map_err(told)?;
        let agent = self.agent;
        let recovery =
            Recovery { giver: &own, writer: &writer, others: &others, agent, waiter: &waiter };
        let mut failed = Vec::new();
        for open in interrupted(&own).map_err(told)?.items {
            failed.extend(recovery.end(&open.name).err().map(told));
        }
        writer.finish().map_err(told)?;
        if restored {
            own.rebuild(self.agent, &waiter).map_err(told)?;
            let mut planned = own.ledger_corrections().map_err(told)?;
            // Nobody accepts a loss.
            planned.added.retain(|it| it.is != Actual::Lost);
            own.correct_ledger(&planned, self.agent, &waiter).map_err(told)?;
            // A person believes the others.
            for other in &known[1..] {
                let line_up = Some(Authority::Person);
                let options = Options { line_up, ..options(Verb::Copy, Tombstones::Bring) };
                failed.extend(self.transfer((other, &own), options, &[], None).err());
            }
        }
        let recovered = recover(&own, self.agent, &waiter).map_err(told)?;
        let options = IssueOptions {
            purpose: urepo::collection::IssuePurpose::Care,
            ..support::issue_options()
        };
        let issuer = Issuer::new(&own, self.agent, self.clock, &options).map_err(told)?;
        let raised = if restored { issuer.restored(&[]) } else { issuer.catch_up(&[]) };
        raised.map_err(told)?;
        failed.extend(recovered.failed.into_iter().map(told));
        failed.into_iter().next().map_or(Ok(()), Err)
    }

    pub(super) fn repair(&self, name: &RepositoryName, from: &Path) -> Ended {
        self.repair_from(name, &[from])
    }

    fn repair_from(&self, name: &RepositoryName, from: &[&Path]) -> Ended {
        let own = self.open(self.own)?;
        let donors: Vec<_> = from.iter().map(|root| self.open(root)).collect::<Ended<_>>()?;
        let witnesses = self.known()?;
        let (interrupt, logged) = (Interrupt::default(), LoggedItems::default());
        let repairer = Repairer {
            collection: &own,
            donors: &donors.iter().collect::<Vec<_>>(),
            witnesses: &witnesses[1..].iter().collect::<Vec<_>>(),
            options: repair::Options::default(),
            logged: &logged,
            caller: caller(self.agent, self.clock, &interrupt),
        };
        let writer = own.writer(self.agent, &waiter(self.clock)).map_err(told)?;
        repairer.repair(name, &writer).map_err(told)?;
        writer.finish().map_err(told)
    }

    /// Whether what is in sight stands against a change of the item here.
    pub(super) fn stands_against(&self, name: &RepositoryName) -> bool {
        let Ok(known) = self.known() else { return false };
        let all: Vec<_> = known.iter().collect();
        let places = places(name, &all, &mut Vec::new());
        let found = condition(&places, known[0].id());
        matches!(found, Some(Condition::Behind | Condition::Fork))
    }

    /// The remedy of an item here, by all collections in sight, if it is run here: first its command, then those that a person
    /// may choose instead, each with the id of the collection where it runs.
    pub(super) fn remedy(&self, name: &RepositoryName) -> Option<(Row, Vec<(String, Named)>)> {
        let known = self.known().ok()?;
        let all: Vec<_> = known.iter().collect();
        let mut places = places(name, &all, &mut Vec::new());
        for (place, collection) in places.iter_mut().zip(&known) {
            let is_whole = || {
                let item = collection.item(name).unwrap();
                verify::prove(&item, Depth::Full, &NoProgress, &Interrupt::default()).is_ok()
            };
            if place.has_payload() && !is_whole() {
                place.damage(Damage::Payload);
            }
        }
        let own = known[0].id();
        let found = remedy(&places, own)?;
        let Way::Run(command) = &found.way else { return None };
        let others = alternatives(&places, &found);
        let commands = std::iter::once(command.clone()).chain(others);
        let commands = commands.map(|it| (it.at.to_owned(), it.act.into())).collect();
        (command.at == own).then_some((found.row, commands))
    }

    /// Types a remedy of the item `name`.
    pub(super) fn type_in(&self, name: &RepositoryName, act: &Named) -> Ended {
        let root = |id: &String| {
            let known = self.known()?.into_iter().find(|it| it.id() == *id);
            known.map(|it| it.path().to_path_buf()).ok_or_else(|| format!("{id} is out of sight"))
        };
        let own = self.open(self.own)?;
        let from = |id: &String, line_up| {
            let options = Options { line_up, ..options(Verb::Copy, Tombstones::Bring) };
            self.transfer((&self.open(&root(id)?)?, &own), options, &[], Some(name))
        };
        match act {
            Named::AcceptLedger => own.accept_ledger(self.agent, self.clock).map_err(told),
            Named::Recover => {
                self.recover(false)?;
                let mut planned = own.ledger_corrections().map_err(told)?;
                planned.added.retain(|it| it.name == *name && it.is != Actual::Lost);
                let waiter = waiter(self.clock);
                own.correct_ledger(&planned, self.agent, &waiter).map(drop).map_err(told)
            }
            Named::Withdraw => Err("nobody is away".to_owned()),
            Named::AcceptLoss => self.registrar(|registrar, others| {
                registrar.accept_loss(name, others).map(drop).map_err(told)
            }),
            Named::RecoverWith(other) => from(other, Some(Authority::Person)),
            Named::CopyFrom(other) => from(other, None),
            Named::Repair => self.repair_from(name, &self.others),
            Named::RepairFrom(other) => self.repair_from(name, &[&root(other)?]),
            Named::Reseal => Err("no sidecar was edited".to_owned()),
            Named::Delete => self.delete(name),
            Named::Promote(discard, lost) => self.registrar(|registrar, others| {
                let collections: Vec<_> = lost.iter().cloned().collect();
                let loss = Loss {
                    collections: &collections,
                    reason: "",
                    sight: &Sight::of_many(others),
                    discard: *discard,
                };
                let mut ended = Err("nothing was promoted".to_owned());
                let _ =
                    registrar.promote_all(std::slice::from_ref(name), &loss, &mut |_, result| {
                        ended = result.map(drop).map_err(told);
                        ControlFlow::Continue(())
                    });
                ended
            }),
        }
    }

    fn registrar(&self, act: impl FnOnce(&Registrar<'_>, &[Collection]) -> Ended) -> Ended {
        let own = self.open(self.own)?;
        let mut others = self.known()?;
        others.remove(0);
        let (writer, interrupt) =
            (own.writer(self.agent, &waiter(self.clock)), Interrupt::default());
        let writer = writer.map_err(told)?;
        let caller = caller(self.agent, self.clock, &interrupt);
        act(&Registrar { collection: &own, writer: Some(&writer), caller }, &others)?;
        writer.finish().map_err(told)
    }

    /// Whether `verify` of these collections finds damage, and the lines that it says.
    pub(super) fn verify(&self, alone: bool) -> Ended<(bool, Vec<String>)> {
        let mut roots = self.known()?;
        roots.truncate(if alone { 1 } else { roots.len() });
        let (mut lines, mut damage) = (Vec::new(), false);
        let (names, interrupt) = (Names::default(), Interrupt::default());
        for root in &roots {
            let options = verify::Options { depth: Depth::Full, jobs: 1 };
            let scope = Scope::All(&names);
            let summary = verify::verify(root, scope, options, &NoProgress, &interrupt, |report| {
                let (name, found) = match &report {
                    Report::Item(item) => (item.name.as_str(), item.findings.as_slice()),
                    Report::Tree(found) => ("", std::slice::from_ref(found)),
                };
                lines.extend(
                    found
                        .iter()
                        .map(|it| format!("{name} {} {:?} {}", it.code, it.place, it.detail)),
                );
                ControlFlow::Continue(())
            })
            .map_err(told)?;
            damage |= summary.is_damage();
        }
        if roots.len() > 1 {
            let roots: Vec<_> = roots.iter().collect();
            verify::compare(&roots, &names, &interrupt, |found| {
                let (name, finding) = (found.name, found.finding);
                damage |= finding.severity() == Severity::Damage;
                lines.push(format!("{name:?} {} {}", finding.code, finding.detail));
                ControlFlow::Continue(())
            })
            .map_err(told)?;
        }
        Ok((damage, lines))
    }
}

fn options(verb: Verb, tombstones: Tombstones) -> Options {
    Options {
        verb,
        leaves: transfer::Leaves::Stub,
        mode: RunMode::Act,
        state: None,
        tombstones,
        line_up: None,
        jobs: 1,
        resume_bytes: u64::MAX,
    }
}

/// The files of a part of a collection, relative to its root.
pub(super) fn files(part: Part) -> &'static [&'static str] {
    match part {
        Part::Memory => &[".urepo/memory"],
        Part::Ledger => &[".urepo/ledger"],
        Part::Urepo => &[".urepo"],
        Part::Root | Part::Tree | Part::Item(_) => &[],
    }
}
