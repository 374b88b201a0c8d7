//! What facts and memories do to a graph, over any [`GraphStore`](crate::GraphStore): which entity a name means, what a
//! relation does to those that are known, and what the entities of a query lead to.

mod asked;
mod concepts;
mod expand;
mod merge;
mod names;
mod periods;
mod resolve;
mod view;
mod web;
mod write;

pub(crate) use expand::{Led, When, expand};
pub use view::GraphView;
pub(crate) use web::{Told, Web};
pub(crate) use write::{Changes, GraphPart, write, write_deletion};
