//! The algebra of the graph: which entity a name means, and what a new relation does to those that are known. Pure; who
//! reads and writes the graph is elsewhere.

mod expand;
mod names;
mod periods;
mod resolve;
mod view;
mod web;

pub(crate) use expand::{Led, expand};
pub(crate) use periods::{Period, Settled, settle};
pub(crate) use resolve::{Likely, resolve};
pub use view::GraphView;
pub(crate) use web::{Told, Web};
