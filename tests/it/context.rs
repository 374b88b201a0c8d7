//! What goes into a prompt, and what becomes of it when it comes back.

pub mod frame;
mod recalled;
mod room;
mod shown;
