//! The reference tokenizer's answers for odd and multilingual texts.

use super::super::embed::StaticTable;

const GOLDEN: &[(&str, &str)] = &[
    ("The quick brown fox jumps over the lazy dog.", "the quick brown fox jumps over the lazy dog ."),
    ("Don't panic!", "don ' t panic !"),
    ("Déjà vu: naïve façade, coöperate", "de ##ja vu : naive facade , cooperate"),
    ("Ångström Øresund Łódź straße İstanbul", "ang ##strom ø ##res ##und łodz st ##raße istanbul"),
    ("ẞ GROẞ ǅ ǆ", "ß gr ##o ##ß [UNK] [UNK]"),
    ("Я переехала в Берлин.", "я п ##е ##р ##е ##е ##х ##а ##л ##а в б ##е ##р ##л ##и ##н ."),
    ("Ёжик пьёт йогурт", "е ##ж ##и ##к п ##ь ##е ##т и ##о ##г ##у ##р ##т"),
    ("ΟΔΥΣΣΕΥΣ ὀδός; Γειά", "ο ##δ ##υ ##σ ##σ ##ε ##υ ##σ ο ##δ ##ος ; γ ##ε ##ια"),
    ("我昨天搬到了柏林。", "我 [UNK] 天 [UNK] [UNK] [UNK] [UNK] 林 。"),
    ("東京タワーへ行きました", "東 京 タ ##ワ ##ー ##へ 行 き ##ま ##し ##た"),
    ("カタカナ ｶﾞ が か\u{3099}", "カ ##タ ##カ ##ナ [UNK] か か"),
    ("나는 어제 서울에 갔다", "ᄂ ##ᅡ ##ᄂ ##ᅳ ##ᆫ ᄋ ##ᅥ ##ᄌ ##ᅦ ᄉ ##ᅥ ##ᄋ ##ᅮ ##ᆯ ##ᄋ ##ᅦ [UNK]"),
    ("각 \u{1100}\u{1161}\u{11a8}", "ᄀ ##ᅡ ##ᆨ ᄀ ##ᅡ ##ᆨ"),
    ("สวัสดีครับ", "[UNK]"),
    ("مرحبا بالعالم، كيف حالك؟", "م ##ر ##ح ##ب ##ا ب ##ا ##ل ##ع ##ا ##ل ##م ، ك ##ي ##ف ح ##ا ##ل ##ك [UNK]"),
    ("שָׁלוֹם עולם", "ש ##ל ##ו ##ם ע ##ו ##ל ##ם"),
    ("नमस्ते दुनिया।", "न ##म ##स ##त द ##न ##ि ##य ##ा ।"),
    ("বাংলা தமிழ்", "ব ##া ##ং ##ল ##া [UNK]"),
    ("Tiếng Việt rất đẹp", "tie ##ng viet rat đ ##ep"),
    ("foo.bar@example.com", "foo . bar @ example . com"),
    ("https://example.org/a?b=c#d", "https : / / example . org / a ? b = c # d"),
    ("v1.2.3-rc.1 $3,50 €20 50%", "v ##1 . 2 . 3 - rc . 1 $ 3 , 50 € ##20 50 %"),
    ("snake_case camelCase x=>y", "snake _ case camel ##case x = > y"),
    ("hello😀world 😀", "[UNK] [UNK]"),
    ("👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} ☃", "[UNK] [UNK] [UNK]"),
    ("½ ² ™ © ℌ ﬁ Ⅷ", "½ ² ™ © [UNK] ﬁ [UNK]"),
    ("Ａｂｃ１２", "[UNK]"),
    ("antidisestablishmentarianism", "anti ##dis ##est ##ab ##lish ##ment ##arian ##ism"),
    ("xqzvw qqqq", "x ##q ##z ##v ##w q ##q ##q ##q"),
    ("a\u{301}e\u{308}\u{301}", "ae"),
    ("zero\u{200b}width soft\u{ad}hyphen", "zero ##wi ##dt ##h soft ##hy ##ph ##en"),
    ("a\u{85}b\u{2028}c\u{a0}d\u{3000}e", "ab c d e"),
    ("tab\there\r\nline", "tab here line"),
    ("\u{feff}bom � \u{1} \u{7f}", "bo ##m"),
    ("", ""),
    ("   ", ""),
    ("…—–“”‘’«»", "… — – “ ” ‘ ’ « »"),
    ("¡Hola! ¿Qué tal?", "¡ ho ##la ! ¿ que tal ?"),
    ("𠀀\u{f900}一", "[UNK] [UNK] 一"),
    ("[unused1] [MASK", "[ unused ##1 ] [ mask"),
    ("1234567890 3.14159", "123 ##45 ##6 ##7 ##8 ##90 3 . 141 ##59"),
    ("᜴ ᙭ ؝ ⹒", "[UNK] [UNK] [UNK]"),
];

fn tokens(text: &str) -> String {
    let table = StaticTable::builtin().expect("the table is part of the program");
    let tokens = table.wordpiece().tokens(text);
    let tokens: Vec<_> = tokens.iter().map(|token| token.unwrap_or("[UNK]")).collect();
    tokens.join(" ")
}

#[test]
fn tokens_are_those_of_the_reference() {
    for (text, expected) in GOLDEN {
        assert_eq!(tokens(text), *expected, "{text:?}");
    }
}

#[test]
fn words_over_a_hundred_characters_are_unknown() {
    assert!(tokens(&"a".repeat(100)).starts_with("aaa"));
    assert_eq!(tokens(&"a".repeat(101)), "[UNK]");
}
