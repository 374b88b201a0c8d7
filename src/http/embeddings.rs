use async_trait::async_trait;

use super::HttpError;
use crate::ErrorKind;

/// How much goes into one request for vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most texts.
    pub texts: usize,
    /// Most bytes of all texts together, unless a single text has more.
    pub bytes: usize,
    /// Most bytes of one text: the rest is cut off.
    pub text_bytes: usize,
}

/// A text that the server finds too long is cut in half until it is this short; then its refusal is an error.
const SHORTEST: usize = 256;

/// One request for vectors.
#[async_trait]
pub(crate) trait EmbedBatch: Send + Sync {
    /// One vector per text, in order.
    async fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError>;
}

/// The vectors of all texts, batch by batch; `prefix` is put before each text, after it was cut.
///
/// Texts of white space alone get zeros without being sent, since servers refuse them. A batch that the server finds too
/// large is halved, a single text is cut in half: how far a text is cut depends on nothing but the text, so that equal
/// texts keep equal vectors.
pub(crate) async fn embed_in_batches(
    client: &impl EmbedBatch,
    backend: &'static str,
    prefix: &str,
    texts: &[&str],
    dimensions: usize,
    limits: Limits,
) -> Result<Vec<Vec<f32>>, HttpError> {
    let mut vectors = vec![Vec::new(); texts.len()];
    // The next batch is the last; each text with its place.
    let mut batches: Vec<Vec<(usize, &str)>> = vec![Vec::new()];
    let mut bytes = 0;
    for (place, text) in texts.iter().enumerate() {
        if text.trim().is_empty() {
            if let Some(vector) = vectors.get_mut(place) {
                *vector = vec![0.0; dimensions];
            }
            continue;
        }
        let text = beginning(text, limits.text_bytes);
        let full = batches.last().is_some_and(|batch| batch.len() >= limits.texts);
        if full || (bytes > 0 && bytes + text.len() > limits.bytes) {
            batches.push(Vec::new());
            bytes = 0;
        }
        bytes += text.len();
        if let Some(batch) = batches.last_mut() {
            batch.push((place, text));
        }
    }
    batches.reverse();
    while let Some(mut batch) = batches.pop() {
        if batch.is_empty() {
            continue;
        }
        let marked: Vec<String> = batch.iter().map(|(_, text)| format!("{prefix}{text}")).collect();
        let sent: Vec<&str> = marked.iter().map(String::as_str).collect();
        match client.embed_batch(&sent).await {
            Ok(found) => {
                check(backend, &found, sent.len(), dimensions)?;
                for ((place, _), vector) in batch.iter().zip(found) {
                    if let Some(empty) = vectors.get_mut(*place) {
                        *empty = vector;
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::InvalidArgument => match batch.as_mut_slice() {
                [(_, text)] if text.len() > SHORTEST => {
                    *text = beginning(text, text.len() / 2);
                    batches.push(batch);
                }
                [_] | [] => return Err(error),
                _ => {
                    let second = batch.split_off(batch.len() / 2);
                    batches.extend([second, batch]);
                }
            },
            Err(error) => return Err(error),
        }
    }
    Ok(vectors)
}

/// At most so many bytes of the text, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

fn check(backend: &'static str, vectors: &[Vec<f32>], texts: usize, dimensions: usize) -> Result<(), HttpError> {
    if vectors.len() != texts {
        let message = format!("{} vectors came for {texts} texts", vectors.len());
        return Err(HttpError::unusable(backend, message));
    }
    if let Some(odd) = vectors.iter().find(|vector| vector.len() != dimensions) {
        let message = format!("the model's vectors have {} dimensions, not the {dimensions} that were set", odd.len());
        return Err(HttpError::unusable(backend, message));
    }
    Ok(())
}

/// A vector from JSON; none if it is anything but a list of finite numbers.
pub(crate) fn vector(value: &serde_json::Value) -> Option<Vec<f32>> {
    let numbers = value.as_array()?.iter().map(|number| number.as_f64().map(|number| number as f32));
    numbers.map(|number| number.filter(|number| number.is_finite())).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Takes at most so many bytes a request; the vector of a text is its length.
    struct Server(usize, Mutex<Vec<Vec<usize>>>);

    #[async_trait]
    impl EmbedBatch for Server {
        async fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
            self.1.lock().unwrap().push(texts.iter().map(|text| text.len()).collect());
            if texts.iter().map(|text| text.len()).sum::<usize>() > self.0 {
                return Err(HttpError::new("x", ErrorKind::InvalidArgument, "too long"));
            }
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }
    }

    async fn embed(limit: usize, texts: &[&str], limits: Limits) -> (Vec<f32>, Vec<Vec<usize>>) {
        let server = Server(limit, Mutex::default());
        let vectors = embed_in_batches(&server, "x", "", texts, 1, limits).await.unwrap();
        (vectors.concat(), server.1.into_inner().unwrap())
    }

    #[tokio::test]
    async fn batches_hold_to_both_limits_and_keep_the_order() {
        let limits = Limits { texts: 3, bytes: 10, text_bytes: 20 };
        let long = "x".repeat(100);
        let texts = ["a", "bb", "", "ccc", "dddd", "eeeee", "f", " ", &long, "g"];
        let (vectors, requests) = embed(usize::MAX, &texts, limits).await;
        assert_eq!(vectors, [1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 1.0, 0.0, 20.0, 1.0]);
        assert_eq!(requests, [vec![1, 2, 3], vec![4, 5, 1], vec![20], vec![1]]);
    }

    #[tokio::test]
    async fn what_is_too_long_is_halved() {
        let limits = Limits { texts: 8, bytes: 1 << 20, text_bytes: 1 << 20 };
        let (long, short) = ("я".repeat(1_000), "y".repeat(300));
        let (vectors, _) = embed(600, &[&short, &long, &short], limits).await;
        assert_eq!(vectors, [300.0, 500.0, 300.0]);
        let (alone, _) = embed(600, &[&long], limits).await;
        assert_eq!(alone, [500.0], "the same text among others and alone");
        assert!(embed_in_batches(&Server(10, Mutex::default()), "x", "", &[&long], 1, limits).await.is_err());
    }

    #[test]
    fn a_vector_has_finite_numbers_alone() {
        assert_eq!(vector(&json!([1, -0.5])), Some(vec![1.0, -0.5]));
        for odd in [json!([null]), json!(["1"]), json!([1e39]), json!("AACAPw=="), json!(null), json!([[1.0]])] {
            assert_eq!(vector(&odd), None, "{odd}");
        }
    }
}
