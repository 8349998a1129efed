//! Leaves that hold for all identifiers.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use proptest::prelude::*;
use urepo::identity::{
    Civil, Host, Ibip, IbipPrefix, Identifier, Instant, LegacyLabel, Pasted, Prefix,
    RepositoryName, SECOND, is_suffix_leaf, parse_suffix,
};

fn host_word() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9]([a-zA-Z0-9-]{0,6}[a-zA-Z0-9])?"
}

fn prefix() -> impl Strategy<Value = String> {
    let port = prop_oneof![
        Just(String::new()),
        ("[.@]0{0,2}", 1..=u16::MAX).prop_map(|(separator, port)| format!("{separator}{port}")),
    ];
    let last_word = "[a-zA-Z]([a-zA-Z0-9-]{0,3}[a-zA-Z0-9])?";
    (prop::collection::vec(host_word(), 0..3), last_word, r"\.?", host_word(), port).prop_map(
        |(mut words, last, dot, word, port)| {
            words.push(last);
            format!("{}{dot}/{word}{port}", words.join("."))
        },
    )
}

fn suffix() -> impl Strategy<Value = String> {
    let year = prop_oneof!["[0-9]{4}", "[0-9]{5,9}"];
    let second = prop_oneof![
        Just(String::new()),
        (0..60, r"(\.[0-9]{1,12})?")
            .prop_map(|(second, fraction)| format!(".{second:02}{fraction}")),
    ];
    (year, 1..=12, 1..=28, 0..24, 0..60, second).prop_map(
        |(year, month, day, hour, minute, second)| {
            format!("{year}/{month:02}.{day:02}.{hour:02}.{minute:02}{second}")
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    (prefix(), suffix()).prop_map(|(prefix, suffix)| format!("{prefix}/{suffix}"))
}

/// Names out of few parts, so that many are equal or differ little.
fn near_name() -> impl Strategy<Value = RepositoryName> {
    let subdomain = prop::sample::select(vec!["a.br", "A.Br", "a.br.", "a-b.br", "a"]);
    let word = prop::sample::select(vec!["w", "W", "w-1", "w.80", "w@80", "W@80", "w.080"]);
    let suffix = prop::sample::select(vec![
        "2009/02.16.17.46",
        "02009/02.16.17.46",
        "2009/02.16.17.46.00",
        "2009/02.16.17.46.00.5",
        "2009/02.16.17.46.00.50",
        "2009/02.16.17.46.00.05",
        "2009/02.16.17.46.00.0000000001",
        "12009/02.16.17.46",
    ]);
    (subdomain, word, suffix).prop_map(|(subdomain, word, suffix)| {
        format!("{subdomain}/{word}/{suffix}").parse().expect("the parts make a name")
    })
}

fn instant(years: std::ops::RangeInclusive<i128>) -> impl Strategy<Value = Instant> {
    let subsecond =
        prop_oneof![Just(0), (0..1000_u32).prop_map(|n| n * 1_000_000), 0..1_000_000_000_u32];
    (years, 1..=12_u32, 1..=31_u32, 0..86_400_u32, subsecond).prop_filter_map(
        "the calendar has no such day",
        |(year, month, day, second, nanosecond)| {
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            Instant::from_civil(Civil { year, month, day, hour, minute, second, nanosecond })
        },
    )
}

fn address() -> impl Strategy<Value = IpAddr> {
    let group = prop_oneof![3 => Just(0), 2 => 0..16_u16, 2 => any::<u16>()];
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        prop::array::uniform8(group).prop_map(IpAddr::from),
        any::<[u8; 4]>().prop_map(|bytes| std::net::Ipv4Addr::from(bytes).to_ipv6_mapped().into()),
    ]
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The same letters, some in the other case.
fn recased(text: &str, flips: u64) -> String {
    let flip = |(at, character): (usize, char)| match flips >> (at % 64) & 1 {
        0 => character.to_ascii_lowercase(),
        _ => character.to_ascii_uppercase(),
    };
    text.chars().enumerate().map(flip).collect()
}

/// Texts made of the pieces that matter to the readers.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("/".to_owned()),
        Just(".".to_owned()),
        Just("2009/02.16.17.46".to_owned()),
        Just("sid.inpe.br/mtc-m18".to_owned()),
        Just("8JMKD3MGP8W/34PGRBS".to_owned()),
        Just("?".to_owned()),
        Just(" ".to_owned()),
        Just("@80".to_owned()),
        Just("”)".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("-".to_owned()),
        Just(":".to_owned()),
        "[0-9]{1,5}",
        "[A-Za-z]{1,4}",
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        any::<String>()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn printing_what_was_read_keeps_the_spelling(text in name()) {
        let name: RepositoryName = text.parse().unwrap();
        prop_assert_eq!(name.to_string(), text.as_str());
        prop_assert_eq!(format!("{}/{}", name.prefix(), name.suffix()), text.as_str());
        prop_assert_eq!(name.prefix(), name.prefix().to_string().parse().unwrap());
        let [subdomain, word, year, leaf] = name.components();
        prop_assert!(is_suffix_leaf(year, leaf));
        prop_assert_eq!(&format!("{subdomain}/{word}/{year}/{leaf}").parse::<RepositoryName>().unwrap(), &name);
        prop_assert_eq!(parse_suffix(name.suffix()).unwrap(), name.instant());
        let (found, oddities) = RepositoryName::parse_as_found(&text).unwrap();
        prop_assert!(found == name && oddities.is_empty());
    }

    #[test]
    fn case_makes_no_difference_to_names(text in name(), flips: u64) {
        let (name, other) = (text.parse::<RepositoryName>().unwrap(), recased(&text, flips));
        let other: RepositoryName = other.parse().unwrap();
        prop_assert_eq!(&name, &other);
        prop_assert_eq!(hash(&name), hash(&other));
        prop_assert!(name.cmp(&other).is_eq());
        prop_assert_eq!(name.folded(), other.folded());
        prop_assert_eq!(hash(&name.prefix()), hash(&other.prefix()));
        prop_assert_eq!(name.prefix().host(), other.prefix().host());
    }

    #[test]
    fn equality_order_and_hash_agree(a in near_name(), b in near_name(), c in near_name()) {
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert_eq!(a == b, a.folded() == b.folded());
        prop_assert!(a != b || hash(&a) == hash(&b));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert!(!(a <= b && b <= c) || a <= c);
        let (p, q) = (a.prefix(), b.prefix());
        prop_assert_eq!(p == q, p.cmp(&q).is_eq());
        prop_assert_eq!(p == q, p.folded() == q.folded());
        prop_assert!(p != q || hash(&p) == hash(&q));
        // Within a prefix, the order is that of dates.
        prop_assert!(p == q || a.cmp(&b) == p.cmp(&q));
        prop_assert!(p != q || a > b || a.instant() <= b.instant());
    }

    #[test]
    fn case_makes_no_difference_to_ibips(
        text in "[2-9A-HJ-NP-UWX]{1,90}/[2-9A-HJ-NP-UWX]{1,9}", flips: u64,
    ) {
        let (ibip, other) = (text.parse::<Ibip>().unwrap(), recased(&text, flips));
        let other: Ibip = other.parse().unwrap();
        prop_assert_eq!(ibip.to_string(), text);
        prop_assert_eq!(&ibip, &other);
        prop_assert_eq!(hash(&ibip), hash(&other));
        prop_assert!(ibip.cmp(&other).is_eq());
        prop_assert_eq!(ibip.instant().ok(), other.instant().ok());
        prop_assert_eq!(ibip.prefix().endpoint().ok(), other.prefix().endpoint().ok());
    }

    #[test]
    fn an_ibip_decodes_to_what_was_encoded(
        address in address(), port in 1..=u16::MAX, date in instant(1996..=99_999),
    ) {
        let prefix = IbipPrefix::new(address, port).unwrap();
        let ibip = Ibip::new(&prefix, date).unwrap();
        let read: Ibip = ibip.to_string().parse().unwrap();
        prop_assert_eq!(read.prefix().endpoint().unwrap(), (address, port).into());
        prop_assert_eq!(read.instant().unwrap(), date);
        prop_assert!(read.has_separator());
        prop_assert_eq!(Identifier::read(read.as_str()).unwrap(), Identifier::Ibip(ibip));
    }

    #[test]
    fn an_ibip_that_decodes_is_encoded_the_same(text in "[2-9A-U]{1,2}[WX]?[2-9A-U]{0,3}/[2-9A-U]{1,5}(W[2-9A-U]{1,4})?") {
        let Ok(ibip) = text.parse::<Ibip>() else { return Ok(()) };
        if let Ok(date) = ibip.instant() {
            let again = Ibip::new(&ibip.prefix(), date).unwrap();
            // Zeros at the end of a fraction, which generators leave out, are all that may differ.
            prop_assert_eq!(again.instant().unwrap(), date);
        }
    }

    #[test]
    fn shortest_suffixes_come_back(prefix in prefix(), date in instant(0..=999_999_999)) {
        let prefix: Prefix = prefix.parse().unwrap();
        let name = RepositoryName::new(&prefix, date).unwrap();
        prop_assert_eq!(name.instant(), date);
        prop_assert_eq!(&name.prefix(), &prefix);
        prop_assert!(name.is_shortest());
        prop_assert_eq!(name.as_str(), name.folded());
        prop_assert_eq!(name.suffix(), date.suffix());
    }

    #[test]
    fn the_shortest_suffix_is_the_generators(text in name()) {
        let name: RepositoryName = text.parse().unwrap();
        let fraction = name.components()[3].get(15..).unwrap_or_default();
        // What an instant can not hold is only compared as text.
        prop_assume!(fraction.len() <= 9);
        prop_assert_eq!(name.is_shortest(), name.suffix() == name.instant().suffix());
    }

    #[test]
    fn hosts_and_ports_make_prefixes_and_come_back(
        words in prop::collection::vec(host_word(), 1..4), last in "[a-zA-Z]{2,4}", port in 1..=u16::MAX,
    ) {
        let host: Host = format!("{}.{last}", words.join(".")).parse().unwrap();
        let prefix = Prefix::new(&host, port).unwrap();
        prop_assert_eq!((prefix.host(), prefix.port()), (host, port));
    }

    #[test]
    fn instants_come_back(date in instant(1..=99_999)) {
        prop_assert_eq!(date.to_string().parse::<Instant>().unwrap(), date);
        prop_assert_eq!(Instant::from_civil(date.civil()), Some(date));
        prop_assert_eq!(parse_suffix(&date.suffix()).unwrap(), date);
    }

    #[test]
    fn dates_of_any_instant_are_in_step(seconds in -1_i64 << 60..1 << 60) {
        let civil = Instant::from_seconds(seconds).civil();
        let next = Instant::from_seconds(seconds).checked_add(86_400 * SECOND).unwrap().civil();
        prop_assert!((next.day == civil.day + 1 && next.month == civil.month) || next.day == 1);
    }

    #[test]
    fn nothing_panics(text in hostile()) {
        let errors = [
            text.parse::<RepositoryName>().err(), RepositoryName::parse_as_found(&text).err(),
            text.parse::<Prefix>().err(), text.parse::<Host>().err(), text.parse::<Ibip>().err(),
            text.parse::<IbipPrefix>().err(), text.parse::<LegacyLabel>().err(),
            text.parse::<Instant>().err(), text.parse::<Identifier>().err(),
            parse_suffix(&text).err(), Pasted::read(&text).err(),
        ];
        for error in errors.into_iter().flatten() {
            let (line, excerpt) = (error.to_string(), error.excerpt());
            prop_assert!(!line.chars().chain(excerpt.replace('\n', "").chars()).any(char::is_control));
            prop_assert_eq!(excerpt.find('\u{202e}'), None);
            prop_assert_eq!(excerpt.lines().count(), 2);
            prop_assert!(error.column() <= text.chars().count() + 1);
            prop_assert!(text.get(error.span()).is_some());
        }
        let _ = is_suffix_leaf(&text, &text);
        if let Ok(ibip) = text.parse::<Ibip>() {
            let _ = (ibip.instant(), ibip.prefix().endpoint());
        }
        if let Ok(label) = text.parse::<LegacyLabel>() {
            let _ = label.instant();
        }
        if let Ok(pasted) = Pasted::read(&text) {
            prop_assert!(text.contains(pasted.rest));
        }
    }

    #[test]
    fn a_name_is_found_in_a_sentence(text in name(), before in "[a-z ]{0,9}", after in "[.,;)>]{0,3}( [a-z ]{0,9})?") {
        let name: RepositoryName = text.parse().unwrap();
        let pasted = format!("{before} {text}{after}");
        prop_assert_eq!(Identifier::read(&pasted).unwrap(), Identifier::Repository(name));
    }
}
