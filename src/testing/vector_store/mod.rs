//! The contract of [`VectorStore`](crate::VectorStore), one rule a function;
//! [`vector_store_suite!`](crate::vector_store_suite) makes tests of them.
//!
//! Each function takes a fresh, empty store and panics, saying what it saw, when the store breaks the rule. The suite
//! binds the store itself, to an embedder called `suite` of 4 dimensions.

mod arms;
mod atomic;
mod concurrency;
mod dates;
mod filters;
mod forgetting;
mod guards;
mod history;
mod keyword;
mod paging;
mod purging;
mod reembedding;
mod round_trip;
mod scopes;
mod subject;
mod validity;
mod vector;
mod verifying;
mod writes;

pub use arms::{
    an_empty_scope_gives_an_empty_result, each_candidate_has_both_similarities, the_limit_is_that_of_each_arm,
    the_same_query_gives_the_same, turns_tell_their_surroundings, what_both_arms_propose_comes_once,
    what_is_given_is_proposed_too, without_an_arm_the_newest_are_proposed,
    without_an_arm_turns_are_found_by_their_places,
};
pub use atomic::{
    a_bad_number_of_a_memory_refuses_the_batch, a_bad_scope_refuses_the_batch, a_failed_expectation_refuses_the_batch,
    a_large_batch_is_whole, a_memory_of_others_refuses_the_batch, a_new_memory_without_keys_refuses_the_batch,
    a_removal_twice_refuses_the_batch, a_vector_that_is_not_finite_refuses_the_batch, a_wrong_width_refuses_the_batch,
    an_id_stored_and_removed_refuses_the_batch, an_id_twice_refuses_the_batch, an_undeclared_graph_refuses_the_batch,
    an_unknown_removal_refuses_the_batch,
};
pub use concurrency::{
    a_dropped_write_is_whole_or_nothing, of_writers_of_a_revision_one_gets_through, readers_see_whole_batches,
    writers_at_once_lose_nothing,
};
pub use dates::{
    a_named_time_lets_nothing_in, a_named_time_proposes_up_to_the_limit, a_named_time_proposes_what_lies_in_it,
    a_named_time_without_an_arm_proposes_the_newest, what_holds_lies_in_the_times_it_holds,
};
pub use filters::{
    a_bad_filter_is_refused, a_filter_opens_no_scope, field_filters_mean_what_they_mean,
    filters_give_the_same_sets_everywhere, metadata_filters_mean_what_they_mean, times_are_filtered_as_instants,
    what_is_filtered_out_takes_no_place,
};
pub use forgetting::{
    a_recall_counts_and_changes_nothing_else, a_recall_passes_over_the_unknown, a_session_takes_its_own_only,
    all_of_mine_and_nothing_else, each_gets_a_delete_event, what_has_ended_goes_too,
};
pub use guards::{
    a_guard_needs_a_scope, a_guard_sees_what_its_scope_covers, a_semantic_change_holds_the_write_back,
    a_stranger_holds_nothing_back, an_episode_holds_nothing_back, delete_all_is_a_change_and_a_recall_is_none,
    of_guarded_writers_one_gets_through,
};
pub use history::{
    each_memory_has_its_own_history, events_come_back_as_given, events_may_stand_alone, history_stays_in_its_scope,
    the_story_outlives_the_memory, what_was_removed_is_told,
};
pub use keyword::{
    any_text_is_a_query, case_and_composition_are_folded, common_words_alone_are_a_query,
    denser_texts_are_more_similar, keyword_similarity_stays_in_range, more_words_are_more_similar,
    no_words_propose_nothing, of_equal_texts_the_newer_comes_first, rare_words_say_more,
    the_best_key_decides_the_words, the_words_follow_every_write, words_are_found_in_unbroken_text,
    words_with_signs_are_found,
};
pub use paging::{
    a_bad_page_is_refused, a_cursor_is_a_place, a_filtered_list_has_pages_too, a_list_goes_by_id,
    a_walk_survives_writes, an_empty_list_is_one_page, pages_hold_every_memory_once,
};
pub use purging::{
    a_history_is_erased_with_its_batch, a_purge_holds_planned_writes_back, a_purge_keeps_to_its_scope,
    a_purge_leaves_no_trace, a_scrub_changes_nothing,
};
pub use reembedding::{
    a_faulty_vector_is_not_staged, a_swap_waits_for_what_was_written_meanwhile, an_embedder_is_changed_as_a_whole,
    keys_are_walked_in_pieces, the_later_change_of_embedder_goes_on, vectors_of_two_embedders_never_mix,
    what_is_gone_needs_no_new_vector,
};
pub use round_trip::{
    a_megabyte_of_text_comes_back, any_id_is_kept, every_field_comes_back,
    get_keeps_the_order_and_leaves_out_the_unknown, get_takes_many_ids, kinds_and_trust_come_back,
    metadata_comes_back_exactly, numbers_at_the_ends_come_back, texts_come_back_byte_for_byte,
    times_come_back_to_the_microsecond, turns_get_their_place,
};
pub use scopes::{
    a_loud_neighbour_crowds_nobody_out, a_reader_sees_its_own, an_id_opens_no_door, bad_scopes_are_refused_everywhere,
    scopes_of_everyone_come_in_order, strangers_move_no_similarity, tricky_names_stay_apart,
};
pub use subject::FreshStore;
pub use validity::{
    an_end_may_be_written_later, any_is_everything, at_an_instant_is_what_held_then, current_is_what_has_not_ended,
    the_ends_of_the_calendar_are_instants, what_has_ended_takes_no_place, what_held_is_seen_beside_what_holds,
};
pub use vector::{
    a_cosine_is_a_cosine, a_query_of_the_wrong_width_is_refused, a_query_that_is_not_finite_does_no_harm,
    a_zero_vector_is_near_to_nothing, length_does_not_matter, of_equals_the_newer_is_nearer, the_best_key_counts,
    the_nearest_are_proposed, the_nearest_of_thousands,
};
pub use verifying::{a_rebuild_changes_nothing_that_is_sound, a_store_in_use_is_sound};
pub use writes::{
    a_batch_may_do_everything_at_once, a_change_replaces_state_and_keys, a_change_without_keys_keeps_them,
    a_delete_of_the_unknown_is_a_conflict, a_delete_takes_one_memory, a_new_text_without_keys_keeps_the_old_ones,
    a_revision_must_be_the_present_one, absent_means_not_there, an_empty_batch_changes_nothing,
    another_embedder_is_refused_by_name, anything_stores_and_replaces, binding_again_is_free,
    every_key_finds_its_memory, keys_come_back_in_their_scope, keys_need_a_bound_store,
    the_scope_of_a_memory_never_changes, the_version_grows,
};

/// Makes a test of each rule of the contract of [`VectorStore`](crate::VectorStore), in a module of the given name.
///
/// The second argument is a future that gives a fresh, empty store, or a pair of one and what must outlive it; it is
/// evaluated for each test. The tests need tokio with the features `macros` and `rt-multi-thread`.
///
/// ```
/// ingrain::vector_store_suite!(in_memory, async { ingrain::InMemoryStore::new() });
/// ```
#[macro_export]
macro_rules! vector_store_suite {
    ($name:ident, $factory:expr) => {
        $crate::vector_store_suite! { @rules $name, $factory,
            texts_come_back_byte_for_byte
            a_megabyte_of_text_comes_back
            every_field_comes_back
            kinds_and_trust_come_back
            metadata_comes_back_exactly
            times_come_back_to_the_microsecond
            turns_get_their_place
            numbers_at_the_ends_come_back
            any_id_is_kept
            get_keeps_the_order_and_leaves_out_the_unknown
            get_takes_many_ids
            a_change_replaces_state_and_keys
            a_change_without_keys_keeps_them
            a_new_text_without_keys_keeps_the_old_ones
            every_key_finds_its_memory
            keys_come_back_in_their_scope
            absent_means_not_there
            a_revision_must_be_the_present_one
            anything_stores_and_replaces
            the_scope_of_a_memory_never_changes
            a_delete_takes_one_memory
            a_delete_of_the_unknown_is_a_conflict
            a_batch_may_do_everything_at_once
            an_empty_batch_changes_nothing
            the_version_grows
            binding_again_is_free
            another_embedder_is_refused_by_name
            keys_need_a_bound_store
            a_wrong_width_refuses_the_batch
            a_vector_that_is_not_finite_refuses_the_batch
            an_id_twice_refuses_the_batch
            an_id_stored_and_removed_refuses_the_batch
            a_removal_twice_refuses_the_batch
            an_unknown_removal_refuses_the_batch
            a_bad_number_of_a_memory_refuses_the_batch
            a_bad_scope_refuses_the_batch
            a_new_memory_without_keys_refuses_the_batch
            a_failed_expectation_refuses_the_batch
            a_memory_of_others_refuses_the_batch
            an_undeclared_graph_refuses_the_batch
            a_large_batch_is_whole
            a_semantic_change_holds_the_write_back
            an_episode_holds_nothing_back
            a_stranger_holds_nothing_back
            a_guard_sees_what_its_scope_covers
            delete_all_is_a_change_and_a_recall_is_none
            a_guard_needs_a_scope
            of_guarded_writers_one_gets_through
            the_story_outlives_the_memory
            events_come_back_as_given
            each_memory_has_its_own_history
            history_stays_in_its_scope
            events_may_stand_alone
            what_was_removed_is_told
            a_reader_sees_its_own
            tricky_names_stay_apart
            scopes_of_everyone_come_in_order
            an_id_opens_no_door
            a_loud_neighbour_crowds_nobody_out
            strangers_move_no_similarity
            bad_scopes_are_refused_everywhere
            the_nearest_are_proposed
            of_equals_the_newer_is_nearer
            a_cosine_is_a_cosine
            length_does_not_matter
            a_zero_vector_is_near_to_nothing
            the_best_key_counts
            a_query_of_the_wrong_width_is_refused
            a_query_that_is_not_finite_does_no_harm
            the_nearest_of_thousands
            denser_texts_are_more_similar
            keyword_similarity_stays_in_range
            more_words_are_more_similar
            rare_words_say_more
            of_equal_texts_the_newer_comes_first
            the_best_key_decides_the_words
            case_and_composition_are_folded
            words_are_found_in_unbroken_text
            words_with_signs_are_found
            any_text_is_a_query
            no_words_propose_nothing
            common_words_alone_are_a_query
            the_words_follow_every_write
            each_candidate_has_both_similarities
            the_limit_is_that_of_each_arm
            what_both_arms_propose_comes_once
            what_is_given_is_proposed_too
            without_an_arm_the_newest_are_proposed
            without_an_arm_turns_are_found_by_their_places
            the_same_query_gives_the_same
            turns_tell_their_surroundings
            a_named_time_proposes_what_lies_in_it
            a_named_time_proposes_up_to_the_limit
            a_named_time_lets_nothing_in
            a_named_time_without_an_arm_proposes_the_newest
            what_holds_lies_in_the_times_it_holds
            an_empty_scope_gives_an_empty_result
            current_is_what_has_not_ended
            what_held_is_seen_beside_what_holds
            at_an_instant_is_what_held_then
            any_is_everything
            the_ends_of_the_calendar_are_instants
            what_has_ended_takes_no_place
            an_end_may_be_written_later
            filters_give_the_same_sets_everywhere
            a_filter_opens_no_scope
            metadata_filters_mean_what_they_mean
            field_filters_mean_what_they_mean
            times_are_filtered_as_instants
            what_is_filtered_out_takes_no_place
            a_bad_filter_is_refused
            pages_hold_every_memory_once
            a_list_goes_by_id
            a_walk_survives_writes
            a_cursor_is_a_place
            a_filtered_list_has_pages_too
            an_empty_list_is_one_page
            a_bad_page_is_refused
            a_purge_leaves_no_trace
            a_purge_keeps_to_its_scope
            a_history_is_erased_with_its_batch
            a_purge_holds_planned_writes_back
            a_scrub_changes_nothing
            a_store_in_use_is_sound
            a_rebuild_changes_nothing_that_is_sound
            an_embedder_is_changed_as_a_whole
            vectors_of_two_embedders_never_mix
            a_swap_waits_for_what_was_written_meanwhile
            keys_are_walked_in_pieces
            a_faulty_vector_is_not_staged
            the_later_change_of_embedder_goes_on
            what_is_gone_needs_no_new_vector
            all_of_mine_and_nothing_else
            what_has_ended_goes_too
            a_session_takes_its_own_only
            each_gets_a_delete_event
            a_recall_counts_and_changes_nothing_else
            a_recall_passes_over_the_unknown
            writers_at_once_lose_nothing
            of_writers_of_a_revision_one_gets_through
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
                    let (store, _kept) = $crate::testing::vector_store::FreshStore::into_parts(fresh);
                    $crate::testing::vector_store::$rule(store).await;
                }
            )+
        }
    };
}
