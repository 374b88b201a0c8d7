//! stub until the branch lands
use crate::*;
use async_trait::async_trait;
/// x
#[derive(Debug, Clone, Default)]
pub struct RuleExtractor;
impl RuleExtractor {
    /// x
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}
#[async_trait]
impl Extractor for RuleExtractor {
    async fn extract(&self, _: &ExtractRequest<'_>) -> Result<Extraction> {
        Ok(Extraction::default())
    }
}
/// x
#[derive(Debug, Clone, Default)]
pub struct RuleReconciler;
impl RuleReconciler {
    /// x
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}
#[async_trait]
impl Reconciler for RuleReconciler {
    async fn reconcile(&self, _: &ReconcileRequest<'_>) -> Result<Plan> {
        Ok(Plan::default())
    }
}
