//! Sources that were not removed, and the names that they get back.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::collection::CollectionError;
use crate::disk::copy::CopyError;
use crate::disk::{Dir, PathError};
use crate::verify::ProofError;

/// Why a source was not removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceKept {
    #[error("the sidecar of the item does not read back as it was written")]
    NotProven,
    #[error("the item was deleted: this may be the last copy")]
    Deleted,
    #[error("`{}` has changed since it was deposited", .0.display())]
    Changed(PathBuf),
    #[error("`{}` is not in the item: it was left out, or is new", .0.display())]
    NotInItem(PathBuf),
    #[error("`{}` is a link that was followed; what it leads to is not removed", .0.display())]
    Followed(PathBuf),
    #[error("`{}` has no name of its own; name the directory by its path", .0.display())]
    NoName(PathBuf),
    #[error("a bag is more than its payload; it can be moved, and not removed")]
    Bag,
    #[error("`{}` is left of a source of an item of another collection", .0.display())]
    Foreign(PathBuf),
    #[error("{kept}; it is now `{}`: its name was taken meanwhile", at.display())]
    Renamed { kept: Box<SourceKept>, at: PathBuf },
    #[error("{0}; the rest has its own name again")]
    Rest(Box<SourceKept>),
    #[error("it is still `{}`; `mv -n {} {}` moves it back", at.display(), quoted(at), quoted(path))]
    Aside {
        at: PathBuf,
        path: PathBuf,
        #[source]
        cause: PathError,
    },
    #[error(
        "a part of it is removed; the rest is `{}`, which the next `--remove-source` in that directory removes",
        at.display()
    )]
    Part {
        at: PathBuf,
        #[source]
        cause: PathError,
    },
    #[error(transparent)]
    Collection(#[from] CollectionError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl SourceKept {
    /// Whether the source has something that is not in the item.
    pub(super) fn is_of_content(&self) -> bool {
        matches!(self, SourceKept::Changed(_) | SourceKept::NotInItem(_) | SourceKept::Followed(_))
    }

    /// The same, once what was at `from` is at `to`.
    fn moved(self, from: &Path, to: &Path) -> SourceKept {
        match self {
            SourceKept::Disk(cause) | SourceKept::Copy(CopyError::Disk(cause)) => {
                cause.moved(from, to).into()
            }
            kept => kept,
        }
    }

    /// Whether the source may be gone: it is missing, or changed.
    pub(crate) fn may_be_gone(&self) -> bool {
        match self {
            SourceKept::Changed(_) => true,
            SourceKept::Disk(error) | SourceKept::Copy(CopyError::Disk(error)) => {
                error.kind() == ErrorKind::NotFound
            }
            _ => false,
        }
    }
}

/// Limit on the numbers of sources with the same name.
const MOST_OF_A_NAME: usize = 100_000;

/// Moves `name` in `from` to `to` as `wanted`, or with a number if that name is taken. Returns the new name.
pub(crate) fn move_beside(
    (from, name): (&Dir, &Path),
    (to, wanted): (&Dir, &Path),
) -> Result<PathBuf, PathError> {
    let mut free = wanted.to_path_buf();
    for number in 1..MOST_OF_A_NAME {
        match from.rename_new(name, to, &free) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            outcome => return outcome.map(|()| free),
        }
        let mut next = wanted.as_os_str().to_owned();
        next.push(format!(".{number}"));
        free = PathBuf::from(next);
    }
    from.rename_new(name, to, wanted).map(|()| wanted.to_path_buf())
}

/// Moves a source that is `kept` back to its name, or beside it if somebody made another file of that name.
pub(crate) fn give_back(
    (from, name): (&Dir, &Path),
    (to, own): (&Dir, &Path),
    kept: SourceKept,
) -> SourceKept {
    match move_beside((from, name), (to, own)) {
        Ok(free) => {
            let kept = kept.moved(&from.path_of(name), &to.path_of(&free));
            if free == own {
                return kept;
            }
            SourceKept::Renamed { kept: Box::new(kept), at: to.path_of(free) }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => error.into(),
        Err(cause) => SourceKept::Aside { at: from.path_of(name), path: to.path_of(own), cause },
    }
}

/// The path as a word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_moves_a_source_back_can_be_pasted() {
        let cause = std::io::Error::other("full");
        let kept = SourceKept::Aside {
            at: "/in/.aside".into(),
            path: "/in/d'Ana".into(),
            cause: PathError::new("rename", "/in/.aside", cause),
        };
        let command = r"`mv -n '/in/.aside' '/in/d'\''Ana'`";
        assert!(kept.to_string().contains(command), "{kept}");
    }
}
