//! A reply never waits for a summary, and a summary is only ever extended.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use ingrain::{ConversationOptions, ErrorKind, Message, Role};

use super::{Clerk, Place, ada, complete, covering, exchange, message, number, sound, told};

fn options() -> ConversationOptions {
    ConversationOptions::new().max_tokens(300)
}

#[tokio::test]
async fn an_append_returns_while_the_summariser_is_at_work() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..10 {
            chat.append(exchange(number, 20)).await.unwrap();
        }
        clerk.has_begun(1).await;
        // It has begun and will not end. All of this returns nevertheless.
        for number in 10..60 {
            let appended = chat.append(exchange(number, 20)).await.unwrap();
            assert_eq!((appended.first, appended.dropped), (2 * number as u64, 0));
            let view = chat.view().await.unwrap();
            sound(&view, 300, 2 * number + 2);
            assert!(view.summary.is_none() && view.left_out > 0 && !view.shown.is_empty());
        }
        complete(&chat, 120).await;
        assert_eq!(clerk.asked().len(), 1, "{}", place.name());
        clerk.let_go();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 120);
        assert_eq!(view.left_out, 0);
        complete(&chat, 120).await;
    }
}

#[tokio::test]
async fn a_summary_is_extended_by_what_it_does_not_cover() {
    for place in Place::all() {
        let clerk = Clerk::new();
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..60 {
            chat.append(exchange(number, 20)).await.unwrap();
            chat.settle().await.unwrap();
            sound(&chat.view().await.unwrap(), 300, 2 * number + 2);
        }
        let asked = clerk.asked();
        assert!(asked.len() > 5, "{}", asked.len());
        let mut covered = 0;
        for one in &asked {
            let previous = one.previous.as_deref().map(told).unwrap_or_default();
            assert!(previous.iter().map(|piece| piece.end).eq((covered > 0).then_some(covered)), "{previous:?}");
            assert!(one.messages.iter().map(number).eq(covered..covered + one.messages.len()));
            assert!(one.messages.len() <= 10, "five exchanges at most");
            covered += one.messages.len();
        }
        assert_eq!(chat.summary().await.unwrap().unwrap().covers_before, covered as u64);
    }
}

/// What is long overdue is summarised in segments, at most four by themselves at once, and each is asked for once.
#[tokio::test]
async fn an_imported_conversation_is_summarised_in_parallel() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        chat.append((0..1_000).flat_map(|number| exchange(number, 20))).await.unwrap();
        clerk.has_begun(4).await;
        sound(&chat.view().await.unwrap(), 300, 2_000);
        clerk.let_go();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 2_000);
        assert_eq!(view.left_out, 0);
        assert_eq!(clerk.most_at_work(), 4);
        let asked = clerk.asked();
        let mut numbers: Vec<usize> = asked.iter().flat_map(|one| &one.messages).map(number).collect();
        numbers.sort_unstable();
        let covered = usize::try_from(view.summary.unwrap().covers_before).unwrap();
        assert!(numbers.into_iter().eq(0..covered), "each message is read once");
        // Four alone, and the fifth with what they gave.
        let joining: Vec<_> = asked.iter().filter_map(|one| one.previous.as_deref()).map(told).collect();
        assert!(joining.iter().all(|previous| previous.len() == 1 && previous[0].start == 0));
        assert!(joining.len() * 5 <= asked.len() + 5, "{} of {}", joining.len(), asked.len());
    }
}

#[tokio::test]
async fn work_that_an_engine_leaves_is_taken_up_by_the_next() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..20 {
            chat.append(exchange(number, 20)).await.unwrap();
        }
        clerk.has_begun(1).await;
        drop((chat, engine));
        let second = Clerk::new();
        let engine = place.engine(options(), &second).await;
        let chat = engine.conversation(&ada()).unwrap();
        sound(&chat.view().await.unwrap(), 300, 40);
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 40);
        assert!(view.left_out == 0 && view.summary.is_some() && !second.asked().is_empty());
        complete(&chat, 40).await;
        // The first one's work came to nothing, and does not come back.
        clerk.let_go();
        tokio::task::yield_now().await;
        assert_eq!(chat.view().await.unwrap(), view);
    }
}

/// Nobody keeps the handle that appended: the work goes on with the engine.
#[tokio::test]
async fn the_work_does_not_hang_on_a_handle() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let engine = place.engine(options(), &clerk).await;
        for number in 0..10 {
            engine.conversation(&ada()).unwrap().append(exchange(number, 20)).await.unwrap();
        }
        clerk.has_begun(1).await;
        clerk.let_go();
        let chat = engine.conversation(&ada()).unwrap();
        chat.settle().await.unwrap();
        sound(&chat.view().await.unwrap(), 300, 20);
        assert_eq!(clerk.asked().iter().flat_map(|one| &one.messages).count() as u64, {
            chat.summary().await.unwrap().unwrap().covers_before
        });
        // A handle outlives the engine it came from.
        drop(engine);
        chat.append(exchange(10, 20)).await.unwrap();
        sound(&chat.view().await.unwrap(), 300, 22);
    }
}

/// The runtime that the work was on ends amid it; the same engine goes on from another.
#[test]
fn the_work_goes_on_after_its_runtime_has_ended() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let first = runtime();
        let engine = first.block_on(async {
            let engine = place.engine(options(), &clerk).await;
            let chat = engine.conversation(&ada()).unwrap();
            chat.append((0..10).flat_map(|number| exchange(number, 20))).await.unwrap();
            clerk.has_begun(1).await;
            engine
        });
        drop(first);
        clerk.let_go();
        runtime().block_on(async {
            let chat = engine.conversation(&ada()).unwrap();
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            sound(&view, 300, 20);
            assert!(view.left_out == 0 && view.summary.is_some());
        });
    }
}

#[test]
fn outside_a_runtime_nothing_is_appended_that_could_not_be_summarised() {
    let place = Place::Memory(ingrain::InMemoryStore::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (clerk, none) = (Clerk::new(), options().summaries(false));
    let engines = runtime.block_on(async { (place.engine(options(), &clerk).await, place.engine(none, &clerk).await) });
    let mut context = Context::from_waker(Waker::noop());
    let chat = engines.0.conversation(&ada()).unwrap();
    let Poll::Ready(result) = pin!(chat.append(["Hello?"])).poll(&mut context) else { panic!("it would wait") };
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Configuration);
    let chat = engines.1.conversation(&ada()).unwrap();
    let Poll::Ready(result) = pin!(chat.append(["Hello?"])).poll(&mut context) else { panic!("it would wait") };
    assert_eq!(result.unwrap().first, 0);
}

/// What says nothing is no matter for a summariser, and does not hold up what follows.
#[tokio::test]
async fn what_says_nothing_is_covered_without_a_word() {
    for place in Place::all() {
        let clerk = Clerk::new();
        let engine = place.engine(options().max_exchanges(3).keep_last(0), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        for _ in 0..20 {
            chat.append([Message::user(" "), Message::assistant("")]).await.unwrap();
        }
        chat.settle().await.unwrap();
        assert_eq!(clerk.asked(), []);
        let summary = chat.summary().await.unwrap().unwrap();
        assert!(summary.covers_before > 0 && !summary.text.is_empty());
        for number in 0..20 {
            chat.append([message(Role::User, number, 3), message(Role::Assistant, number, 1)]).await.unwrap();
        }
        let clerks = Clerk::replying(|_, _| Ok("Something.".to_owned()));
        let engine = place.engine(options().max_exchanges(3).keep_last(0), &clerks).await;
        let chat = engine.conversation(&ada()).unwrap();
        chat.settle().await.unwrap();
        assert_eq!(chat.summary().await.unwrap().unwrap().text, "Something.");
    }
}
