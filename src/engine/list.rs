use crate::{Cursor, Error, Filter, ListOrder, ListQuery, Result, Scope, Timestamp, Validity};

/// Most memories of a page.
const PAGE_LIMIT: usize = 10_000;

/// Which memories to list.
///
/// ```
/// use ingrain::{Filter, ListRequest};
/// let newest_facts = ListRequest::new().filter(Filter::eq("kind", "fact")).newest_first().limit(20);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ListRequest {
    /// Most memories of a page.
    pub limit: usize,
    /// Where the page begins.
    pub after: Option<Cursor>,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// The order.
    pub order: ListOrder,
    /// Only what held then; `None` for what holds now.
    pub as_of: Option<Timestamp>,
    /// Also what no longer holds.
    pub include_invalid: bool,
}

impl ListRequest {
    /// The first hundred memories that hold now, oldest first.
    pub fn new() -> Self {
        Self {
            limit: 100,
            after: None,
            filter: None,
            order: ListOrder::OldestFirst,
            as_of: None,
            include_invalid: false,
        }
    }

    /// Most memories of a page, 1 to 10,000. Default 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The page after the one that gave this cursor. Default: the first page.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// Only what the filter admits. Default: no filter.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Last made first. Default: first made first.
    pub fn newest_first(mut self) -> Self {
        self.order = ListOrder::NewestFirst;
        self
    }

    /// Only what held at `valid`, by what is known now. Default: what holds now.
    pub fn as_of(mut self, valid: Timestamp) -> Self {
        self.as_of = Some(valid);
        self
    }

    /// Also what was superseded or has expired. Default: not.
    pub fn include_invalid(mut self) -> Self {
        self.include_invalid = true;
        self
    }

    pub(super) fn into_query(self, scope: Scope, now: Timestamp) -> Result<ListQuery> {
        let Self { limit, after, filter, order, as_of, include_invalid } = self;
        let validity = match as_of {
            Some(_) if include_invalid => {
                return Err(Error::invalid("a list cannot be as of a time and include what is invalid"));
            }
            _ if include_invalid => Validity::Any,
            Some(then) => Validity::At(then),
            None => Validity::Current(now),
        };
        if limit > PAGE_LIMIT {
            return Err(Error::invalid(format!("the limit of a list is at most {PAGE_LIMIT}")));
        }
        let mut query = ListQuery::new(scope, validity);
        query.limit = limit;
        query.after = after;
        query.filter = filter;
        query.order = order;
        query.validate()?;
        Ok(query)
    }
}

impl Default for ListRequest {
    fn default() -> Self {
        Self::new()
    }
}
