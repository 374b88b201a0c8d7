//! The contract, on a real server.

use super::server::fresh;

// Without a server the test ends here, which the suite cannot know.
ingrain::graph_store_suite!(rules, {
    let Some(server) = super::super::server::Server::named(module_path!()) else { return };
    fresh(server)
});
