//! Whether what was queued can be carried out: to the queue it is a text.

use crate::{ErrorKind, MemoryEngine, ProblemKind, ProblemPlace, Result, Verify, VerifyReport};

/// How many scopes are read at a time.
const PAGE: usize = 100;

pub(super) async fn verify(engine: &MemoryEngine, request: &Verify, report: &mut VerifyReport) -> Result<()> {
    let Some(later) = &engine.0.later else { return Ok(()) };
    let (mut after, mut looked_at) = (None, 0);
    loop {
        // What cannot be read at all is the store's to tell, and hides only what is beside it.
        let Some(scopes) = readable(later.scopes_of_everyone(after.as_ref(), PAGE).await)? else { return Ok(()) };
        for scope in &scopes {
            for add in readable(later.list(scope).await)?.into_iter().flatten().filter(|add| add.scope == *scope) {
                looked_at += 1;
                if add.to_request().is_err() {
                    report.note(ProblemKind::Unreadable, ProblemPlace::QueuedAdd(add.id));
                }
            }
        }
        request.tell("queued adds", looked_at);
        if scopes.len() < PAGE {
            return Ok(());
        }
        after = scopes.into_iter().next_back();
    }
}

fn readable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::StoreCorrupt | ErrorKind::InvalidArgument) => Ok(None),
        result => result.map(Some),
    }
}
