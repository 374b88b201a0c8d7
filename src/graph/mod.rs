//! What facts and memories do to a graph, over any [`GraphStore`](crate::GraphStore): which entity a name means, what a
//! relation does to those that are known, and what the entities of a query lead to.

mod adopt;
mod asked;
mod concepts;
mod expand;
mod follow;
mod forget;
mod meant;
mod mentioned;
mod merge;
mod names;
mod open;
mod periods;
mod reading;
mod resolve;
mod told;
mod view;
mod web;
mod word;
mod write;

pub(crate) use expand::{Led, When, expand};
pub(crate) use follow::{Changed, Held};
pub(crate) use forget::Trace;
pub use meant::ResolvedMention;
pub(crate) use meant::{Meant, Openings};
pub(crate) use open::Spoken;
pub(crate) use told::{Told, predicate_of};
pub use view::GraphView;
pub(crate) use web::Web;
pub(crate) use write::{Changes, GraphPart, write, write_deletion};
