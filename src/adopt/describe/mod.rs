//! The description of an item, from a reference in BibTeX.

mod person;
mod reader;

use self::reader::ReferenceReader;
use super::Note;
use super::bibtex::{Library, Reference};
use super::labels::{label, words};
use crate::identity::{Ibip, Identifier, Instant, RepositoryName};
use crate::item::State;
use crate::sidecar::{Metadata, Relations};

/// The description of an item: everything known about it besides its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Description {
    pub metadata: Metadata,
    pub ibip: Option<Ibip>,
    /// The target of the bare identifier: the name in the reference without escapes, and read as LaTeX.
    pub target: Option<[String; 2]>,
    pub state: Option<State>,
    /// The last update, as the reference gives it.
    pub updated: Option<Instant>,
    pub relations: Relations,
    /// Whether an entry was used, and its statement about the state was understood.
    pub is_clear: bool,
    pub notes: Vec<Note>,
}

impl Description {
    /// The description of `item`, from the entry of `library` that names it, or from the only entry if that
    /// names no other item.
    pub(super) fn of(library: &Library, item: &RepositoryName) -> Description {
        let references = &library.references;
        let names_it = |reference: &&Reference| named(reference).as_ref() == Some(item);
        let chosen = match (references.iter().find(names_it), references.as_slice()) {
            (Some(reference), _) => reference,
            (None, [only]) => match named(only) {
                Some(other) => return Description::noting(Note::OfAnother(other)),
                None => only,
            },
            (None, []) => return ReferenceReader::new(item).finish(&library.unread),
            (None, several) => return Description::noting(Note::Several(several.len())),
        };
        let mut reader = ReferenceReader::new(item);
        reader.found.is_clear = true;
        reader.reference(chosen);
        reader.finish(&library.unread)
    }

    pub(super) fn noting(note: Note) -> Description {
        Description { notes: vec![note], ..Description::default() }
    }
}

/// The item that a reference names as its own.
fn named(reference: &Reference) -> Option<RepositoryName> {
    let fields = reference.fields.iter().filter(|field| {
        matches!(folded(&field.name).as_str(), "repository" | "rep" | "ibi" | "identifier")
    });
    let texts = fields.filter_map(|field| field.value.as_deref());
    texts.flat_map(words).find_map(|word| match label(&word) {
        Some(Identifier::Repository(name)) => Some(name),
        _ => None,
    })
}

/// Names of fields are spelt in many ways: `last-update`, `lastupdate`.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::bibtex::read;
    use super::*;
    use crate::collection::UrlBase;
    use crate::custody::{Custody, CustodyId};
    use crate::export::MetadataFormat;
    use crate::sidecar::{RelationKind, Sidecar};

    const NAME: &str = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46";

    fn describe(text: &str) -> Description {
        Description::of(&read(text), &NAME.parse().unwrap())
    }

    #[test]
    fn a_real_record_is_understood() {
        let found = describe(
            r#"@InProceedings{BanonBano:2009:OnIde,
              author = "Banon, Gerald Jean Francis and Ribeiro, Marcos and {INPE}",
               title = "Preserva{\c{c}}{\~a}o da mem{\'o}ria",
            booktitle = "Anais...",
                year = "2009", month = feb,
            keywords = "archive, identifier.", language = "Portugu{\^e}s",
           publisher = {INPE}, abstract = {One.
               Two.},
                 ibi = "8JMKD3MGP8W/34PGRBS, 83LX3pFwXQZeBBx/65ij",
                 url = "http://urlib.net/8JMKD3MGP8W/34PGRBS",
          targetfile = "paper\_1.pdf",
  metadatarepository = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46.30",
         last-update = "2017:05.17.17.45.29 (UTC) banon",
                isbn = "85-1",
      nexthigherunit = {8JMKD3MGPCW/46KUATE 8JMKD3MGPCW/46KUBT5},
      originalorcopy = {Copy}
        }"#,
        );
        let expected = r#"
            type = "InProceedings"
            title = "Preservação da memória"
            creator = ["Banon, Gerald Jean Francis", "Ribeiro, Marcos", "INPE"]
            date = "2009-02"
            subject = ["archive", "identifier"]
            language = "pt"
            publisher = "INPE"
            abstract = "One. Two."
            booktitle = "Anais..."
            identifier = ["isbn:85-1", "83LX3pFwXQZeBBx/65ij"]
            [x]
            citationkey = "BanonBano:2009:OnIde"
        "#;
        assert_eq!(*found.metadata.table(), expected.parse::<toml::Table>().unwrap());
        assert_eq!(found.ibip, Some("8JMKD3MGP8W/34PGRBS".parse().unwrap()));
        assert_eq!(found.target, Some(["paper_1.pdf", "paper_1.pdf"].map(str::to_owned)));
        assert_eq!(found.updated.unwrap().to_string(), "2017-05-17T17:45:29Z");
        assert_eq!(found.state, Some(State::Copy));
        let metadata = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46.30".parse().unwrap();
        assert_eq!(found.relations.first(&RelationKind::Metadata), Some(metadata));
        let units: Vec<_> = found.relations.of(&RelationKind::PartOf).collect();
        assert_eq!(
            units,
            ["8JMKD3MGPCW/46KUATE", "8JMKD3MGPCW/46KUBT5"].map(|it| it.parse().unwrap())
        );
        assert_eq!(found.notes, []);
    }

    #[test]
    fn what_is_odd_is_told_and_kept() {
        let found = describe(
            "@misc{k, title = {A \\frob{b}}, ibip = {8JMKD3MGP8W/34PGRBT nonsense/??}, \
             language = {Klingon}, lastupdate = {yesterday}, tite {x}}",
        );
        let ibip: Ibip = "8JMKD3MGP8W/34PGRBT".parse().unwrap();
        assert_eq!(found.ibip.as_ref(), Some(&ibip));
        let unclear = ["title", "lastupdate", "what is no entry"].map(str::to_owned).to_vec();
        assert_eq!(
            found.notes,
            [
                Note::NoIdentifier { field: "ibip".into(), text: "nonsense/??".into() },
                Note::OtherDate(ibip),
                Note::NotUnderstood(unclear),
            ]
        );
        let own = found.metadata.table()["x"].as_table().unwrap();
        assert_eq!(own["language"].as_str(), Some("Klingon"));
        let raw = own["bibtex"].as_array().unwrap();
        assert_eq!(raw[0].as_str(), Some("title = {A \\frob{b}}"));
        assert_eq!(raw[2].as_str(), Some("tite {x}}"));
    }

    /// The description that `found` has after it was exported as BibTeX and read again.
    fn again(found: &Description) -> Metadata {
        let custody = Custody::first(CustodyId::from([0; 8]), "");
        let sidecar = Sidecar::of_name(NAME.parse().unwrap(), custody);
        let sidecar = Sidecar { metadata: found.metadata.clone(), ..sidecar };
        let rendered =
            MetadataFormat::Bibtex.render(&sidecar, &UrlBase::default(), sidecar.created);
        without_key(describe(&String::from_utf8(rendered).unwrap()).metadata)
    }

    fn without_key(mut metadata: Metadata) -> Metadata {
        metadata.remove("x.citationkey").unwrap();
        metadata
    }

    #[test]
    fn terms_of_references_come_back() {
        for text in [
            r#"@phdthesis{k, author = {Marcos de Souza}, title = {Sombras}, school = {UFP},
               type = {Doutorado em F{\'i}sica}, year = 2004, supervisor = {Prado, L{\'i}gia},
               address = {Aurora}, extent = {142 f.}, keywords = {radar, nuvens}, language = {pt}}"#,
            r#"@techreport{k, author = {Rui Nunes and others}, title = {Diques}, institution = {Servi{\c c}o},
               type = {Relat{\'o}rio}, number = 12, date = {1978~}, note = {Um & dois}}"#,
            r#"@incollection{k, author = {{Casa, da Ponte}}, editor = {Guido Levy and Jaime do Porto},
               title = {O rio}, booktitle = {Margens}, pages = {7--16}, edition = 2, volume = 3,
               publisher = {{\'A}guas}, location = {S{\~a}o Paulo}, year = 1996, copyright = {CC-BY-4.0}}"#,
            r#"@misc{k, title = {Cheia}, author = {Plat{\~a}o}, recipient = {Velho, Mois{\'e}s},
               year = {n.d.}, entrysubtype = {letter}, city = {Porto}, version = {2.1},
               illustrator = {Paulo Lyra}, translator = {Alva da Rocha}, contributor = {INPE}}"#,
            r#"@inproceedings{k, author = {Bastos, A.}, title = {Tempo}, booktitle = {Anais},
               eventtitle = {Simp{\'o}sio, 9.}, series = {Notas}, pages = {e7}, year = {ca. 1994}}"#,
            r#"@article{k, author = {King, Jr., Martin}, title = {T}, journaltitle = {J}, issue = 4}"#,
            r#"@unpublished{k, author = {Bastos, A.}, title = {T}, note = {Unpublished manuscript}}"#,
        ] {
            let found = describe(text);
            assert_eq!(found.notes, [], "{text}");
            let metadata = without_key(found.metadata.clone());
            assert_eq!(again(&found), metadata, "{text}");
            assert!(metadata.table().get("x").is_none(), "{metadata:?}");
        }
    }

    #[test]
    fn marks_of_what_is_unknown_are_no_values() {
        let found = describe(
            "@book{k, title = {[Sem t{\\'i}tulo]}, author = {:unav}, publisher = {[s. n.]}, \
             address = {[S. l.]}, year = {[s. d.]}, institution = {:unav}}",
        );
        let expected = "type = \"book\"\n[x]\ncitationkey = \"k\"".parse::<toml::Table>().unwrap();
        assert_eq!(*found.metadata.table(), expected);
        let found = describe("@book{k, title = {Untitled}, address = {SL}, year = {0000}}");
        assert_eq!(found.metadata.title(), Some("Untitled"));
        assert_eq!(found.metadata.values("place").unwrap(), ["SL"]);
        assert_eq!(found.metadata.values("date").unwrap(), [""; 0]);
    }

    #[test]
    fn fields_of_refer_are_terms() {
        let found = describe(
            "%0 Thesis\n%A Souza, Marcos\n%Y Prado, Lígia\n%? Alva da Rocha\n%T Sombras\n%I UFP\n%C Aurora\n\
             %D 2004\n%8 9 March\n%7 2\n%9 Doutorado\n%P 142\n%S Notas\n",
        );
        let expected = r#"
            type = "Thesis"
            title = "Sombras"
            creator = ["Souza, Marcos"]
            advisor = ["Prado, Lígia"]
            translator = ["Rocha, Alva da"]
            publisher = "UFP"
            place = "Aurora"
            date = "2004-03-09"
            edition = "2"
            degree = "Doutorado"
            pages = "142"
            series = "Notas"
        "#;
        assert_eq!(*without_key(found.metadata).table(), expected.parse::<toml::Table>().unwrap());
    }

    #[test]
    fn the_entry_of_the_item_is_chosen() {
        let other = "@misc{a, title={Other}, repository={dpi.inpe.br/banon/1995/08.08.00.00}}";
        let own = format!("@misc{{b, title={{Own}}, repository={{{NAME}}}}}");
        let found = describe(&format!("{other}\n{own}"));
        assert_eq!(found.metadata.title(), Some("Own"));
        let found = describe(other);
        assert_eq!(found.metadata, Metadata::default());
        assert!(matches!(found.notes[..], [Note::OfAnother(_)]));
        let found = describe("@misc{a, title={A}} @misc{b, title={B}}");
        assert_eq!(found.notes, [Note::Several(2)]);
    }
}
