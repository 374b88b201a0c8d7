//! One table per language: words and patterns, no code.

mod chinese;
mod english;
mod french;
mod german;
mod russian;
mod spanish;

use super::table::Table;

/// All languages; of equally good readings of a text the earlier one counts.
pub(super) const ALL: [&Table; 6] =
    [&english::TABLE, &russian::TABLE, &spanish::TABLE, &german::TABLE, &french::TABLE, &chinese::TABLE];
