//! Why a persistent URL leads nowhere, and what to do about it.

use urepo::collection::CollectionError;
use urepo::resolve::{ResolveError, Unresolved};

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for ResolveError {
    fn explain(&self) -> Failure {
        match self {
            Self::Unresolved(error) => error.explain(),
            Self::NoOriginal { name } => Failure::of(Exit::NoItem, self)
                .hint(format!(
                    "`urepo status {name}` shows its Copies; `--with COLLECTION` adds a collection"
                ))
                .elsewhere(name),
            Self::TwoOriginals { name, .. } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo status {name}` shows them"))
                .about(name),
            Self::NoFile { name, .. } => Failure::of(Exit::NoItem, self).hint(format!(
                "`urepo resolve '{name}?ibiurl.verblist=GetFileList'` lists its files"
            )),
            Self::NoFiles { name } => Failure::of(Exit::NoItem, self)
                .hint(format!("`urepo resolve {name}:` prints where the description is")),
        }
    }
}

impl Explain for Unresolved<CollectionError> {
    fn explain(&self) -> Failure {
        match self {
            Self::Items(error) => error.explain(),
            Self::NotFound(_) => Failure::of(Exit::NoItem, self)
                .hint("`urepo status --settings` shows the known collections; `--with COLLECTION` adds one"),
            Self::Deleted { name, .. } => Failure::of(Exit::Deleted, self)
                .hint(format!("`urepo status {name}` shows what is left of it")),
            Self::Elsewhere { .. } => Failure::of(Exit::NoItem, self)
                .hint("name the collection that holds it with `--with COLLECTION`"),
            Self::NoTranslation { languages, .. } => {
                let failure = Failure::of(Exit::NoItem, self);
                if languages.is_empty() {
                    return failure.hint("`urepo show` prints the language and the relations of an item");
                }
                let languages = languages.iter().map(|language| format!("`+({language})`"));
                let languages = languages.collect::<Vec<_>>().join(", ");
                failure.hint(format!("it is available in {languages}"))
            }
            Self::NoFormat { name, .. } => Failure::of(Exit::NoItem, self).hint(format!(
                "formats are `oai_dc`, `bibtex`, `datacite`, `abnt`, `apa`, `ris` and `csl`; `urepo resolve {name}:` leads to any"
            )),
            Self::Loop { name } => Failure::of(Exit::Damage, self)
                .hint(format!("`urepo show {name}` prints its relations")),
        }
    }
}
