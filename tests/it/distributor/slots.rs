//! The memory on the disk.

use super::*;

fn record(sequence: u64) -> MemoryRecord {
    MemoryRecord {
        prefix: "sid.inpe.br/mtc-m19".parse().unwrap(),
        sequence,
        last: Some(seconds("1287588480")),
        granularity: Setting::Auto,
        host: "4c1f6f0a2b7d4e0f9a4be3d5c2a1908f".parse().unwrap(),
    }
}

/// A blank file with these records, each in its slot.
fn file(records: &[&MemoryRecord]) -> [u8; FILE] {
    let mut file = slot::blank();
    for record in records {
        let offset = slot::offset_for_next(record.sequence - 1);
        file[offset..offset + SLOT].copy_from_slice(&slot::encode(record));
    }
    file
}

/// The slot of a text with a true checksum.
fn sealed(text: &str) -> [u8; SLOT] {
    let blank_of_record = slot::encode(&record(1));
    let checksum = blank_of_record.windows(7).position(|word| word == b"sha256 ").unwrap();
    let mut bytes = [b' '; SLOT];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes[checksum - 1] = b'\n';
    let digest = urepo::digest::Digest::of(&bytes[..checksum]);
    bytes[checksum..].copy_from_slice(format!("sha256 {digest}\n").as_bytes());
    bytes
}

/// The lines of a record up to the padding.
fn text(record: &MemoryRecord) -> String {
    let slot = slot::encode(record);
    let text = str::from_utf8(&slot).unwrap();
    text[..=text.find("\n ").unwrap()].to_owned()
}

#[test]
fn are_lines_to_look_at() {
    assert_eq!(
        text(&record(12)),
        "urepo-memory 1\n\
             prefix sid.inpe.br/mtc-m19\n\
             sequence 12\n\
             last 1287588480000000000\n\
             granularity auto\n\
             host 4c1f6f0a2b7d4e0f9a4be3d5c2a1908f\n"
    );
    let file = file(&[&record(11), &record(12)]);
    assert!(file.is_ascii());
    assert!(file.ends_with(b"\n"));
}

#[test]
fn are_written_in_turn() {
    assert_eq!(slot::offset_for_next(0), 0);
    assert_eq!(slot::offset_for_next(1), FILE / 2);
    assert_eq!(slot::offset_for_next(2), 0);
    let (older, newer) = (record(11), record(12));
    assert_eq!(
        slot::read(&file(&[&older, &newer])),
        Contents::Valid { record: newer, other: Ok(older) }
    );
}

#[test]
fn of_a_new_file_are_fresh() {
    for file in [&[][..], &slot::blank(), &[0; FILE], &[0; 3], b"\n"] {
        assert_eq!(slot::read(file), Contents::Fresh);
    }
    assert_eq!(
        slot::read(&file(&[&record(1)])),
        Contents::Valid { record: record(1), other: Err(SlotError::Empty) }
    );
}

#[test]
fn of_the_longest_record_still_fit() {
    let longest = MemoryRecord {
        prefix: "p".repeat(260).parse().unwrap(),
        sequence: u64::MAX - 1,
        last: Some(Instant::from_seconds(i64::MIN)),
        granularity: Setting::Fixed(Granularity::NANOSECOND),
        host: "h".repeat(40).parse().unwrap(),
    };
    assert_eq!(slot::decode(&slot::encode(&longest)), Ok(longest.clone()));
    // Not to be read again, but not to be broken by either.
    slot::encode(&MemoryRecord { last: Some(Instant::from_nanoseconds(i128::MIN)), ..longest });
}

#[test]
fn of_another_format_hide_no_later_date() {
    let later = sealed(&text(&record(2)).replace("memory 1", "memory 2"));
    assert_eq!(slot::decode(&later), Err(SlotError::OtherFormat));
    let mut file = file(&[&record(1)]);
    file[FILE / 2..FILE / 2 + SLOT].copy_from_slice(&later);
    assert_eq!(slot::read(&file), Contents::OtherFormat);
}

#[test]
fn with_wrong_lines_are_damaged_in_spite_of_a_true_checksum() {
    let good = text(&record(2));
    assert_eq!(slot::decode(&sealed(&good)), Ok(record(2)));
    for (from, to, line) in [
        ("urepo-memory", "another", "urepo-memory"),
        ("prefix sid.inpe.br/mtc-m19", "prefix ", "prefix"),
        ("prefix sid.inpe.br/mtc-m19\n", "", "prefix"),
        ("mtc-m19", "mtc m19", "prefix"),
        ("sequence 2", "sequence 0", "sequence"),
        ("sequence 2", "sequence 18446744073709551615", "sequence"),
        ("sequence 2", "sequence 18446744073709551616", "sequence"),
        ("last 1", "last x", "last"),
        ("last 1", "last 1111111111111111111", "last"),
        ("granularity auto", "granularity 7", "granularity"),
        ("host ", "host", "host"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_eq!(
            slot::decode(&sealed(&text)),
            Err(SlotError::Damaged { why: Damage::Line { line } }),
            "{text}"
        );
    }
}

#[test]
fn with_more_lines_are_not_half_read() {
    let text = text(&record(2)) + "more -\n";
    let error = SlotError::Damaged { why: Damage::MoreLines };
    assert_eq!(slot::decode(&sealed(&text)), Err(error));
}

#[test]
fn in_the_wrong_place_are_damaged() {
    let mut file = slot::blank();
    file[..SLOT].copy_from_slice(&slot::encode(&record(2)));
    let misplaced = SlotError::Damaged { why: Damage::Misplaced };
    assert_eq!(slot::read(&file), Contents::Damaged { slots: [misplaced, SlotError::Empty] });
}

#[test]
fn of_a_file_cut_short_are_damaged() {
    let whole = file(&[&record(1), &record(2)]);
    let short = SlotError::Damaged { why: Damage::Size };
    assert_eq!(
        slot::read(&whole[..FILE / 2 + 300]),
        Contents::Valid { record: record(1), other: Err(short) }
    );
    assert_eq!(slot::read(&whole[..300]), Contents::Damaged { slots: [short, SlotError::Empty] });
}

#[test]
fn take_foreign_names_only_as_words() {
    let sanitised = |text| Token::<8>::sanitised(text).as_str().to_owned();
    assert_eq!(sanitised("a b\nc\u{1b}é\n"), "a-b-c--");
    assert_eq!(sanitised("0123456789"), "01234567");
    assert_eq!(sanitised(" \n"), "-");
    for text in ["", "a b", "a\n", "é", "\u{7f}", "123456789"] {
        assert!(text.parse::<Token<8>>().is_err(), "{text:?}");
    }
}

fn tokens<const MAX: usize>() -> impl Strategy<Value = Token<MAX>> {
    prop_oneof![
        any::<String>().prop_map(|text| Token::sanitised(&text)),
        prop::collection::vec(33..127_u8, 1..=MAX)
            .prop_map(|text| String::from_utf8(text).unwrap().parse().unwrap()),
    ]
}

fn records() -> impl Strategy<Value = MemoryRecord> {
    (tokens(), 1..u64::MAX - 2, (any::<i64>(), 0..SECOND), settings(), tokens()).prop_map(
        |(prefix, sequence, (whole, part), granularity, host)| {
            let whole = Instant::from_seconds(whole).nanoseconds();
            let last = Instant::from_nanoseconds(whole + part);
            let last = (sequence % 7 != 0).then_some(last);
            MemoryRecord { prefix, sequence, last, granularity, host }
        },
    )
}

/// Three records that follow one another.
fn successions() -> impl Strategy<Value = [MemoryRecord; 3]> {
    [records(), records(), records()].prop_map(|[first, mut second, mut third]| {
        second.sequence = first.sequence + 1;
        third.sequence = first.sequence + 2;
        [first, second, third]
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn give_back_what_was_written(record in records()) {
        let slot = slot::encode(&record);
                    prop_assert_eq!(str::from_utf8(&slot).unwrap().lines().count(), 8);
        prop_assert_eq!(slot::decode(&slot), Ok(record));
    }

    #[test]
    fn take_any_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..3000), at in 0..SLOT, byte in any::<u8>()
    ) {
        let _ = slot::read(&bytes);
        let _ = slot::decode(&bytes);
        // No single changed byte passes for a record.
        let mut slot = slot::encode(&record(7));
        let changed = slot[at] != byte;
        slot[at] = byte;
        prop_assert_eq!(slot::decode(&slot).is_err(), changed);
    }

    #[test]
    fn survive_a_write_cut_short(records in successions()) {
        let [first, second, third] = records;
        let before = file(&[&first, &second]);
        let offset = slot::offset_for_next(second.sequence);
        let new = slot::encode(&third);
        for written in 0..=SLOT {
            let mut torn = before;
            torn[offset..offset + written].copy_from_slice(&new[..written]);
            let whole = torn[offset..offset + SLOT] == new;
            let untouched = torn == before;
            let Contents::Valid { record, other } = slot::read(&torn) else {
                panic!("{written} bytes lose the memory");
            };
            if whole {
                prop_assert_eq!((&record, &other), (&third, &Ok(second.clone())));
            } else {
                prop_assert_eq!(&record, &second);
                prop_assert_eq!(other.is_ok(), untouched);
            }
        }
    }

    #[test]
    fn survive_lost_sectors(records in successions(), kept in 0..4_u8) {
        // Sectors of 512 bytes reach the disk in any order.
        let [first, second, third] = records;
        let mut torn = file(&[&first, &second]);
        let offset = slot::offset_for_next(second.sequence);
        let new = slot::encode(&third);
        for (index, sector) in new.chunks(512).enumerate() {
            if kept & (1 << index) != 0 {
                let start = offset + index * 512;
                torn[start..start + sector.len()].copy_from_slice(sector);
            }
        }
        let Contents::Valid { record, .. } = slot::read(&torn) else {
            panic!("the memory is lost");
        };
        prop_assert_eq!(record, if kept == 3 { third } else { second });
    }

    #[test]
    fn survive_a_first_write_cut_short(record in records(), written in 0..SLOT) {
        let record = MemoryRecord { sequence: 1, ..record };
        let mut torn = slot::blank();
        let new = slot::encode(&record);
        torn[..written].copy_from_slice(&new[..written]);
        match slot::read(&torn) {
            Contents::Fresh => prop_assert_eq!(written, 0),
            // The line end at the end of a slot is there before it is written.
            Contents::Valid { .. } => prop_assert_eq!(&torn[..SLOT], &new[..]),
            Contents::Damaged { .. } => {}
            Contents::OtherFormat => panic!("{written} bytes pass for another format"),
        }
    }
}
