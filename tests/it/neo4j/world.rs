//! A made-up town, told to an engine whose graph is on a real server, and asked about.

use ingrain::{InMemoryStore, MemoryEngine};

use super::server::{Server, fresh};
use crate::graph_world;

#[tokio::test]
async fn a_told_town_is_known_on_any_day_as_of_any_day() {
    let Some(server) = Server::named("a_told_town_is_known_on_any_day_as_of_any_day") else { return };
    let (store, _alone) = fresh(server).await;
    graph_world::check(60, 4, 1_000, MemoryEngine::builder().store(InMemoryStore::new()).graph(store)).await;
}

#[tokio::test]
#[ignore = "takes minutes, with optimization too"]
async fn the_whole_town() {
    let Some(server) = Server::named("the_whole_town") else { return };
    let (store, _alone) = fresh(server).await;
    graph_world::check(500, 4, 10_000, MemoryEngine::builder().store(InMemoryStore::new()).graph(store)).await;
}
