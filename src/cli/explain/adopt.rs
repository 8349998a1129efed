//! Why an item is not taken in, and what to do about it.

use urepo::adopt::AdoptError;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl From<AdoptError> for Failure {
    fn from(error: AdoptError) -> Failure {
        let exit = match &error {
            AdoptError::Interrupted => Exit::Interrupted,
            AdoptError::OtherFile { .. } | AdoptError::TwoSpellings { .. } => Exit::Conflict,
            AdoptError::SidecarLost { .. } => Exit::Damage,
            _ => Exit::Failure,
        };
        let hint = match &error {
            AdoptError::NoPayload { name } => {
                format!("make `{name}/doc`, move the files into it, and repeat the command")
            }
            AdoptError::NotADirectory { .. } => {
                "put a directory in its place, and repeat the command".to_owned()
            }
            AdoptError::Special { .. } => {
                "move it out of the way: items hold files, directories and links".to_owned()
            }
            AdoptError::LinkLeaves { .. } => {
                "put in its place what it points to, or move it out of the way".to_owned()
            }
            AdoptError::Changing { .. } => "repeat the command when nobody writes to it".to_owned(),
            AdoptError::Time { .. } => "`touch` gives it another time".to_owned(),
            AdoptError::OtherFile { name, .. } => {
                format!("`urepo verify {name}` says what is wrong with it; it is not overwritten")
            }
            AdoptError::SidecarLost { name } => {
                format!("`urepo repair {name} --from COLLECTION` brings it back from a good copy")
            }
            AdoptError::TwoSpellings { .. } => {
                "find out which is the true one, move the other away, and repeat".to_owned()
            }
            AdoptError::TooManyFiles { .. } => "divide it into several items".to_owned(),
            AdoptError::NotDurable { name, .. } => {
                format!("check the disk, then `urepo verify {name}`")
            }
            AdoptError::Interrupted | AdoptError::GroupFailed => return Failure::of(exit, &error),
            AdoptError::Original(_) | AdoptError::Collection(_) | AdoptError::Disk(_) => {
                return match error {
                    AdoptError::Original(error) => error.into(),
                    AdoptError::Collection(error) => error.into(),
                    AdoptError::Disk(error) => error.into(),
                    error => Failure::of(exit, &error),
                };
            }
        };
        Failure::of(exit, &error).hint(hint)
    }
}
