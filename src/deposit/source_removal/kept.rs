//! Why sources were not removed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::disk::copy::CopyError;
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
