//! Tools that read.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    MemoryTools, ToolResult,
    arguments::{Arguments, Fault},
    ids, show,
};
use crate::{
    Filter, ListOrder, ListQuery, ListRequest, Memory, MemoryId, MemoryKind, Result, SearchRequest, Stage, Timestamp,
    Validity, frame::quoted,
};

/// Most memories that a search gives, and how many without a limit.
const MOST: usize = 20;
const LIMIT: usize = 10;
/// Most memories whose categories are counted.
const COUNTED: usize = 20_000;
/// How many are read at a time.
const PAGE: usize = 1_000;
/// Most categories that are named where one is not found, and most characters that a category is shown with.
const NAMED: usize = 20;
const NAME: usize = 64;

/// What is looked for.
struct Wanted {
    query: Option<String>,
    filter: Filter,
    categories: Vec<String>,
    /// Whether there is more to the filter than what the tools reach.
    filtered: bool,
    limit: usize,
}

impl MemoryTools {
    pub(super) async fn search(&self, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        let wanted = match self.wanted(arguments) {
            Ok(wanted) => wanted,
            Err(fault) => return Ok(Err(fault)),
        };
        let found = self.found(&wanted).await?;
        if found.is_empty() {
            return Ok(Ok(ToolResult::said(self.nothing(&wanted).await?)));
        }
        let lines = found.into_iter().map(|memory| (format!("[{}]", ids::short(memory.id)), memory)).collect();
        let show::Listing { mut text, memories, left_out } = show::listing(lines, self.room());
        if left_out > 0 {
            text.push_str(&format!("\n{left_out} more had no room here: ask for fewer, or for something narrower."));
        }
        Ok(Ok(ToolResult { memories, ..ToolResult::said(text) }))
    }

    fn wanted(&self, arguments: &Arguments) -> Result<Wanted, Fault> {
        let mut filters = vec![self.reached()];
        let categories = arguments.list("categories")?;
        if !categories.is_empty() {
            filters.push(Filter::any_of("categories", categories.iter().map(String::as_str)));
        }
        let kinds = arguments.list("kinds")?;
        if !kinds.is_empty() {
            filters.push(Filter::any_of("kind", self.kinds_named(&kinds)?));
        }
        let now = self.now();
        let (from, to) = (arguments.time("from", now)?, arguments.time("to", now)?);
        if from.zip(to).is_some_and(|(from, to)| from.start() >= to.end()) {
            return Err("`from` is later than `to`".to_owned());
        }
        // An open side bounds nothing.
        if let Some(start) = from.map(|from| from.start()).filter(|start| *start > Timestamp::MIN_UTC) {
            filters.push(Filter::gte("observed_at", start.to_rfc3339()));
        }
        if let Some(end) = to.map(|to| to.end()).filter(|end| *end < Timestamp::MAX_UTC) {
            filters.push(Filter::lt("observed_at", end.to_rfc3339()));
        }
        Ok(Wanted {
            query: arguments.short("query")?.map(str::to_owned),
            filtered: filters.len() > 1,
            filter: Filter::And(filters),
            categories,
            limit: arguments.count("limit", MOST)?.unwrap_or(LIMIT),
        })
    }

    /// The kinds that a model means, in the singular or the plural.
    fn kinds_named(&self, names: &[String]) -> Result<Vec<MemoryKind>, Fault> {
        let all = self.options.found_kinds();
        let named = |name: &String| {
            let name = name.to_lowercase();
            let forms = [name.as_str(), name.strip_suffix('s').unwrap_or(&name)];
            forms.into_iter().map(MemoryKind::from).find(|kind| all.contains(kind))
        };
        names.iter().map(named).collect::<Option<_>>().ok_or_else(|| {
            let all: Vec<&str> = all.iter().map(MemoryKind::as_str).collect();
            format!("`kinds` must be of {}", all.join(", "))
        })
    }

    async fn found(&self, wanted: &Wanted) -> Result<Vec<Memory>> {
        let Wanted { query, filter, limit, .. } = wanted;
        let Some(query) = query else {
            let request = ListRequest::new().filter(filter.clone()).limit(*limit).newest_first();
            return Ok(self.engine.list(&self.scope, request).await?.items);
        };
        let mut request = SearchRequest::new(query).filter(filter.clone()).limit(*limit);
        request.threshold = self.options.threshold;
        let hits = self.engine.search(&self.scope, request).await?;
        Ok(hits.into_iter().map(|hit| hit.memory).collect())
    }

    /// That nothing was found, and what to do about it.
    async fn nothing(&self, wanted: &Wanted) -> Result<String> {
        let mut text = match (&wanted.query, wanted.filtered) {
            (Some(_), true) => "No memory matched the query together with the filters.",
            (Some(_), false) => "No memory matched the query.",
            (None, true) => "No memory matched the filters.",
            (None, false) => "Nothing is remembered yet.",
        }
        .to_owned();
        let known = if wanted.categories.is_empty() { Vec::new() } else { self.counted().await?.0 };
        if !known.is_empty() && !known.iter().any(|(name, _)| wanted.categories.contains(name)) {
            let names: Vec<String> = known.iter().take(NAMED).map(|(name, _)| quoted(&shortened(name))).collect();
            text.push_str(&within(" Categories that there are: ", &names, self.room().saturating_sub(text.len())));
        }
        Ok(text)
    }

    pub(super) async fn list_categories(&self) -> Result<ToolResult> {
        let (counted, is_all) = self.counted().await?;
        if counted.is_empty() {
            return Ok(ToolResult::said("No memory has a category.".to_owned()));
        }
        let names: Vec<String> =
            counted.iter().map(|(name, count)| format!("{} ({count})", quoted(&shortened(name)))).collect();
        let head = if is_all {
            "Categories, with how many memories have them: "
        } else {
            "Categories of the newest memories: "
        };
        Ok(ToolResult::said(within(head, &names, self.room())))
    }

    /// The categories with how many memories have each, the most frequent first, and whether all memories were looked at.
    async fn counted(&self) -> Result<(Vec<(String, usize)>, bool)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut query = ListQuery::new(self.scope.clone(), Validity::Current(self.now()));
        query.filter = Some(self.reached() & Filter::exists("categories"));
        (query.limit, query.order) = (PAGE, ListOrder::NewestFirst);
        let mut pages = 0;
        loop {
            let page = self.engine.store().list(&query).await.map_err(|error| error.with_stage(Stage::Search))?;
            for memory in page.items {
                for category in memory.categories {
                    *counts.entry(category).or_default() += 1;
                }
            }
            pages += 1;
            query.after = page.next;
            if query.after.is_none() || pages * PAGE >= COUNTED {
                break;
            }
        }
        let mut counted: Vec<(String, usize)> = counts.into_iter().collect();
        counted.sort_by_key(|(_, count)| Reverse(*count));
        Ok((counted, query.after.is_none()))
    }

    /// What the tools reach: the kinds they are for, and no blocks, which have tools of their own.
    pub(super) fn reached(&self) -> Filter {
        let no_block = Filter::ne("kind", MemoryKind::Block);
        match &self.options.kinds {
            Some(kinds) => no_block & Filter::any_of("kind", kinds.clone()),
            None => no_block,
        }
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// As many of the names as there is room for.
fn within(head: &str, names: &[String], room: usize) -> String {
    const MORE: &str = ", …";
    let mut text = head.to_owned();
    let mut length = head.chars().count() + MORE.chars().count();
    for (number, name) in names.iter().enumerate() {
        length += name.chars().count() + 2;
        if length > room {
            text.push_str(MORE);
            break;
        }
        text.push_str(if number == 0 { "" } else { ", " });
        text.push_str(name);
    }
    text
}

/// Ids in the order given, each once.
pub(super) fn distinct(ids: impl IntoIterator<Item = MemoryId>) -> Vec<MemoryId> {
    let mut distinct = Vec::new();
    for id in ids {
        if !distinct.contains(&id) {
            distinct.push(id);
        }
    }
    distinct
}
