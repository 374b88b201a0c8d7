use super::{Hit, Part, ScorePart, hit::score};
use crate::{Error, ErrorKind, Reranker, Result};

/// Most hits that a reranker is asked about, and the least: it is slow, and what it cannot see it cannot lift.
pub(super) const POOL: usize = 30;

/// Lets the reranker judge the hits, and puts them in the order of the new scores; equals stay as they were.
pub(super) async fn rerank(reranker: &dyn Reranker, weight: f32, query: &str, hits: &mut [Hit]) -> Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = hits
        .iter()
        .map(|hit| match &hit.memory.speaker {
            Some(speaker) => format!("{speaker}: {}", hit.memory.text),
            None => hit.memory.text.clone(),
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let relevances = reranker.rerank(query, &texts).await?;
    let unusable = |what: String| Error::new(ErrorKind::UnusableModelOutput, what).with_backend(reranker.name());
    if relevances.len() != hits.len() {
        return Err(unusable(format!("{} relevances for {} texts", relevances.len(), hits.len())));
    }
    if relevances.iter().any(|relevance| !(0.0..=1.0).contains(relevance)) {
        return Err(unusable("a relevance that is not in 0 to 1".to_owned()));
    }
    for (hit, relevance) in hits.iter_mut().zip(relevances) {
        hit.parts.push(ScorePart::new(Part::Rerank, relevance, weight));
        hit.score = score(&hit.parts);
    }
    hits.sort_by(|left, right| right.score.total_cmp(&left.score));
    Ok(())
}
