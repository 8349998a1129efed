//! Granularities.

use super::*;

#[test]
fn run_from_a_minute_to_a_nanosecond() {
    let names: Vec<String> = Granularity::all().map(|each| each.to_string()).collect();
    assert_eq!(
        names,
        [
            "60",
            "1",
            "0.1",
            "0.01",
            "0.001",
            "0.0001",
            "0.00001",
            "0.000001",
            "0.0000001",
            "0.00000001",
            "0.000000001"
        ]
    );
    assert_eq!(Granularity::all().nth(2).unwrap().nanoseconds(), SECOND / 10);
}

#[test]
fn each_divides_the_coarser_ones() {
    for (coarse, fine) in Granularity::all().zip(Granularity::all().skip(1)) {
        assert_eq!(coarse.finer(), Some(fine));
        assert_eq!(fine.coarser(), Some(coarse));
        assert!(coarse > fine);
        assert_eq!(coarse.nanoseconds() % fine.nanoseconds(), 0);
    }
    assert_eq!(Granularity::SIXTY.coarser(), None);
    assert_eq!(Granularity::NANOSECOND.finer(), None);
}

#[test]
fn are_read_as_written() {
    for each in Granularity::all().map(Setting::Fixed).chain([Setting::Auto]) {
        assert_eq!(each.to_string().parse(), Ok(each));
    }
    assert_eq!(granularity("1/10"), granularity("0.1"));
    assert_eq!(granularity("1/1000000000"), Granularity::NANOSECOND);
}

#[test]
fn of_other_lengths_are_refused() {
    for text in [
        "",
        "0",
        "2",
        "-1",
        "1.0",
        "01",
        "0.2",
        "0.10",
        ".1",
        "1/1",
        "1/60",
        "1/0",
        "1/2",
        "1/",
        "Auto",
        " 1",
        "1e-3",
        "1/10000000000",
    ] {
        let error = text.parse::<Setting>().unwrap_err();
        assert_eq!(error.given, text);
    }
    assert!(!"\u{1b}[2J".parse::<Setting>().unwrap_err().to_string().contains('\u{1b}'));
    assert_eq!(
        "5".parse::<Setting>().unwrap_err().to_string(),
        "invalid granularity `5`: expected `auto`, or the seconds as `60`, `1`, `0.1`, `0.01` \
             … down to `0.000000001`"
    );
}

#[derive(Debug, Deserialize, serde::Serialize, PartialEq)]
struct Settings {
    granularity: Setting,
}

#[test]
fn stand_in_toml_as_text_or_integers() {
    for (toml, expected) in [
        ("granularity = \"auto\"", "auto"),
        ("granularity = 60", "60"),
        ("granularity = 1", "1"),
        ("granularity = \"1\"", "1"),
        ("granularity = \"0.1\"", "0.1"),
        ("granularity = \"1/100\"", "0.01"),
    ] {
        let settings: Settings = toml::from_str(toml).unwrap();
        assert_eq!(settings.granularity, setting(expected), "{toml}");
        let written = toml::to_string(&settings).unwrap();
        assert_eq!(toml::from_str::<Settings>(&written).unwrap(), settings);
    }
}

#[test]
fn are_never_read_from_floating_point() {
    let error = toml::from_str::<Settings>("granularity = 0.1").unwrap_err();
    assert!(
        error
            .message()
            .contains("expected \"auto\", 60, 1 or a fraction in quotes such as \"0.1\""),
        "{error}"
    );
    assert!(toml::from_str::<Settings>("granularity = 1.0").is_err());
    assert!(toml::from_str::<Settings>("granularity = 2").is_err());
    assert!(toml::from_str::<Settings>("granularity = true").is_err());
}
