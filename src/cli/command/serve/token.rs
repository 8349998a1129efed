//! Tokens: who may have labels from the server.

use urepo::collection::Collection;
use urepo::identity::Prefix;
use urepo::progress::NoProgress;
use urepo::serve::{TOKENS, TOKENS_HEADER, Token, TokensFile};

use crate::cli::Done;
use crate::cli::command::server::parse;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::web::{Service, TokenRecord};

/// Give out tokens, with which others get identifiers from `urepo serve --issue`
#[derive(Debug, clap::Args)]
pub(super) struct TokenCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Add(Add),
    List(List),
    Remove(Remove),
}

/// Make a token, and print its secret, which is shown once
///
/// A client sends it as `Authorization: Bearer SECRET`. Only its digest is stored, in the state directory of this
/// machine.
#[derive(Debug, clap::Args)]
struct Add {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// The only prefix of its identifiers: subdomain/word[.port]
    #[arg(long, value_parser = parse::<Prefix>)]
    prefix: Option<Prefix>,
    /// Most identifiers in a day of UTC, counted since the server began
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    daily: Option<u64>,
}

/// List the tokens
#[derive(Debug, clap::Args)]
struct List;

/// Remove a token, which is not valid any more
#[derive(Debug, clap::Args)]
struct Remove {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
}

/// The tokens of a collection, in the state directory.
pub(super) fn tokens_of(context: &Context, collection: &Collection) -> Result<TokensFile, Failure> {
    let state = context.absolute(&context.config.state.value).join(collection.id());
    Ok(TokensFile::within(&state, TOKENS, TOKENS_HEADER)?)
}

impl TokenCommand {
    /// Whether it only answers.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self.action, Action::List(_))
    }

    pub(super) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        match &self.action {
            Action::Add(it) => it.run(context, &collection),
            Action::List(List) => list(context, &collection),
            Action::Remove(it) => it.run(context, &collection),
        }
    }
}

impl Add {
    fn run(&self, context: &Context, collection: &Collection) -> Done {
        let now = urepo::clock::Clock::now(&context.clock).floor(urepo::identity::SECOND);
        let drawn = Token::draw(&self.name, self.prefix.clone(), self.daily, now);
        let (token, secret) = drawn.map_err(|error| {
            Failure::new(Exit::Failure, "cannot read random bytes").caused_by(error.to_string())
        })?;
        if let Some(prefix) = &self.prefix {
            let mut known = collection.settings().subsystems.iter();
            if !known.any(|subsystem| subsystem.prefix().is_ok_and(|it| it == *prefix)) {
                let path = collection.path().display();
                return Err(Failure::usage(format!(
                    "`{path}` issues no identifiers of `{prefix}`"
                ))
                .hint("`urepo status --machine` shows its prefixes"));
            }
        }
        if context.global.dry_run {
            context.printer.note(&format!("would add the token `{}`", self.name));
            return Ok(());
        }
        let file = tokens_of(context, collection)?;
        file.change(&context.caller(&NoProgress), |tokens| tokens.add(token.clone()))?;
        if context.printer.json {
            return context
                .printer
                .record(&Service::new("token", TokenRecord::of(&token, Some(&secret))));
        }
        context.printer.line(&secret)
    }
}

fn list(context: &Context, collection: &Collection) -> Done {
    for token in &tokens_of(context, collection)?.read()?.tokens {
        if context.printer.json {
            context.printer.record(&Service::new("token", TokenRecord::of(token, None)))?;
            continue;
        }
        let Token { name, prefix, daily, since, .. } = token;
        let prefix = prefix.as_ref().map_or(String::new(), |prefix| format!("  of {prefix}"));
        let daily = daily.map_or(String::new(), |daily| format!("  {daily} a day"));
        context.printer.line(&format!("{name}  since {since}{prefix}{daily}"))?;
    }
    Ok(())
}

impl Remove {
    fn run(&self, context: &Context, collection: &Collection) -> Done {
        let file = tokens_of(context, collection)?;
        if context.global.dry_run {
            file.read()?.remove(&self.name)?;
            context.printer.note(&format!("would remove the token `{}`", self.name));
            return Ok(());
        }
        file.change(&context.caller(&NoProgress), |tokens| tokens.remove(&self.name))?;
        context.printer.note(&format!("the token `{}` is not valid any more", self.name));
        Ok(())
    }
}
