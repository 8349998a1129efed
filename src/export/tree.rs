//! An item as a directory in a stage.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::ExportError;
use super::sink::Sink;
use crate::disk::{Dir, FileStat, HoleWriter, PageCacheDropper, StoredFile, WriteBack};

/// Creates files and directories in a private stage, where no other user can plant links.
pub(super) struct StagedTree<'a> {
    stage: &'a Dir,
    file: Option<OpenFile>,
    dropper: PageCacheDropper,
    /// Directories that get their modes and times when they are complete.
    directories: Vec<(PathBuf, FileStat)>,
}

/// The file being written.
struct OpenFile {
    file: StoredFile,
    stamp: FileStat,
    written: u64,
    holes: HoleWriter,
    write_back: WriteBack,
}

impl<'a> StagedTree<'a> {
    pub(super) fn new(stage: &'a Dir) -> StagedTree<'a> {
        StagedTree { stage, file: None, dropper: PageCacheDropper::new(), directories: Vec::new() }
    }
}

impl Sink for StagedTree<'_> {
    fn directory(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError> {
        self.stage.make_dir(path)?;
        self.directories.push((path.to_path_buf(), *stamp));
        Ok(())
    }

    fn link(&mut self, path: &Path, target: &[u8], stamp: &FileStat) -> Result<(), ExportError> {
        self.stage.make_link(OsStr::from_bytes(target), path)?;
        Ok(self.stage.set_link_time(path, stamp.modified)?)
    }

    fn begin(&mut self, path: &Path, stamp: &FileStat) -> Result<(), ExportError> {
        let file = self.stage.create_file_with_mode(path, stamp.permission_bits())?;
        let (holes, write_back) = (HoleWriter::default(), WriteBack::default());
        self.file = Some(OpenFile { file, stamp: *stamp, written: 0, holes, write_back });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        let Some(open) = &mut self.file else { return Ok(()) };
        open.holes.write(&mut open.file, bytes)?;
        open.written += bytes.len() as u64;
        open.write_back.has(&open.file, open.written);
        Ok(())
    }

    fn end(&mut self) -> Result<(), ExportError> {
        if let Some(OpenFile { mut file, stamp, written, holes, write_back }) = self.file.take() {
            holes.end(&mut file)?;
            file.set_attributes(stamp.attributes())?;
            write_back.ends(&file, written);
            self.dropper.follow(file, written);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        // Deepest first: a directory comes before everything below it.
        for (path, stamp) in self.directories.drain(..).rev() {
            self.stage.set_attributes_at(&path, stamp.attributes())?;
        }
        Ok(())
    }
}
