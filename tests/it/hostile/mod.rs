//! Hostile texts through every entrance: none changes another memory, escapes its quotation or reaches a query language.

pub mod entrances;
mod feeding;
mod speakers;
pub mod texts;
