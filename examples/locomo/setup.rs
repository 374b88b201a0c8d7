use std::{path::Path, sync::Arc};

use ingrain::{
    Embedder, Filter, HashingEmbedder, InMemoryStore, MemoryEngine, MemoryId, SearchMode, SearchRequest, SqliteStore,
    StaticEmbedder, VectorStore,
    evaluate::{Conversation, FactCounts, GivenFacts, ingest, ingest_with_facts},
    score::fusion::Weights,
};

use super::{Outcome, options::Options};

/// Who reads facts from the turns while these are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// Nobody.
    Nobody,
    /// The data set gives them.
    DataSet,
    /// The crate's own rules, which tell relations with them.
    Rules,
}

/// What is made of facts.
#[derive(Clone, Copy, PartialEq)]
pub enum Facts {
    /// Facts are searched and no turns; a fact that is found stands for the turns it was read from.
    Alone,
    /// Turns are searched; their facts are further keys of theirs.
    Keys,
    /// Both are searched, as an application does that asks for no kind of memory.
    Both,
    /// Both are searched, and the facts are those that rules read: the relations between them make a graph.
    Rules,
}

/// One way to search.
#[derive(Clone, Default)]
pub struct Setup {
    /// Without, turns alone are stored.
    pub facts: Option<Facts>,
    pub mode: SearchMode,
    pub weights: Weights,
}

impl Setup {
    pub fn name(&self) -> String {
        let facts = match self.facts {
            None => "turns alone",
            Some(Facts::Alone) => "facts alone",
            Some(Facts::Keys) => "facts as keys of their turns",
            Some(Facts::Both) => "facts and turns",
            Some(Facts::Rules) => "facts by rules and turns",
        };
        format!("{facts}, {:?}", self.mode).to_lowercase()
    }

    pub fn reader(&self) -> Reader {
        match self.facts {
            None => Reader::Nobody,
            Some(Facts::Rules) => Reader::Rules,
            Some(_) => Reader::DataSet,
        }
    }

    pub fn request(&self) -> SearchRequest {
        let request = SearchRequest::new("").mode(self.mode);
        match self.facts {
            None | Some(Facts::Both | Facts::Rules) => request,
            Some(Facts::Alone) => request.filter(Filter::ne("kind", "episode")),
            Some(Facts::Keys) => request.filter(Filter::eq("kind", "episode")),
        }
    }
}

/// An empty store and an embedder, as the command line asks for.
pub async fn parts(file: &Path, options: &Options) -> Outcome<(Arc<dyn VectorStore>, Arc<dyn Embedder>)> {
    let embedder: Arc<dyn Embedder> =
        if options.hashing { Arc::new(HashingEmbedder::new(256)) } else { Arc::new(StaticEmbedder::builtin()) };
    let store: Arc<dyn VectorStore> =
        if options.in_memory { Arc::new(InMemoryStore::new()) } else { Arc::new(SqliteStore::open(file).await?) };
    Ok((store, embedder))
}

/// A conversation that was stored, and what it takes to make engines over it.
pub struct Stored {
    store: Arc<dyn VectorStore>,
    embedder: Arc<dyn Embedder>,
    pub turns: Vec<MemoryId>,
    pub facts: FactCounts,
}

impl Stored {
    /// A store of its own: a chat's memory is measured, not that of a service with many users.
    pub async fn new(chat: &Conversation, file: &Path, reader: Reader, options: &Options) -> Outcome<Self> {
        let (store, embedder) = parts(file, options).await?;
        let mut stored = Self { store, embedder, turns: Vec::new(), facts: FactCounts::default() };
        let builder = MemoryEngine::builder().store(Arc::clone(&stored.store)).embedder(Arc::clone(&stored.embedder));
        let memory = match reader {
            Reader::DataSet => builder.extractor(GivenFacts::of([chat])).build().await?,
            Reader::Nobody | Reader::Rules => builder.build().await?,
        };
        if reader == Reader::Nobody {
            stored.turns = ingest(&memory, chat).await?;
        } else {
            let ingested = ingest_with_facts(&memory, chat).await?;
            (stored.turns, stored.facts) = (ingested.turns, ingested.facts);
        }
        Ok(stored)
    }

    pub async fn engine(&self, weights: Weights) -> Outcome<MemoryEngine> {
        let builder = MemoryEngine::builder().store(Arc::clone(&self.store)).embedder(Arc::clone(&self.embedder));
        Ok(builder.weights(weights).build().await?)
    }
}
