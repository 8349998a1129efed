//! What is refused, where, and why.

use urepo::identity::{
    Host, Ibip, Identifier, Instant, LegacyLabel, ParseError, Prefix, RepositoryName,
};

use super::{names, text};

fn refusal(kind: &str, text: &str) -> Option<ParseError> {
    match kind {
        "repository" => text.parse::<RepositoryName>().err(),
        "prefix" => text.parse::<Prefix>().err(),
        "host" => text.parse::<Host>().err(),
        "instant" => text.parse::<Instant>().err(),
        "ibip" => text.parse::<Ibip>().err(),
        "ibip date" => ibip(text).instant().err(),
        "ibip address" => ibip(text).prefix().endpoint().err(),
        "legacy" => text.parse::<LegacyLabel>().err(),
        "pasted" => Identifier::read(text).err(),
        other => panic!("no kind {other}"),
    }
}

fn ibip(text: &str) -> Ibip {
    text.parse().expect("the row has two words of the alphabet")
}

#[test]
fn errors_point_at_the_fault_and_say_why() {
    for row in names("refused.toml", "refused") {
        let (kind, given) = (text(&row, "kind"), text(&row, "text"));
        let Some(error) = refusal(kind, given) else { panic!("{kind} `{given}` is accepted") };
        assert_eq!(error.excerpt(), text(&row, "excerpt").trim_end_matches('\n'), "{kind} {given}");
    }
}

#[test]
fn the_message_is_one_line() {
    let error = "sid.inpe.br/mtc-m18@80/2009/02.30.17.46".parse::<RepositoryName>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid repository name `sid.inpe.br/mtc-m18@80/2009/02.30.17.46`"
    );
    assert_eq!(error.expected(), "February 2009 has no day 30");
    assert_eq!(&error.text()[error.span()], "30");
    assert_eq!(error.column(), 32);
}

#[test]
fn columns_count_characters() {
    let error = "çã.inpe.br/é/2009/02.16.17.46".parse::<RepositoryName>().unwrap_err();
    assert_eq!((error.column(), error.span()), (1, 0..2));
    let error = Identifier::read("çã <sid.inpe.br/x/2009/02.30.17.46>").unwrap_err();
    assert_eq!(error.column(), 27);
}

#[test]
fn a_long_text_is_clipped_around_the_fault() {
    let error = format!("{}/é/2009/02.16.17.46", "a.".repeat(100) + "br").parse::<RepositoryName>();
    assert_eq!(
        error.unwrap_err().excerpt(),
        "  ….a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.br/é/2009/02.16.17.46\n  \
         \x20                                        ^ `é` where a letter, digit or hyphen is expected"
    );
    let error = Identifier::read(&"x".repeat(1_000_000)).unwrap_err();
    assert!(error.to_string().len() < 200 && error.excerpt().len() < 400);
}
