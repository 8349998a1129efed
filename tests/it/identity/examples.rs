//! Worked examples of the standard and identifiers in the field.

use std::net::IpAddr;

use urepo::identity::{
    Civil, Host, Ibip, IbipPrefix, Identifier, Instant, LegacyLabel, Oddity, Pasted, Prefix,
    RepositoryName, SECOND, Separator, is_suffix_leaf, parse_suffix,
};

use super::{generation, names, number, text};

fn name(text: &str) -> RepositoryName {
    text.parse().expect("a repository name")
}

fn ibip(text: &str) -> Ibip {
    text.parse().expect("an IBIp")
}

fn instant(text: &str) -> Instant {
    text.parse().expect("an instant")
}

#[test]
fn names_of_the_standard_come_apart() {
    for row in generation("repository") {
        let name = name(text(&row, "name"));
        let prefix = name.prefix();
        assert_eq!(name.to_string(), text(&row, "name"));
        assert_eq!(prefix.host().as_str(), text(&row, "host"));
        assert_eq!(prefix.port(), number(&row, "port").unwrap_or(80));
        let separator = match text(&row, "separator") {
            "@" => Some(Separator::At),
            "." => Some(Separator::Dot),
            _ => None,
        };
        assert_eq!(prefix.separator(), separator);
        assert_eq!(name.instant(), instant(text(&row, "instant")));
        assert!(name.is_shortest());
    }
}

#[test]
fn case_makes_no_difference() {
    for row in generation("equivalent") {
        let (a, b) = (text(&row, "a"), text(&row, "b"));
        assert_eq!(Identifier::read(a).unwrap(), Identifier::read(b).unwrap());
        assert_ne!(a, b);
    }
}

#[test]
fn dates_of_the_standard_give_both_suffixes() {
    let prefix: Prefix = "sid.inpe.br/mtc-m18".parse().unwrap();
    let ibip_prefix: IbipPrefix = "8JMKD3MGP8W".parse().unwrap();
    for row in generation("suffix") {
        let date = Instant::from_seconds(number(&row, "posix").unwrap());
        let repository = text(&row, "repository");
        assert_eq!(date.suffix(), repository);
        assert_eq!(parse_suffix(repository).unwrap(), date);
        assert_eq!(RepositoryName::new(&prefix, date).unwrap().suffix(), repository);
        let ibip = Ibip::new(&ibip_prefix, date).unwrap();
        assert_eq!(ibip.suffix(), text(&row, "ibip"));
        assert_eq!(ibip.instant().unwrap(), date);
    }
}

#[test]
fn numbers_of_the_standard_are_suffixes() {
    let prefix: IbipPrefix = "8JMKD3MGP8W".parse().unwrap();
    for row in generation("number") {
        // The longest is no number of seconds; it is tested as an address.
        let Ok(seconds) = text(&row, "value").parse::<i128>() else { continue };
        let date = Instant::IBIP_EPOCH.checked_add(seconds * SECOND).unwrap();
        if let Some(ibip) = Ibip::new(&prefix, date) {
            assert_eq!(ibip.suffix(), text(&row, "base27"));
        }
    }
}

#[test]
fn addresses_of_the_standard_give_prefixes() {
    for row in generation("ip") {
        let address: IpAddr = text(&row, "address").parse().unwrap();
        let port = number(&row, "port").unwrap();
        let prefix = IbipPrefix::new(address, port).unwrap();
        assert_eq!(prefix.as_str(), text(&row, "prefix"));
        assert_eq!(prefix.endpoint().unwrap(), (address, port).into());
    }
    assert_eq!(IbipPrefix::new([127, 0, 0, 1].into(), 800).unwrap().as_str(), "LK47B6W");
    assert_eq!("lk47b6w34m".parse::<IbipPrefix>().unwrap().endpoint().unwrap().port(), 802);
}

#[test]
fn both_forms_of_one_item_agree_on_the_date() {
    for row in generation("pair") {
        let (name, ibip) = (name(text(&row, "repository")), ibip(text(&row, "ibip")));
        assert_eq!(name.instant(), ibip.instant().unwrap());
        let made = Ibip::new(&ibip.prefix(), name.instant()).unwrap();
        assert_eq!(made.as_str(), ibip.as_str());
    }
}

#[test]
fn names_in_the_field_are_accepted() {
    for text in [
        "dpi.inpe.br/banon/1995/09.01.10.50",
        "dpi.inpe.br/banon/1995/08.08.00.00",
        "dpi.inpe.br/banon/1998/08.02.08.56",
        "sid.inpe.br/iris@1912/2005/07.20.00.37.33",
        "iconet.com.br/banon/2009/09.09.22.01",
        "iconet.com.br/banon/2003/11.21.21.08",
        "urlib.net/www/2014/03.25.23.20",
        "sid.inpe.br/MTC-m13@80/2005/10.28.17.30.05",
        "sid.inpe.br/mtc-m21d/2022/08.11.11.21",
        "sid.inpe.br/mtc-m21/2012/06.05.15.34.39",
    ] {
        let (found, oddities) = RepositoryName::parse_as_found(text).unwrap();
        assert_eq!((found.as_str(), oddities.as_slice()), (text, [].as_slice()));
        assert_eq!(name(text), found);
    }
}

#[test]
fn an_odd_name_is_kept_with_a_warning() {
    let text = "sid.inpe.br/maria_souza/2010/10.20.15.14.06";
    assert_eq!(
        text.parse::<RepositoryName>().unwrap_err().expected(),
        "underscore; words are of letters, digits and hyphens"
    );
    let (name, oddities) = RepositoryName::parse_as_found(text).unwrap();
    assert_eq!(name.as_str(), text);
    assert_eq!(oddities, [Oddity::Underscore]);

    let long = format!("{0}.{0}.{0}.br/-x/2010/10.20.15.14", "a".repeat(70));
    let (_, oddities) = RepositoryName::parse_as_found(&long).unwrap();
    assert_eq!(oddities, [Oddity::LongLabel(70), Oddity::HyphenAtEdge]);
}

#[test]
fn a_generator_writes_lower_case_and_the_shortest_prefix() {
    let host: Host = "MTC-m18.sid.INPE.br.".parse().unwrap();
    assert_eq!(host.as_str(), "mtc-m18.sid.inpe.br");
    assert_eq!(Prefix::new(&host, 80).unwrap().as_str(), "sid.inpe.br/mtc-m18");
    assert_eq!(Prefix::new(&host, 8080).unwrap().as_str(), "sid.inpe.br/mtc-m18.8080");
    // A subsystem known by another spelling keeps it.
    let prefix: Prefix = "sid.INPE.br./MTC-m18@80".parse().unwrap();
    assert_eq!(prefix.path_components(), ("sid.INPE.br".to_owned(), "MTC-m18@80".to_owned()));
    assert_eq!(
        RepositoryName::new(&prefix, instant("2026-11-21T02:13:00.050Z")).unwrap().as_str(),
        "sid.inpe.br/mtc-m18@80/2026/11.21.02.13.00.05"
    );
}

#[test]
fn spellings_of_one_port_or_date_are_different_names() {
    let prefixes = ["", ".80", "@80", ".080"].map(|port| {
        let prefix: Prefix = format!("sid.inpe.br/mtc-m18{port}").parse().unwrap();
        assert_eq!(prefix.port(), 80);
        prefix
    });
    let suffixes = ["17.46", "17.46.00", "17.46.00.0", "17.46.00.00"].map(|time| {
        let name = name(&format!("sid.inpe.br/mtc-m18/2009/02.16.{time}"));
        assert_eq!(name.instant(), instant("2009-02-16T17:46:00Z"));
        name
    });
    for (at, (prefix, suffix)) in prefixes.iter().zip(&suffixes).enumerate() {
        assert!(prefixes[..at].iter().all(|other| other != prefix));
        assert!(suffixes[..at].iter().all(|other| other < suffix));
        assert_eq!(suffix.is_shortest(), at == 0);
    }
}

#[test]
fn a_trailing_dot_is_read_and_makes_no_difference() {
    let (dotted, plain) = (
        name("sid.inpe.br./mtc-m18/2009/02.16.17.46"),
        name("sid.inpe.br/mtc-m18/2009/02.16.17.46"),
    );
    assert_eq!(dotted, plain);
    assert_eq!(dotted.components(), ["sid.inpe.br", "mtc-m18", "2009", "02.16.17.46"]);
    assert_eq!(dotted.to_string(), "sid.inpe.br./mtc-m18/2009/02.16.17.46");
    assert_eq!(dotted.folded(), plain.as_str());
}

#[test]
fn fractions_keep_all_their_digits() {
    let [less, more] = ["123456789001", "123456789002"]
        .map(|digits| name(&format!("sid.inpe.br/mtc-m18/2009/02.16.17.46.05.{digits}")));
    assert!(less < more);
    assert_eq!(less.instant(), more.instant());
    assert_eq!(less.instant().subsecond(), 123_456_789);
    assert!(less.is_shortest());
}

#[test]
fn years_go_on() {
    let name = name("sid.inpe.br/mtc-m18/999999999/12.31.23.59.59");
    assert_eq!(name.instant().to_string(), "999999999-12-31T23:59:59Z");
    assert_eq!(name.instant().suffix(), name.suffix());
    let civil = Civil { year: -4, month: 2, day: 29, hour: 0, minute: 0, second: 0, nanosecond: 1 };
    let leap_day = Instant::from_civil(civil).unwrap();
    assert_eq!(leap_day.to_string(), "-0004-02-29T00:00:00.000000001Z");
    assert_eq!(instant("-0004-02-29T00:00:00.000000001Z").civil(), civil);
    // Whatever can be counted can be shown.
    assert!(Instant::from_nanoseconds(i128::MIN).to_string().starts_with('-'));
    assert!(Instant::from_nanoseconds(i128::MAX).suffix().contains('/'));
}

#[test]
fn instants_are_exact() {
    let (earlier, later) = (instant("1969-12-31T23:59:59.7Z"), instant("1970-01-01T00:00:01.2Z"));
    assert_eq!(later.duration_since(earlier), Some(std::time::Duration::from_millis(1500)));
    assert_eq!(earlier.duration_since(later), None);
    assert_eq!((earlier.seconds(), earlier.subsecond()), (-1, 700_000_000));
    assert_eq!(earlier.floor(60 * SECOND), instant("1969-12-31T23:59:00Z"));
    assert_eq!(earlier.checked_add(1_500_000_000), Some(later));
    assert_eq!(later.checked_add(i128::MAX), None);
}

#[test]
fn the_ibip_begins_with_its_epoch_and_ends_with_the_years() {
    let prefix: IbipPrefix = "LK47B6W".parse().unwrap();
    let suffix = |date| Ibip::new(&prefix, date).map(|ibip| ibip.suffix().to_owned());
    assert_eq!(suffix(Instant::IBIP_EPOCH.checked_add(-1).unwrap()), None);
    assert_eq!(suffix(Instant::IBIP_EPOCH).as_deref(), Some("2"));
    let last = instant("999999999-12-31T23:59:59.999999999Z");
    assert_eq!(Ibip::new(&prefix, last).unwrap().instant().unwrap(), last);
    assert_eq!(suffix(last.checked_add(1).unwrap()), None);
}

#[test]
fn leading_zeros_of_a_fraction_are_not_lost() {
    let prefix: IbipPrefix = "LK47B6W".parse().unwrap();
    for (fraction, ending) in [("5", "W7"), ("05", "W27"), ("005", "W227"), ("25", "WT")] {
        let date = instant(&format!("2009-02-16T17:46:00.{fraction}Z"));
        let ibip = Ibip::new(&prefix, date).unwrap();
        assert_eq!(ibip.suffix(), format!("34PGRBS{ending}"));
        assert_eq!(ibip.instant().unwrap(), date);
    }
}

#[test]
fn every_kind_of_address_comes_back() {
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "1::",
        "0:2:3:4:5:6:7:8",
        "0:2::",
        "::ffff:1.2.3.4",
        "::1.2.3.4",
        "1:0:0:2:0:0:0:3",
        "1:0:0:2:3:0:0:4",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db8:0:1:1:1:1:1",
    ] {
        let address: IpAddr = address.parse().unwrap();
        for port in [1, 80, 799, 800, 801, 65535] {
            let prefix = IbipPrefix::new(address, port).unwrap();
            assert_eq!(prefix.endpoint().unwrap(), (address, port).into());
        }
    }
    assert!(IbipPrefix::new([0, 1, 2, 3].into(), 800).unwrap().as_str().starts_with('2'));
    assert!(IbipPrefix::new([127, 0, 0, 1].into(), 0).is_err());
}

#[test]
fn a_label_from_before_2009_tells_its_date() {
    let label: LegacyLabel = "83LX3pFwXQZeBBx/65ij".parse().unwrap();
    assert_eq!(label.instant().unwrap(), instant("1995-08-08T00:00:00Z"));
    assert_ne!(label, "83lx3pfwxqzebbx/65ij".parse().unwrap());
    assert!(label.as_str().parse::<Ibip>().is_err());
    // The alphabets overlap: such a label is looked up as given first.
    let either = ibip("83LX3pFw/65kj");
    assert_eq!(either.as_str().parse::<LegacyLabel>().unwrap().as_str(), "83LX3pFw/65kj");
}

#[test]
fn directories_of_a_suffix_are_told_apart() {
    for (year, leaf) in
        [("2009", "02.16.17.46"), ("2005", "07.20.00.37.33"), ("12009", "02.16.17.46.05.5")]
    {
        assert!(is_suffix_leaf(year, leaf), "{year}/{leaf}");
    }
    for (year, leaf) in [
        ("209", "02.16.17.46"),
        ("2009", "02.30.17.46"),
        ("2009", "02.16.17.46."),
        ("doc", "a.pdf"),
        ("2009x", "02.16.17.46"),
        ("2009", "02.16.17.46.5"),
        ("2009", ""),
        ("2009", "02.16.17.46/doc"),
    ] {
        assert!(!is_suffix_leaf(year, leaf), "{year}/{leaf}");
    }
}

#[test]
fn identifiers_are_read_out_of_what_people_paste() {
    for row in names("pasted.toml", "pasted") {
        let pasted = match Pasted::read(text(&row, "text")) {
            Ok(pasted) => pasted,
            Err(error) => panic!("{error}\n{}", error.excerpt()),
        };
        let form = match &pasted.identifier {
            Identifier::Repository(_) => "",
            Identifier::Ibip(_) => "ibip",
            Identifier::Legacy(_) => "legacy",
        };
        let found = (pasted.identifier.as_str(), form, pasted.rest);
        assert_eq!(found, (text(&row, "identifier"), text(&row, "form"), text(&row, "rest")));
        let twin = pasted.twin.as_ref().map_or("", Identifier::as_str);
        assert_eq!(twin, text(&row, "twin"));
    }
}

#[test]
fn serialized_identifiers_are_texts() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Record {
        name: RepositoryName,
        ibip: Ibip,
        prefix: Prefix,
        next: Identifier,
    }
    // What was taken in with a warning is read back.
    let written = "name = \"sid.inpe.br/maria_souza/2010/10.20.15.14.06\"\n\
                   ibip = \"LK47B6W/362SFKH\"\n\
                   prefix = \"sid.inpe.br/mtc-m18@80\"\n\
                   next = \"83LX3pFwXQZeBBx/65ij\"\n";
    let record: Record = toml::from_str(written).unwrap();
    assert_eq!(toml::to_string(&record).unwrap(), written);
    let error = toml::from_str::<Record>(&written.replace("10.20.15", "02.30.15")).unwrap_err();
    assert!(error.message().ends_with("February 2010 has no day 30"), "{error}");
}
