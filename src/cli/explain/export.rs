//! Why an item is not exported, and what to do about it.

use std::path::Path;

use urepo::export::ExportError;

use super::Room;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Failure {
        let exit = match &error {
            ExportError::Deleted { .. } => Exit::Deleted,
            ExportError::Damaged { .. } => Exit::Damage,
            ExportError::Changed { .. }
            | ExportError::Exists { .. }
            | ExportError::InCollection { .. } => Exit::Conflict,
            ExportError::Interrupted => Exit::Interrupted,
            _ => Exit::Failure,
        };
        let hint = match error {
            ExportError::Collection(error) => return error.into(),
            ExportError::Disk(error) => return error.into(),
            ExportError::Stream(error) => {
                return Failure::new(Exit::Failure, "cannot write to stdout")
                    .caused_by(error.to_string());
            }
            ExportError::NoRoom { name, needed, unit, free, place } => {
                let path = Path::new(name.as_str());
                return Room { path, needed, unit, free, collection: &place }.lacking(exit);
            }
            ExportError::Interrupted | ExportError::GroupFailed => {
                return Failure::of(exit, &error);
            }
            ExportError::Deleted { ref name } => {
                format!("`urepo restore {name}` brings it back until it is purged")
            }
            ExportError::Damaged { ref name, ref collection, .. } => {
                format!(
                    "`urepo -c {} repair {name}` mends it from a good copy",
                    shell::word(collection)
                )
            }
            ExportError::Changed { .. } => "repeat the command".to_owned(),
            ExportError::Exists { .. } => {
                "nothing is replaced; remove it, or name another directory with `--to`".to_owned()
            }
            ExportError::Link { .. } => "`--links follow` puts the files that links lead to in \
                 their place, `--links skip` leaves links out; tar keeps them"
                .to_owned(),
            ExportError::LinkAstray { .. } => {
                "`--links skip` leaves links out; tar keeps them".to_owned()
            }
            ExportError::NotUtf8 { .. } => "`--format tar` keeps any name".to_owned(),
            ExportError::InCollection { .. } => {
                "name a directory outside of it with `--to`".to_owned()
            }
            ExportError::NotDurable { .. } => "check the disk, and export it again".to_owned(),
        };
        Failure::of(exit, &error).hint(hint)
    }
}
