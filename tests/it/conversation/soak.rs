//! Ten thousand exchanges with a summariser that is slow, fails one time in five, and is killed again and again.

use ingrain::ConversationOptions;

use super::{Clerk, Place, ada, complete, covering, exchange, out, sound};

const EXCHANGES: usize = 10_000;
/// So many exchanges are said before the engine goes away and another comes.
const ENGINES: [usize; 7] = [37, 1_400, 3, 2_500, 801, 4_000, 11];
const LIMIT: usize = 300;

fn failing_clerk() -> Clerk {
    Clerk::replying(|asked, call| if call % 5 == 0 { Err(out()) } else { Ok(covering(asked)) })
}

fn options() -> ConversationOptions {
    ConversationOptions::new().max_tokens(LIMIT)
}

#[tokio::test]
async fn ten_thousand_exchanges_are_neither_lost_nor_doubled() {
    for place in Place::all() {
        let mut said = 0;
        let mut steps = [1, 3, 1, 40, 2, 90].into_iter().cycle();
        let mut calls = 0;
        for lives in ENGINES.into_iter().cycle() {
            let clerk = failing_clerk();
            let engine = place.engine(options(), &clerk).await;
            let chat = engine.conversation(&ada()).unwrap();
            let end = EXCHANGES.min(said + lives);
            while said < end {
                let step = steps.next().unwrap().min(end - said);
                // Of very different lengths, some beyond all limits.
                let size = |number: usize| match number % 17 {
                    3 => 120,
                    8 => 1,
                    number => 5 + 3 * number,
                };
                chat.append((said..said + step).flat_map(|number| exchange(number, size(number)))).await.unwrap();
                said += step;
                // At any moment, with summaries under way or overdue.
                sound(&chat.view().await.unwrap(), LIMIT, 2 * said);
                for _ in 0..step {
                    tokio::task::yield_now().await;
                }
            }
            calls += clerk.asked().len();
            if said == EXCHANGES {
                assert!(calls > 500, "summaries were made meanwhile: {calls}");
                while chat.settle().await.is_err() {}
                let view = chat.view().await.unwrap();
                sound(&view, LIMIT, 2 * EXCHANGES);
                assert_eq!(view.left_out, 0, "{}", place.name());
                complete(&chat, 2 * EXCHANGES).await;
                break;
            }
            // Amid whatever it is at.
        }
    }
}

#[cfg(all(feature = "sqlite", unix))]
mod killed {
    use std::path::Path;

    use ingrain::{MemoryEngine, SqliteStore};

    use super::*;
    use crate::{
        conversation::builder,
        processes::{Second, given, say},
    };

    const ROUNDS: usize = 12;

    async fn open(path: &Path) -> MemoryEngine {
        let store = SqliteStore::open(path).await.unwrap();
        builder(std::sync::Arc::new(store), options()).summarizer(failing_clerk()).build().await.unwrap()
    }

    /// What the process does that will be killed: goes on with the conversation, and says what had returned.
    async fn talk_until_killed(path: &Path) {
        let engine = open(path).await;
        let chat = engine.conversation(&ada()).unwrap();
        let mut next = chat.messages(0, usize::MAX).await.unwrap().len() / 2;
        loop {
            chat.append(exchange(next, 20)).await.unwrap();
            say(&format!("{next} was said"));
            next += 1;
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_kill_amid_a_summary_loses_and_doubles_nothing() {
        if let Some((path, _)) = given() {
            return talk_until_killed(&path).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut said = 0;
        for round in 0..ROUNDS {
            let name = "conversation::soak::killed::a_kill_amid_a_summary_loses_and_doubles_nothing";
            let mut process = Second::running(name, &path, "");
            let seen: Vec<String> = (0..5 + round * 11 % 40).map_while(|_| process.heard()).collect();
            process.kill();
            let heard = seen.into_iter().chain(std::iter::from_fn(|| process.heard()));
            // A line that was cut off by the kill says nothing.
            let returned = heard.filter(|line| line.ends_with(" was said")).count();
            assert!(returned > 0);
            let engine = open(&path).await;
            let chat = engine.conversation(&ada()).unwrap();
            let now = chat.messages(0, usize::MAX).await.unwrap().len();
            // The last may have been written and not said.
            assert!(now == said + 2 * returned || now == said + 2 * returned + 2, "{said}, {returned}, {now}");
            said = now;
            complete(&chat, said).await;
            sound(&chat.view().await.unwrap(), LIMIT, said);
            // Now and then the next process finds what this one has left.
            if round % 3 != 1 {
                while chat.settle().await.is_err() {}
                let view = chat.view().await.unwrap();
                sound(&view, LIMIT, said);
                assert_eq!(view.left_out, 0);
            }
        }
        assert!(said > 200, "the processes got somewhere: {said}");
    }
}
