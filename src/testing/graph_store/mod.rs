//! The contract of [`GraphStore`](crate::GraphStore), one rule a function;
//! [`graph_store_suite!`](crate::graph_store_suite) makes tests of them.
//!
//! Each function takes a fresh, empty store and panics, saying what it saw, when the store breaks the rule. Those that
//! take a store twice are about one that keeps memories too: as a [`VectorStore`](crate::VectorStore), and as the graph
//! store it is.

mod concurrency;
mod lists;
mod names;
mod random;
mod round_trip;
mod scopes;
mod subject;
mod times;
mod together;
mod walks;
mod writes;

pub use concurrency::{a_dropped_write_is_whole_or_nothing, readers_see_whole_batches, writers_at_once_lose_nothing};
pub use lists::{
    a_bad_page_is_refused, a_walk_through_the_pages_survives_writes, pages_hold_everything_once,
    relations_are_found_by_their_sources, relations_are_listed_by_time, relations_of_everyone_come_by_id,
};
pub use names::{
    aliases_are_names_too, an_equal_name_comes_first, an_equal_name_is_found_among_thousands,
    equal_names_are_found_at_once, likeness_is_the_same_everywhere, names_follow_every_write,
    names_of_others_are_not_found, short_and_odd_names_are_found,
};
pub use random::{lists_are_those_of_a_plain_search, paths_are_as_short_as_can_be, walks_are_those_of_a_plain_search};
pub use round_trip::{
    all_text_is_data, entities_come_in_the_order_asked_for, every_field_of_a_relation_comes_back,
    every_field_of_an_entity_comes_back, long_text_comes_back, times_come_back_to_the_microsecond,
};
pub use scopes::{
    a_reader_sees_its_own, a_session_walks_its_own_relations, bad_scopes_are_refused_everywhere,
    delete_graph_takes_what_its_scope_covers,
};
pub use subject::{FreshGraphStore, FreshWholeStore};
pub use times::{
    a_relation_is_ended_once, an_end_learned_later_changes_no_earlier_belief, both_axes_are_exact,
    world_time_is_half_open,
};
pub use together::{
    a_graph_in_use_is_sound, a_whole_store_declares_its_graph, guards_pass_over_the_graph,
    memories_and_graph_are_one_transaction, only_delete_all_takes_the_graph_along, search_passes_over_the_graph,
    the_version_grows_with_the_graph,
};
pub use walks::{
    a_limit_keeps_the_near_and_new, a_path_is_a_shortest_one, a_walk_goes_as_deep_as_asked, a_walk_keeps_its_direction,
    a_walk_keeps_to_its_time, each_end_comes_once, relations_are_found_at_their_ends,
};
pub use writes::{
    a_batch_may_do_everything_at_once, a_batch_with_a_fault_changes_nothing, a_large_batch_is_whole,
    a_relation_needs_its_ends, a_removed_relation_leaves_its_ends, an_entity_is_replaced_by_id,
    an_entity_takes_its_relations_along, nobody_overwrites_what_is_of_others, what_was_believed_never_changes,
};

/// Makes a test of each rule of the contract of [`GraphStore`](crate::GraphStore), in a module of the given name.
///
/// The second argument is a future that gives a fresh, empty store, or a pair of one and what must outlive it; it is
/// evaluated for each test. A store that is also the [`VectorStore`](crate::VectorStore) says so, and is tested for what
/// holds of the two together. The tests need tokio with the features `macros` and `rt-multi-thread`.
///
/// ```
/// # mod sketch {
/// ingrain::graph_store_suite!(graph_alone, async { ingrain::InMemoryStore::new() });
/// ingrain::graph_store_suite!(with_memories as VectorStore, async { ingrain::InMemoryStore::new() });
/// # }
/// ```
#[macro_export]
macro_rules! graph_store_suite {
    ($name:ident as VectorStore, $factory:expr) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::graph_store_suite!(graph, $factory);
            $crate::graph_store_suite! { @together $factory,
                a_whole_store_declares_its_graph
                memories_and_graph_are_one_transaction
                the_version_grows_with_the_graph
                guards_pass_over_the_graph
                search_passes_over_the_graph
                only_delete_all_takes_the_graph_along
                a_graph_in_use_is_sound
            }
        }
    };
    ($name:ident, $factory:expr) => {
        $crate::graph_store_suite! { @rules $name, $factory,
            every_field_of_an_entity_comes_back
            every_field_of_a_relation_comes_back
            times_come_back_to_the_microsecond
            all_text_is_data
            long_text_comes_back
            entities_come_in_the_order_asked_for
            an_entity_is_replaced_by_id
            nobody_overwrites_what_is_of_others
            a_relation_needs_its_ends
            what_was_believed_never_changes
            an_entity_takes_its_relations_along
            a_removed_relation_leaves_its_ends
            a_batch_may_do_everything_at_once
            a_batch_with_a_fault_changes_nothing
            a_large_batch_is_whole
            an_equal_name_comes_first
            aliases_are_names_too
            likeness_is_the_same_everywhere
            an_equal_name_is_found_among_thousands
            equal_names_are_found_at_once
            names_follow_every_write
            short_and_odd_names_are_found
            names_of_others_are_not_found
            pages_hold_everything_once
            a_walk_through_the_pages_survives_writes
            relations_are_listed_by_time
            a_bad_page_is_refused
            relations_are_found_by_their_sources
            relations_of_everyone_come_by_id
            a_walk_goes_as_deep_as_asked
            a_walk_keeps_its_direction
            each_end_comes_once
            relations_are_found_at_their_ends
            a_limit_keeps_the_near_and_new
            a_walk_keeps_to_its_time
            a_path_is_a_shortest_one
            world_time_is_half_open
            an_end_learned_later_changes_no_earlier_belief
            a_relation_is_ended_once
            both_axes_are_exact
            bad_scopes_are_refused_everywhere
            a_reader_sees_its_own
            a_session_walks_its_own_relations
            delete_graph_takes_what_its_scope_covers
            walks_are_those_of_a_plain_search
            paths_are_as_short_as_can_be
            lists_are_those_of_a_plain_search
            writers_at_once_lose_nothing
            readers_see_whole_batches
            a_dropped_write_is_whole_or_nothing
        }
    };
    (@rules $name:ident, $factory:expr, $($rule:ident)+) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $rule() {
                    let fresh = $factory.await;
                    let (store, _kept) = $crate::testing::graph_store::FreshGraphStore::into_parts(fresh);
                    $crate::testing::graph_store::$rule(store).await;
                }
            )+
        }
    };
    (@together $factory:expr, $($rule:ident)+) => {
        $(
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                let fresh = $factory.await;
                let (memories, graph, _kept) = $crate::testing::graph_store::FreshWholeStore::into_both(fresh);
                $crate::testing::graph_store::$rule(memories, graph).await;
            }
        )+
    };
}
