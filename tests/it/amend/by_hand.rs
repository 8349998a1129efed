//! Sidecars with comments and keys of people are changed, or refused before anything is changed.

use urepo::digest::Digest;

use super::*;

impl Archive {
    /// Changes the text of a sidecar, and seals it.
    fn seal(&self, change: impl FnOnce(String) -> String) {
        let text = self.text();
        let text = change(text.rsplit_once("[seal]\n").unwrap().0.to_owned());
        let seal = Digest::of(text.as_bytes());
        fs::write(self.file(), format!("{text}[seal]\nsha256 = \"{seal}\"\n")).unwrap();
    }

    fn run(&self, line: &str) -> crate::support::Ran {
        self.world.run(&format!("-c archive {line}").replace("ITEM", &self.name))
    }
}

#[test]
fn a_comment_in_the_head_blocks_nothing() {
    for (from, to) in
        [("\"Letter\"", "\"Letter\" # by Ana"), ("format = 1", "format = 1\nshelf = 3 # by Ana")]
    {
        let archive = Archive::new();
        archive.entitle("Letter").unwrap();
        archive.seal(|text| text.replacen(from, to, 1));
        archive.world.write("carta.txt", "Cara");
        let other = archive.run("new carta.txt --language pt").line();
        archive.run("meta set ITEM x.box=1").succeeded();
        archive.run("meta set ITEM x.box=2 x.shelf=3").succeeded();
        archive.run("meta set ITEM x.shelf=").succeeded();
        archive.run(&format!("meta set ITEM translation.pt={other}")).succeeded();
        archive.run(&format!("meta set ITEM relation.x.review={other}")).succeeded();
        let sidecar = archive.sidecar();
        assert_eq!(sidecar.metadata.values("x.box").unwrap(), ["2"]);
        assert_eq!(sidecar.metadata.values("x.shelf").unwrap(), [""; 0]);
        assert_eq!(sidecar.relations.iter().count(), 2);
        archive.run("meta set ITEM x.box=").succeeded();
        assert!(archive.text().contains("# by Ana"), "{}", archive.text());
        archive.world.run("verify archive").succeeded();
    }
}

/// A long text in which people have written.
#[test]
fn what_cannot_be_written_is_refused_by_the_plan() {
    let archive = Archive::new();
    change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
        let entry = sidecar.files[0].clone();
        let others = (0..30_000).map(|at| urepo::item::Entry {
            path: urepo::item::PayloadPath::from_text(&format!("n{at:06}")).unwrap(),
            ..entry.clone()
        });
        sidecar.files = [entry.clone()].into_iter().chain(others).collect::<Vec<_>>().into();
        sidecar.payload = urepo::item::Totals::of(&sidecar.files);
    });
    archive.seal(|text| text.replacen("mode = ", "scanned = true # by Ana\nmode = ", 1));
    let before = archive.text();
    archive.world.write("carta.txt", "Cara");
    let other = archive.run("new carta.txt").line();
    let theirs = archive.world.path("archive").join(&other).join("item.toml");
    let untouched = fs::read(&theirs).unwrap();
    archive
        .world
        .write("rows.csv", format!("identifier,title\n{other},Carta\n{},Letter\n", archive.name));
    for line in [
        "meta set ITEM x.k=1".to_owned(),
        "meta set ITEM x.k=1 --dry-run".to_owned(),
        "meta import rows.csv --dry-run".to_owned(),
        "meta import rows.csv".to_owned(),
        format!("meta set ITEM translation.pt={other}"),
        format!("meta set {other} translation_of=ITEM language=pt"),
    ] {
        let ran = archive.run(&line);
        assert_ne!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("cannot be changed without loss"), "{line}: {}", ran.stderr);
        assert!(archive.text() == before, "{line}");
        assert_eq!(fs::read(&theirs).unwrap(), untouched, "{line}");
    }
}
