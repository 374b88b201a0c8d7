//! What the vectors of the built-in table have to promise.

use super::super::{embed::StaticTable, table::TableError};

fn table() -> &'static StaticTable {
    StaticTable::builtin().expect("the table is part of the program")
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn alike(left: &str, right: &str) -> f32 {
    dot(&table().embed(left), &table().embed(right))
}

#[track_caller]
fn nearer(text: &str, near: &str, far: &str, margin: f32) {
    let (near, far) = (alike(text, near), alike(text, far));
    assert!(near > far + margin, "{text}: near {near}, far {far}");
}

#[test]
fn meaning_counts_in_english() {
    nearer("I adore my puppy", "My dog is lovely", "The stock market fell", 0.3);
    nearer("What is my job?", "I work as a nurse", "The lake was frozen", 0.05);
}

#[test]
fn inflected_words_stay_near() {
    nearer("переехала", "переехал", "собака", 0.4);
    nearer("собака", "собаку", "кошка", 0.3);
    nearer("Я переехала в Берлин", "Она переехал в Берлине", "Мне нравится кофе", 0.3);
    nearer("γάτα", "γάτες", "σκύλος", 0.2);
    nearer("किताबें", "किताब", "पानी", 0.2);
}

#[test]
fn scripts_without_spaces_share_words() {
    nearer("我昨天搬到了柏林", "她住在柏林", "今天天气很好", 0.1);
    nearer("東京タワーへ行きました", "東京タワーは高い", "猫が好きです", 0.2);
    nearer("서울에 살아요", "서울에서 일해요", "커피를 좋아해요", 0.2);
    nearer("ฉันรักแมว", "แมวของฉัน", "อากาศร้อนมาก", 0.1);
}

#[test]
fn rare_names_find_themselves() {
    nearer("Xqzvwy called", "I met Xqzvwy", "I met Zzyqvx", 0.2);
    nearer("Обама", "обама", "Путин", 0.9);
}

#[test]
fn vectors_have_length_one_or_are_zero() {
    for text in ["", "  \n\t", "\u{0}\u{200b}"] {
        assert_eq!(table().embed(text), vec![0.0; 128], "{text:?}");
    }
    for text in ["a", ".", "дом", "我", "😀", "नमस्ते", "ก", "aaa\u{301}", "₿"] {
        let vector = table().embed(text);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5, "{text:?}");
    }
}

#[test]
fn huge_texts_are_embedded() {
    for unit in ["word ", "a", "дом", "我爱你", "\u{301}", "नमस्ते", "क", "\u{200d}", "!", "a\u{316}\u{301}"]
    {
        let text = unit.repeat(2_000_000 / unit.len());
        assert_eq!(table().embed(&text).len(), 128);
    }
}

fn small_table() -> Vec<u8> {
    let mut bytes = b"INGRSTBL".to_vec();
    for number in [1_u32, 2, 2, 9] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(b"cat\n##to\n");
    bytes.extend(0.5_f32.to_le_bytes());
    bytes.extend(0.25_f32.to_le_bytes());
    bytes.extend([100, 0, 0, 156]);
    bytes
}

#[test]
fn damaged_tables_are_refused() {
    let good = small_table();
    let table = StaticTable::from_bytes(good.clone()).expect("a table");
    assert_eq!(table.embed("cat"), [1.0, 0.0]);
    for end in 0..good.len() {
        assert!(StaticTable::from_bytes(good[..end].to_vec()).is_err(), "{end}");
    }
    for place in 0..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[place] = value;
            if let Ok(table) = StaticTable::from_bytes(bytes) {
                let _ = table.embed("cat catto dog");
            }
        }
    }
    let mut twice = good.clone();
    twice[24..33].copy_from_slice(b"catt\ncat\n");
    assert!(StaticTable::from_bytes(twice.clone()).is_ok());
    twice[24..33].copy_from_slice(b"cat\ncatt\n");
    assert!(StaticTable::from_bytes(twice.clone()).is_ok());
    twice[24..33].copy_from_slice(b"cat\ncat\n\n");
    assert_eq!(StaticTable::from_bytes(twice).err(), Some(TableError::BadVocabulary));
    let mut endless = good;
    endless[33..37].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(StaticTable::from_bytes(endless).err(), Some(TableError::BadScale(0)));
}
