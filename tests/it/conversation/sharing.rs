//! Several workers on one conversation, and conversations that are erased amid the work.

use ingrain::{ConversationOptions, Scope};

use super::{Clerk, Place, ada, complete, covering, exchange, number, sound};

fn options() -> ConversationOptions {
    ConversationOptions::new().max_tokens(300)
}

/// One that was slower throws its summary away and goes on where the other has come to.
#[tokio::test]
async fn of_two_who_summarise_the_same_one_gets_through() {
    for place in Place::all() {
        let (slow, quick) = (Clerk::held(|asked, _| Ok(covering(asked))), Clerk::new());
        let engines = (place.engine(options(), &slow).await, place.engine(options(), &quick).await);
        let chats = (engines.0.conversation(&ada()).unwrap(), engines.1.conversation(&ada()).unwrap());
        for number in 0..10 {
            chats.0.append(exchange(number, 20)).await.unwrap();
        }
        slow.has_begun(1).await;
        chats.1.settle().await.unwrap();
        let view = chats.1.view().await.unwrap();
        sound(&view, 300, 20);
        slow.let_go();
        chats.0.settle().await.unwrap();
        assert_eq!(chats.0.view().await.unwrap(), view, "{}", place.name());
        assert!(chats.0.failure().is_none(), "it is no failure");
        for number in 10..20 {
            chats.0.append(exchange(number, 20)).await.unwrap();
        }
        chats.0.settle().await.unwrap();
        sound(&chats.1.view().await.unwrap(), 300, 40);
        assert_eq!(number(&slow.asked()[1].messages[0]) as u64, view.summary.unwrap().covers_before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_at_once_lose_and_double_nothing() {
    for place in Place::all() {
        let mut tasks = Vec::new();
        // One number for all, given out together with the place in the conversation.
        let next = std::sync::Arc::new(tokio::sync::Mutex::new(0));
        for worker in 0..3 {
            let clerk = Clerk::replying(move |asked, call| {
                if (call + worker).is_multiple_of(5) { Err(super::out()) } else { Ok(covering(asked)) }
            });
            let engine = place.engine(options(), &clerk).await;
            let next = std::sync::Arc::clone(&next);
            tasks.push(tokio::spawn(async move {
                let chat = engine.conversation(&ada()).unwrap();
                for _ in 0..60 {
                    let said = {
                        let mut next = next.lock().await;
                        let appended = chat.append(exchange(*next, 20)).await.unwrap();
                        assert_eq!(appended.first, 2 * *next as u64);
                        *next += 1;
                        *next
                    };
                    let view = chat.view().await.unwrap();
                    assert!(view.size <= 300);
                    let last = view.shown.last().copied().unwrap();
                    assert!(last + 1 >= 2 * said as u64, "what was appended is shown");
                    tokio::task::yield_now().await;
                }
                while chat.settle().await.is_err() {}
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let engine = place.engine(options(), &Clerk::new()).await;
        let chat = engine.conversation(&ada()).unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 360);
        assert_eq!(view.left_out, 0);
        complete(&chat, 360).await;
    }
}

#[tokio::test]
async fn a_summary_of_what_was_erased_vanishes() {
    for place in Place::all() {
        for by_engine in [false, true] {
            let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
            let engine = place.engine(options(), &clerk).await;
            let alice = Scope::user(format!("alice {by_engine}"));
            let chat = engine.conversation(&alice).unwrap();
            for number in 0..10 {
                chat.append(exchange(number, 20)).await.unwrap();
            }
            clerk.has_begun(1).await;
            if by_engine {
                engine.delete_all(&alice).await.unwrap();
            } else {
                assert_eq!(chat.erase().await.unwrap(), 20);
            }
            // What is said next begins anew.
            let first = chat.append(exchange(10, 20)).await.unwrap().first;
            assert_eq!(first, 20);
            clerk.let_go();
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            assert_eq!((view.summary, view.shown.as_slice(), view.left_out), (None, &[20, 21][..], 0));
            for number in 11..20 {
                chat.append(exchange(number, 20)).await.unwrap();
            }
            chat.settle().await.unwrap();
            let view = chat.view().await.unwrap();
            let told = super::told(&view.summary.unwrap().text);
            assert!(told.len() == 1 && told[0].start == 20, "{told:?}");
        }
    }
}

#[tokio::test]
async fn conversations_are_named_by_their_whole_scope() {
    for place in Place::all() {
        let engine = place.engine(options(), &Clerk::new()).await;
        let alice = Scope::user("alice");
        let sessions = ["monday", "tuesday"].map(|session| alice.clone().with_session(session));
        for scope in sessions.iter().chain([&alice]) {
            let chat = engine.conversation(scope).unwrap();
            chat.append([format!("This is {scope:?}.")]).await.unwrap();
            assert_eq!((chat.scope(), chat.view().await.unwrap().shown.len()), (scope, 1));
        }
        let chats = sessions.each_ref().map(|session| engine.conversation(session).unwrap());
        assert_eq!(chats[0].erase().await.unwrap(), 1);
        assert_eq!(chats[1].view().await.unwrap().shown, [0]);
        assert_eq!(engine.conversation(&alice).unwrap().erase().await.unwrap(), 2, "the user's takes the sessions'");
        assert!(engine.conversation(&Scope::user(" ")).is_err());
        assert!(engine.conversation(&alice).unwrap().append(Vec::<String>::new()).await.is_err());
    }
}
