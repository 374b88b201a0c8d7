use std::sync::Arc;

use super::subject::{Subject, X, alice, found, keyword, query};
use crate::{IndexKey, VectorStore};

async fn with_texts(store: Arc<dyn VectorStore>, texts: &[&str]) -> Subject {
    let subject = Subject::bound(store).await;
    for text in texts {
        subject.add(&alice(), text, X).await;
    }
    subject
}

/// A text that has the word more often, and little else, is the more similar.
pub async fn denser_texts_are_more_similar(store: Arc<dyn VectorStore>) {
    let dense = "zebra crossing by the zebra barn";
    let thin = "on a very long road with nothing else to report we once passed a zebra";
    let subject = with_texts(store, &[thin, dense, "a barn without animals"]).await;
    let hits = subject.words(&alice(), "zebra", 10).await;
    assert_eq!(found(&hits), [dense, thin]);
    assert!(keyword(&hits[0]) > keyword(&hits[1]) && keyword(&hits[1]) > 0.0);
    assert_eq!(found(&subject.words(&alice(), "zebra", 1).await), [dense], "the limit cuts off the less similar");
    assert!(hits.iter().all(|hit| hit.cosine.is_none()), "nobody asked for a vector");
}

/// Keyword similarity stays in 0 to 1, for short and long texts, rare and common words, long and doubled queries.
pub async fn keyword_similarity_stays_in_range(store: Arc<dyn VectorStore>) {
    let long = "river ".repeat(3_000);
    let texts = ["river", "river river river", "the river and the sea", "sea", &long, "tea by the sea", ""];
    let subject = with_texts(store, &texts).await;
    let many = "river sea ".repeat(200);
    for words in ["river", "sea river", "river river river river", "tea sea river mountain", &many] {
        let hits = subject.words(&alice(), words, 100).await;
        assert!(!hits.is_empty(), "{words}");
        for hit in &hits {
            assert!(keyword(hit) > 0.0 && keyword(hit) <= 1.0, "{words}: {}", keyword(hit));
        }
    }
}

/// A text with more of the query's words is more similar than one with fewer, all else equal.
pub async fn more_words_are_more_similar(store: Arc<dyn VectorStore>) {
    let subject = with_texts(store, &["copper kettle", "copper lamp", "silver kettle", "silver lamp"]).await;
    let hits = subject.words(&alice(), "copper kettle", 10).await;
    assert_eq!(hits[0].memory.text, "copper kettle");
    assert!(keyword(&hits[0]) > keyword(&hits[1]));
    assert!(!found(&hits).contains(&"silver lamp"), "a text with none of the words is not proposed");
}

/// A rare word says more than a common one.
pub async fn rare_words_say_more(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "walk note", 20, X).await;
    subject.add(&alice(), "ferry note", X).await;
    let hits = subject.words(&alice(), "walk ferry", 100).await;
    assert_eq!((hits.len(), hits[0].memory.text.as_str()), (21, "ferry note"));
}

/// Of equally similar memories the newer are proposed first.
pub async fn of_equal_texts_the_newer_comes_first(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let memories: Vec<_> = (0..4).map(|_| subject.memory(&alice(), "tea at noon")).collect();
    for memory in &memories {
        subject.store_one(memory, X).await;
    }
    let hits = subject.words(&alice(), "tea", 2).await;
    let ids: Vec<_> = hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!(ids, [memories[3].id, memories[2].id]);
    assert_eq!(keyword(&hits[0]).to_bits(), keyword(&hits[1]).to_bits());
}

/// The best key counts, and the memory is proposed once.
pub async fn the_best_key_decides_the_words(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let long = subject.memory(&alice(), "a long text");
    let keys = ["harbour at dawn", "tea tea tea", "tea in the harbour"].map(|text| IndexKey::new(text, X.to_vec()));
    subject.store_all(vec![(long, keys.to_vec())]).await;
    subject.add(&alice(), "tea tea tea", X).await;
    let hits = subject.words(&alice(), "tea", 10).await;
    assert_eq!(hits.len(), 2);
    assert_eq!(keyword(&hits[0]).to_bits(), keyword(&hits[1]).to_bits(), "both have the same best key");
}

/// Case and the way an accent is written play no part.
pub async fn case_and_composition_are_folded(store: Arc<dyn VectorStore>) {
    let subject = with_texts(store, &["Straße nach LISBON", "Café in Kraków", "ЧАЙ без сахара"]).await;
    for (words, expected) in [
        ("lisbon", "Straße nach LISBON"),
        ("Lisbon", "Straße nach LISBON"),
        ("cafe\u{301}", "Café in Kraków"),
        ("CAFÉ", "Café in Kraków"),
        ("чай", "ЧАЙ без сахара"),
    ] {
        assert_eq!(found(&subject.words(&alice(), words, 10).await), [expected], "{words}");
    }
}

/// Chinese and Japanese words are found inside unbroken text.
pub async fn words_are_found_in_unbroken_text(store: Arc<dyn VectorStore>) {
    let texts = [
        "周三晚上去围棋俱乐部",
        "最喜欢河边的茶馆",
        "周末计划是爬山",
        "Docker镜像清单每天三点更新",
        "土曜日は折り紙教室に行く",
    ];
    let subject = with_texts(store, &texts).await;
    for (words, expected) in [("茶馆", texts[1]), ("折り紙", texts[4]), ("镜像清单", texts[3]), ("docker", texts[3])]
    {
        let hits = subject.words(&alice(), words, 10).await;
        assert_eq!(hits.first().map(|hit| hit.memory.text.as_str()), Some(expected), "{words}");
        assert!(keyword(&hits[0]) > 0.0);
    }
    let several = subject.words(&alice(), "围棋俱乐部 茶馆 周末计划", 10).await;
    for text in &texts[..3] {
        assert!(found(&several).contains(text), "{text}");
    }
}

/// Words with signs in them are found as people write them.
pub async fn words_with_signs_are_found(store: Arc<dyn VectorStore>) {
    let texts = [
        "Speed limit is 30 km/h on the re-check ramp",
        "Don't book the D'Or hotel",
        "Reviews C++ and C# code",
        "Runs version 3.11 at home",
    ];
    let subject = with_texts(store, &texts).await;
    let expected = [("km/h", 0), ("re-check", 0), ("don't", 1), ("D'Or", 1), ("C++", 2), ("3.11", 3)];
    for (words, number) in expected {
        let hits = subject.words(&alice(), words, 10).await;
        assert_eq!(hits.first().map(|hit| hit.memory.text.as_str()), Some(texts[number]), "{words}");
    }
}

/// Any text is a query: none is read as a query language, none fails, and nothing is changed by one.
pub async fn any_text_is_a_query(store: Arc<dyn VectorStore>) {
    let subject = with_texts(store, &["Don't book the D'Or hotel", "tea"]).await;
    let long = "word ".repeat(20_000);
    let unbroken = "x".repeat(100_000);
    for words in [
        "\"open",
        "hotel AND",
        "AND OR NOT",
        "NEAR(",
        "NEAR/2",
        "title:foo",
        "*",
        "tea*",
        "(",
        ")",
        "^",
        "-",
        "-tea",
        "'; DROP TABLE memories;--",
        "tea\0tea",
        "\0",
        "\u{feff}",
        "👨‍👩‍👧‍👦",
        "\u{301}",
        "%",
        "_",
        "\\",
        "{}",
        "[",
        "$1",
        "?1",
        "\n",
        &long,
        &unbroken,
    ] {
        for query in [query(&alice()).words(words), query(&alice()).words(words).near(X.to_vec())] {
            for hit in subject.search(query).await {
                assert!((0.0..=1.0).contains(&keyword(&hit)), "{words:.20}: {}", keyword(&hit));
            }
        }
    }
    assert_eq!(found(&subject.words(&alice(), "hotel AND", 10).await), ["Don't book the D'Or hotel"]);
    assert_eq!(found(&subject.words(&alice(), "title:tea", 10).await), ["tea"], "a colon names no column");
    assert_eq!(subject.all(&alice()).await.len(), 2);
}

/// A query without a word proposes nothing, and says 0 about what the other arm proposes.
pub async fn no_words_propose_nothing(store: Arc<dyn VectorStore>) {
    let subject = with_texts(store, &["tea", ""]).await;
    for words in ["", "   ", "\n\t", "!?", "…"] {
        assert!(subject.words(&alice(), words, 10).await.is_empty(), "{words:?}");
        let both = subject.search(query(&alice()).words(words).near(X.to_vec())).await;
        assert_eq!(both.iter().map(keyword).collect::<Vec<_>>(), [0.0, 0.0], "{words:?}");
    }
    assert!(subject.words(&alice(), "coffee", 10).await.is_empty(), "nor does a word that no text has");
}

/// A query of the commonest words alone neither fails nor proposes texts that have none of them.
pub async fn common_words_alone_are_a_query(store: Arc<dyn VectorStore>) {
    let subject = with_texts(store, &["to be or not to be", "green tea"]).await;
    for words in ["the and of", "to be or not to be", "и в на", "where is it"] {
        let hits = subject.words(&alice(), words, 10).await;
        assert!(hits.iter().all(|hit| hit.memory.text == "to be or not to be"), "{words}");
    }
}

/// A memory stored by the last write is found by the next search, and one removed is not; the statistics follow.
pub async fn the_words_follow_every_write(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut memories = Vec::new();
    for number in 0..8 {
        let text = format!("tea on a long walk along the river, number {number}");
        memories.push(subject.add(&alice(), &text, X).await);
        assert_eq!(subject.words(&alice(), "tea", 100).await.len(), number + 1);
    }
    let (kept, fresh) = (subject.memory(&alice(), "green tea"), super::subject::bob());
    subject.store_one(&kept, X).await;
    subject.store_one(&subject.memory(&fresh, "green tea"), X).await;
    // Two words, of which the removed texts had one: how rare each is, and how long texts are, shows in the result.
    let before = subject.words(&alice(), "green tea cake", 1).await;
    for memory in &memories {
        subject.apply(super::subject::removal(memory)).await;
    }
    let alone = subject.words(&alice(), "green tea cake", 10).await;
    assert_eq!(found(&alone), ["green tea"]);
    let same = subject.words(&fresh, "green tea cake", 10).await;
    assert_eq!(keyword(&alone[0]).to_bits(), keyword(&same[0]).to_bits(), "what was removed has left no trace");
    assert_ne!(keyword(&before[0]).to_bits(), keyword(&alone[0]).to_bits(), "while it was there it counted");
}
