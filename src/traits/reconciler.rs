use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{CallBudget, Entity, Fact, Memory, Mention, Result, Usage};

/// A memory that a new fact may repeat, refine or contradict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// The memory as it was read.
    pub memory: Memory,
    /// Cosine similarity to the nearest of the new facts, −1 to 1.
    pub cosine: f32,
    /// Cosine similarity to each of the new facts, in their order; `None` for a fact that has nearer neighbours. Empty if
    /// only the best is known.
    pub cosines: Vec<Option<f32>>,
}

impl Neighbour {
    /// A neighbour of which the best similarity is known.
    #[must_use]
    pub fn new(memory: Memory, cosine: f32) -> Self {
        Self { memory, cosine, cosines: Vec::new() }
    }

    /// A neighbour of which the similarity to each fact is known; the best is 0 if there is none.
    #[must_use]
    pub fn near(memory: Memory, cosines: Vec<Option<f32>>) -> Self {
        let cosine = cosines.iter().flatten().copied().reduce(f32::max).unwrap_or(0.0);
        Self { memory, cosine, cosines }
    }

    /// Cosine similarity to one of the facts: its own or, where only the best is known, that, which is at least as much.
    /// `None` for a fact that has nearer neighbours.
    #[must_use]
    pub fn cosine_to(&self, fact: usize) -> Option<f32> {
        if self.cosines.is_empty() { Some(self.cosine) } else { self.cosines.get(fact).copied().flatten() }
    }
}

/// Which steps of a plan for these facts and neighbours will not be carried out: their indices, ascending, each with the
/// reason in words, without memory text.
pub type PlanCheck = fn(&[Action], &[Fact], &[Neighbour]) -> Vec<(usize, &'static str)>;

/// A stored entity that a name in the new facts may mean.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KnownEntity {
    /// The entity as it was read.
    pub entity: Entity,
    /// What is told of it, in the words of one or two of its relations, the newest; empty if nothing is.
    pub told: Vec<String>,
}

impl KnownEntity {
    /// An entity, and some of what is told of it.
    #[must_use]
    pub fn new(entity: Entity, told: Vec<String>) -> Self {
        Self { entity, told }
    }
}

/// A name in the relations of the new facts of which it cannot be told without understanding whether it means an entity that
/// is stored: "Bob", where "Robert Smith" is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenMention {
    /// The name, as it was told first.
    pub mention: Mention,
    /// The fact it was told in first, an index into the request's.
    pub fact: usize,
    /// The entities it may mean, likest first, as indices into those of the request; at least one. No other is taken.
    pub candidates: Vec<usize>,
}

impl OpenMention {
    /// A name that may mean these entities.
    #[must_use]
    pub fn new(mention: Mention, fact: usize, candidates: Vec<usize>) -> Self {
        Self { mention, fact, candidates }
    }
}

/// What an open mention means. Both are indices into the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meaning {
    /// The mention.
    pub mention: usize,
    /// The entity it means; `None` for one that is not stored.
    pub entity: Option<usize>,
}

impl Meaning {
    /// A mention that means this entity, or a new one.
    #[must_use]
    pub fn new(mention: usize, entity: Option<usize>) -> Self {
        Self { mention, entity }
    }
}

/// New facts and what is known around them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReconcileRequest<'a> {
    /// The new facts; actions name them by index.
    pub facts: &'a [Fact],
    /// Current memories near any of them, each once; actions name them by index, a model by the same number.
    pub neighbours: &'a [Neighbour],
    /// Names in the relations of the facts that are open, a few at most; none for a reconciler that does not
    /// [resolve](Reconciler::resolves_mentions) any. Meanings name them by index, a model by the same number.
    pub mentions: &'a [OpenMention],
    /// The entities that they may mean, each once, named in the same way.
    pub entities: &'a [KnownEntity],
    /// What may be spent on models; `None` for no limit.
    pub budget: Option<&'a CallBudget>,
    /// How the plan will be checked, for a maker that can mend it before it is. `None` if that is not known.
    pub check: Option<PlanCheck>,
}

impl<'a> ReconcileRequest<'a> {
    /// A request.
    #[must_use]
    pub fn new(facts: &'a [Fact], neighbours: &'a [Neighbour]) -> Self {
        Self { facts, neighbours, mentions: &[], entities: &[], budget: None, check: None }
    }
}

/// One step of a plan. `fact` and `neighbour` are indices into the request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Store the fact as a new memory.
    Add {
        /// The fact.
        fact: usize,
    },
    /// Give a memory a new text; it keeps its id, metadata and history.
    Update {
        /// The memory.
        neighbour: usize,
        /// The fact it takes in, if it is one.
        fact: Option<usize>,
        /// The new text.
        text: String,
    },
    /// End a memory's validity.
    Invalidate {
        /// The memory.
        neighbour: usize,
        /// The fact that replaces it; `None` when it was withdrawn.
        fact: Option<usize>,
    },
    /// Do nothing: the fact is known.
    Skip {
        /// The fact.
        fact: usize,
        /// The memory that says it already; `None` when another new fact does.
        neighbour: Option<usize>,
    },
}

/// What is to be done, in order. It is checked before it is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The steps.
    pub actions: Vec<Action>,
    /// What the open mentions mean. One that is not here is decided by the rules, as all are without a model: a name that no
    /// stored entity has means a new one, and one that several have the oldest.
    pub meanings: Vec<Meaning>,
    /// What the model wanted and cannot be done, in words, without memory text.
    pub rejected: Vec<String>,
    /// What was decided and why, in the model's own words, which are not checked; `None` if it gave none.
    pub account: Option<String>,
    /// Calls of a model that were made.
    pub model_calls: u32,
    /// What they cost.
    pub usage: Usage,
}

impl Plan {
    /// A plan made without a model.
    #[must_use]
    pub fn of(actions: Vec<Action>) -> Self {
        Self { actions, ..Self::default() }
    }
}

/// Decides what new facts do to what is known.
///
/// The contract: it returns a plan and writes nothing. A fact that no action names is added; the engine sees to that,
/// so a reconciler cannot lose one. It only reads, so cancelling is safe.
#[async_trait]
pub trait Reconciler: Debug + Send + Sync + 'static {
    /// A plan for `request`.
    ///
    /// # Errors
    /// What the model's client reports, [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput), and
    /// [`BudgetExhausted`](crate::ErrorKind::BudgetExhausted) where the budget does not allow a call.
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan>;

    /// Whether it tells what [open mentions](ReconcileRequest::mentions) mean; if not they are not looked for. Default: no.
    fn resolves_mentions(&self) -> bool {
        false
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Reconciler + ?Sized> Reconciler for Arc<T> {
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        (**self).reconcile(request).await
    }

    fn resolves_mentions(&self) -> bool {
        (**self).resolves_mentions()
    }
}
