//! Every backend against the suite of its trait, also behind the wrappers that users put around one.

use std::sync::Arc;

use ingrain::{
    ChatResponse, GraphStore, HashingEmbedder, InMemoryStore, Llm, LlmFn, VectorStore,
    testing::{FaultyStore, GivenVectors, ScriptedLlm},
};

ingrain::vector_store_suite!(in_memory, async { InMemoryStore::new() });
ingrain::vector_store_suite!(faulty_store_without_a_fault, async { FaultyStore::new(InMemoryStore::new()) });
ingrain::vector_store_suite!(store_behind_a_pointer, async {
    let store: Arc<dyn VectorStore> = Arc::new(InMemoryStore::new());
    Arc::new(store)
});

ingrain::graph_store_suite!(in_memory_graph as VectorStore, async { InMemoryStore::new() });
ingrain::graph_store_suite!(faulty_graph_without_a_fault as VectorStore, async {
    FaultyStore::new(InMemoryStore::new())
});
ingrain::graph_store_suite!(graph_behind_a_pointer, async {
    let store: Arc<dyn GraphStore> = Arc::new(InMemoryStore::new());
    Arc::new(store)
});

ingrain::add_queue_suite!(queue_in_memory, async { InMemoryStore::new().companions().queue.unwrap() });
ingrain::add_queue_suite!(faulty_queue_without_a_fault, async {
    FaultyStore::new(InMemoryStore::new()).companions().queue.unwrap()
});
ingrain::add_queue_suite!(queue_behind_pointers, async {
    let store: Arc<dyn VectorStore> = Arc::new(Arc::new(InMemoryStore::new()));
    Arc::new(store.companions().queue.unwrap())
});

ingrain::conversation_store_suite!(conversations_in_memory, async {
    InMemoryStore::new().companions().conversations.unwrap()
});
ingrain::conversation_store_suite!(faulty_conversations_without_a_fault, async {
    FaultyStore::new(InMemoryStore::new()).companions().conversations.unwrap()
});
ingrain::conversation_store_suite!(conversations_behind_pointers, async {
    let store: Arc<dyn VectorStore> = Arc::new(Arc::new(InMemoryStore::new()));
    Arc::new(store.companions().conversations.unwrap())
});

ingrain::embedder_suite!(hashing, async { HashingEmbedder::new(64) });
ingrain::embedder_suite!(given_vectors, async { GivenVectors::new(8) });

ingrain::llm_suite!(scripted_llm, async { (0..64).fold(ScriptedLlm::new(), |llm, _| llm.reply("A small boat.")) });
ingrain::llm_suite!(function_as_llm, async {
    LlmFn::new("boats", |_| async { Ok(ChatResponse::text("A small boat.")) })
});
ingrain::llm_suite!(llm_behind_a_pointer, async {
    let llm: Arc<dyn Llm> = Arc::new(LlmFn::new("boats", |_| async { Ok(ChatResponse::text("A small boat.")) }));
    Arc::new(llm)
});

#[cfg(feature = "static-embedder")]
ingrain::embedder_suite!(static_embedder, async { ingrain::StaticEmbedder::builtin() });

#[cfg(feature = "sqlite")]
mod sqlite {
    use ingrain::{SqliteStore, VectorStore};

    ingrain::vector_store_suite!(file, async {
        let folder = tempfile::tempdir().unwrap();
        (SqliteStore::open(folder.path().join("memory.db")).await.unwrap(), folder)
    });
    ingrain::vector_store_suite!(in_memory, async { SqliteStore::open_in_memory().await.unwrap() });

    ingrain::graph_store_suite!(graph_in_a_file as VectorStore, async {
        let folder = tempfile::tempdir().unwrap();
        (SqliteStore::open(folder.path().join("memory.db")).await.unwrap(), folder)
    });
    ingrain::graph_store_suite!(graph_in_memory as VectorStore, async { SqliteStore::open_in_memory().await.unwrap() });

    ingrain::add_queue_suite!(queue_in_file, async {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
        (store.companions().queue.unwrap(), folder)
    });
    ingrain::add_queue_suite!(queue_in_memory, async {
        SqliteStore::open_in_memory().await.unwrap().companions().queue.unwrap()
    });

    ingrain::conversation_store_suite!(conversations_in_file, async {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("memory.db")).await.unwrap();
        (store.companions().conversations.unwrap(), folder)
    });
    ingrain::conversation_store_suite!(conversations_in_memory, async {
        SqliteStore::open_in_memory().await.unwrap().companions().conversations.unwrap()
    });

    // A cache that holds no index whole: every search builds its own again.
    ingrain::vector_store_suite!(file_with_a_tiny_cache, async {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::builder(folder.path().join("memory.db")).cache_bytes(1).open().await.unwrap();
        (store, folder)
    });
}

/// The same under a key: SQLCipher takes the place of SQLite.
#[cfg(feature = "encryption")]
mod encrypted {
    use ingrain::{SqliteStore, VectorStore};

    /// A raw key, since deriving one for each connection of each test would take minutes.
    async fn store(cache_bytes: usize) -> (SqliteStore, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let builder = SqliteStore::builder(folder.path().join("memory.db")).raw_key([7; 32]);
        (builder.cache_bytes(cache_bytes).open().await.unwrap(), folder)
    }

    ingrain::vector_store_suite!(memories, async { store(1 << 20).await });
    ingrain::vector_store_suite!(memories_with_a_tiny_cache, async { store(1).await });
    ingrain::graph_store_suite!(graph as VectorStore, async { store(1 << 20).await });
    ingrain::add_queue_suite!(queue, async {
        let (store, folder) = store(1).await;
        (store.companions().queue.unwrap(), folder)
    });
    ingrain::conversation_store_suite!(conversations, async {
        let (store, folder) = store(1).await;
        (store.companions().conversations.unwrap(), folder)
    });
}
