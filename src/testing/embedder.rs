//! The contract of [`Embedder`], one rule a function; [`embedder_suite!`](crate::embedder_suite) makes tests of them.

use std::sync::Arc;

use crate::{Embedder, Purpose};

/// Makes a test of each rule of the contract of [`Embedder`](crate::Embedder), in a module of the given name.
///
/// The second argument is a future that gives an embedder, evaluated for each test. The tests need tokio with the
/// features `macros` and `rt-multi-thread`.
///
/// ```
/// ingrain::embedder_suite!(given_vectors, async { ingrain::testing::GivenVectors::new(8) });
/// ```
#[macro_export]
macro_rules! embedder_suite {
    ($name:ident, $factory:expr) => {
        $crate::embedder_suite! { @rules $name, $factory,
            one_vector_per_text_in_order
            every_vector_has_the_width_and_is_finite
            equal_texts_have_equal_vectors
            a_batch_equals_its_singles
            no_texts_give_no_vectors
            odd_texts_have_vectors_too
            a_long_text_has_one_vector
            the_identity_is_constant
            calls_at_once_do_not_mix
        }
    };
    (@rules $name:ident, $factory:expr, $($rule:ident)+) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $rule() {
                    let embedder = ::std::sync::Arc::new($factory.await);
                    $crate::testing::embedder::$rule(embedder).await;
                }
            )+
        }
    };
}

const TEXTS: [&str; 5] =
    ["I moved to Lisbon in May.", "Аллергия на моллюсков", "周三晚上去围棋俱乐部", "tea", "Plays the oud and the ney"];

const ODD: [&str; 14] = [
    "",
    " ",
    "\t\n\r\n",
    "\0",
    "a\0b",
    "👨‍👩‍👧‍👦🇧🇷",
    "\u{301}\u{301}",
    "שלום עולם",
    "\u{202e}abc",
    "شكراً\u{200f}",
    "\u{feff}x",
    "\u{fffd}\u{10ffff}",
    "!!!???...",
    "𝕳𝖊𝖑𝖑𝖔 ﬁn",
];

async fn embed(embedder: &Arc<dyn Embedder>, texts: &[&str], purpose: Purpose) -> Vec<Vec<f32>> {
    embedder.embed(texts, purpose).await.expect("embedding well-formed text")
}

/// There is one vector per text, in the order of the texts.
pub async fn one_vector_per_text_in_order(embedder: Arc<dyn Embedder>) {
    for purpose in [Purpose::Document, Purpose::Query] {
        let forwards = embed(&embedder, &TEXTS, purpose).await;
        let reversed: Vec<&str> = TEXTS.into_iter().rev().collect();
        let mut backwards = embed(&embedder, &reversed, purpose).await;
        backwards.reverse();
        assert_eq!(forwards.len(), TEXTS.len());
        assert_eq!(forwards, backwards, "the order of the texts decides the order of the vectors");
        assert!(forwards.windows(2).all(|pair| pair[0] != pair[1]), "unlike texts have unlike vectors");
    }
}

/// Every vector has the width that the identity names, and only finite numbers.
pub async fn every_vector_has_the_width_and_is_finite(embedder: Arc<dyn Embedder>) {
    let dimensions = embedder.identity().dimensions;
    assert!(dimensions > 0);
    for vector in embed(&embedder, &TEXTS, Purpose::Document).await {
        assert_eq!(vector.len(), dimensions);
        assert!(vector.iter().all(|number| number.is_finite()));
        assert!(vector.iter().any(|number| *number != 0.0), "plain words mean something");
    }
}

/// Equal texts for the same purpose have equal vectors, in one request and in two.
pub async fn equal_texts_have_equal_vectors(embedder: Arc<dyn Embedder>) {
    for purpose in [Purpose::Document, Purpose::Query] {
        let twice = embed(&embedder, &["tea", "coffee", "tea"], purpose).await;
        assert_eq!(twice[0], twice[2]);
        assert_eq!(embed(&embedder, &["tea"], purpose).await[0], twice[0]);
    }
}

/// A text has the same vector alone and among others.
pub async fn a_batch_equals_its_singles(embedder: Arc<dyn Embedder>) {
    let texts: Vec<&str> = TEXTS.into_iter().chain(ODD).collect();
    let batch = embed(&embedder, &texts, Purpose::Document).await;
    for (text, vector) in texts.iter().zip(batch) {
        assert_eq!(embed(&embedder, &[*text], Purpose::Document).await, [vector], "{text:?}");
    }
}

/// An empty list of texts gives an empty list of vectors.
pub async fn no_texts_give_no_vectors(embedder: Arc<dyn Embedder>) {
    assert_eq!(embed(&embedder, &[], Purpose::Document).await, Vec::<Vec<f32>>::new());
    assert_eq!(embed(&embedder, &[], Purpose::Query).await, Vec::<Vec<f32>>::new());
}

/// Empty and blank texts, control characters, emoji, lone marks and right-to-left text have vectors like any other.
pub async fn odd_texts_have_vectors_too(embedder: Arc<dyn Embedder>) {
    let dimensions = embedder.identity().dimensions;
    for purpose in [Purpose::Document, Purpose::Query] {
        let vectors = embed(&embedder, &ODD, purpose).await;
        assert_eq!(vectors.len(), ODD.len());
        for (text, vector) in ODD.iter().zip(vectors) {
            assert!(vector.len() == dimensions && vector.iter().all(|number| number.is_finite()), "{text:?}");
        }
    }
}

/// A text of a megabyte is cut or pooled, not refused; so is one without a space.
pub async fn a_long_text_has_one_vector(embedder: Arc<dyn Embedder>) {
    let dimensions = embedder.identity().dimensions;
    let words = "a walk along the river ".repeat(1 << 20 >> 4);
    let unbroken = "я".repeat(1 << 19);
    for text in [words.as_str(), unbroken.as_str()] {
        let vectors = embed(&embedder, &[text, "tea"], Purpose::Document).await;
        assert_eq!(vectors.len(), 2);
        assert!(vectors.iter().all(|vector| vector.len() == dimensions && vector.iter().all(|n| n.is_finite())));
        assert_eq!(vectors[1], embed(&embedder, &["tea"], Purpose::Document).await[0]);
    }
}

/// Name and width stay what they are.
pub async fn the_identity_is_constant(embedder: Arc<dyn Embedder>) {
    let before = embedder.identity();
    assert!(!before.name.trim().is_empty());
    embed(&embedder, &TEXTS, Purpose::Document).await;
    assert_eq!(embedder.identity(), before);
}

/// Requests made at once get the vectors of their own texts.
pub async fn calls_at_once_do_not_mix(embedder: Arc<dyn Embedder>) {
    let expected = embed(&embedder, &TEXTS, Purpose::Document).await;
    let tasks: Vec<_> = (0..20)
        .map(|task| {
            let embedder = embedder.clone();
            tokio::spawn(async move { embed(&embedder, &[TEXTS[task % TEXTS.len()]], Purpose::Document).await })
        })
        .collect();
    for (task, handle) in tasks.into_iter().enumerate() {
        assert_eq!(handle.await.expect("a request in a task")[0], expected[task % TEXTS.len()]);
    }
}
