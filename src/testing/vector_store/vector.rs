use std::sync::Arc;

use super::subject::{Subject, TOLERANCE, X, Y, Z, alice, cosine, found, query, refused};
use crate::{ErrorKind, IndexKey, VectorStore};

/// The vector arm proposes the nearest, whatever the length of their vectors, and its similarity is the cosine.
pub async fn the_nearest_are_proposed(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let expected = [
        ("same way", [3.0, 0.0, 0.0, 0.0], 1.0),
        ("a little off", [0.06, 0.08, 0.0, 0.0], 0.6),
        ("square", [0.0, 500.0, 0.0, 0.0], 0.0),
        ("away", [-0.3, 0.4, 0.0, 0.0], -0.6),
        ("opposite", [-7.0, 0.0, 0.0, 0.0], -1.0),
    ];
    // Stored in another order than that of similarity.
    for number in [3, 0, 4, 2, 1] {
        let (text, vector, _) = expected[number];
        subject.add(&alice(), text, vector).await;
    }
    for limit in 1..=5 {
        let near = subject.near(&alice(), [2.0, 0.0, 0.0, 0.0], limit).await;
        assert_eq!(found(&near), expected.map(|(text, ..)| text)[..limit], "the best {limit}");
        for (candidate, (text, _, similarity)) in near.iter().zip(expected) {
            assert!((cosine(candidate) - similarity).abs() < TOLERANCE, "{text}: {}", cosine(candidate));
            assert!(candidate.keyword.is_none(), "nobody asked for words");
        }
    }
}

/// Of the equally near, the newer are proposed first.
pub async fn of_equals_the_newer_is_nearer(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add_many(&alice(), "equal", 5, X).await;
    subject.add(&alice(), "newest and off", Y).await;
    for (limit, expected) in [(1, vec!["equal 4"]), (3, vec!["equal 4", "equal 3", "equal 2"])] {
        assert_eq!(found(&subject.near(&alice(), X, limit).await), expected, "the best {limit}");
    }
}

/// No cosine leaves −1 to 1, also where rounding would carry it out.
pub async fn a_cosine_is_a_cosine(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let odd = [[0.1, 0.2, 0.3, 0.4], [1e-3, 1e3, 7.0, 0.33], [1.0, 1.0, 1.0, 0.999_999_9], [0.577_35; 4]];
    for vector in odd {
        subject.add(&alice(), "positive", vector).await;
        subject.add(&alice(), "negative", vector.map(|number| -number)).await;
    }
    for vector in odd {
        let near = subject.near(&alice(), vector, 100).await;
        assert_eq!(near.len(), 8);
        assert!(near.iter().all(|candidate| (-1.0..=1.0).contains(&cosine(candidate))));
        assert!(cosine(&near[0]) > 0.999 && cosine(&near[7]) < -0.999);
    }
}

/// Very long and very short vectors have the cosine of their direction.
pub async fn length_does_not_matter(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let scales = [("huge", 1e20_f32), ("large", 1e6), ("plain", 1.0), ("small", 1e-6), ("tiny", 1e-18)];
    for (text, scale) in scales {
        subject.add(&alice(), text, [0.6, 0.8, 0.0, 0.0].map(|number| number * scale)).await;
    }
    for (_, scale) in scales {
        let near = subject.near(&alice(), X.map(|number| number * scale), 100).await;
        assert_eq!(near.len(), 5);
        for candidate in &near {
            let similarity = cosine(candidate);
            assert!((similarity - 0.6).abs() < TOLERANCE, "{} by {scale}: {similarity}", candidate.memory.text);
        }
    }
}

/// A zero vector is near to nothing: its cosine is 0, stored or asked.
pub async fn a_zero_vector_is_near_to_nothing(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "meaningless", [0.0; 4]).await;
    subject.add(&alice(), "opposite", [-1.0, 0.0, 0.0, 0.0]).await;
    let by_words = subject.search(query(&alice()).near(X.to_vec()).words("meaningless opposite")).await;
    assert_eq!(found(&by_words), ["meaningless", "opposite"]);
    assert_eq!(cosine(&by_words[0]), 0.0);
    assert!(cosine(&by_words[1]) < -0.999);
    let nothing = subject.search(query(&alice()).near(vec![0.0; 4]).words("meaningless opposite")).await;
    assert_eq!(nothing.iter().map(cosine).collect::<Vec<_>>(), [0.0, 0.0]);
}

/// A memory is as near as its best key, and is proposed once.
pub async fn the_best_key_counts(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let many = subject.memory(&alice(), "three keys");
    let keys = [Y, [0.8, 0.6, 0.0, 0.0], Z].map(|vector| IndexKey::new("passage", vector.to_vec()));
    subject.store_all(vec![(many, keys.to_vec())]).await;
    subject.add(&alice(), "one key", [0.6, 0.8, 0.0, 0.0]).await;
    let near = subject.near(&alice(), X, 10).await;
    assert_eq!(found(&near), ["three keys", "one key"]);
    assert!((cosine(&near[0]) - 0.8).abs() < TOLERANCE && (cosine(&near[1]) - 0.6).abs() < TOLERANCE);
    // More near keys than the limit: they are one memory still, and do not push the next one out.
    let crowded = subject.memory(&alice(), "forty keys");
    let keys = (0..40).map(|_| IndexKey::new("passage", X.to_vec())).collect();
    subject.store_all(vec![(crowded, keys)]).await;
    assert_eq!(found(&subject.near(&alice(), X, 3).await), ["forty keys", "three keys", "one key"]);
}

/// A query vector of the wrong width is refused.
pub async fn a_query_of_the_wrong_width_is_refused(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "one", X).await;
    for width in [0, 3, 5, 1_000] {
        let query = query(&alice()).near(vec![1.0; width]);
        refused(subject.store.search(&query).await, &[ErrorKind::EmbedderMismatch]);
    }
}

/// A query vector with a number that is not finite is refused, or at least no similarity is.
pub async fn a_query_that_is_not_finite_does_no_harm(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    subject.add(&alice(), "one", X).await;
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        match subject.store.search(&query(&alice()).near(vec![1.0, number, 0.0, 0.0])).await {
            Ok(found) => {
                assert!(found.iter().all(|one| one.cosine.is_some_and(|cosine| (-1.0..=1.0).contains(&cosine))))
            }
            Err(error) => {
                let kinds = [ErrorKind::InvalidArgument, ErrorKind::EmbedderMismatch];
                assert!(kinds.contains(&error.kind()), "{error}");
            }
        }
    }
}

/// Among some thousand memories the nearest are still the nearest, exactly.
pub async fn the_nearest_of_thousands(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let direction = |number: usize| {
        // Spread over the circle so that no two are equally near to the query.
        let angle = number as f32 * 0.001;
        [angle.cos(), angle.sin(), 0.0, 0.0]
    };
    let count = 2_000;
    // 7 and 2,000 have no divisor in common: each number comes once, in a mixed order.
    let memories = (0..count).map(|step| {
        let number = step * 7 % count;
        let memory = subject.memory(&alice(), &format!("{number}"));
        (memory, vec![IndexKey::new("x", direction(number).to_vec())])
    });
    subject.store_all(memories.collect()).await;
    let near = subject.near(&alice(), X, 20).await;
    let expected: Vec<String> = (0..20).map(|number: usize| number.to_string()).collect();
    let mut nearest = found(&near);
    nearest.sort_by_key(|text| text.parse::<usize>().ok());
    assert_eq!(nearest, expected);
}
