use crate::{
    ErrorKind,
    http::{Refusal, default_kind},
};

/// What a refusal of a server of this API is to the caller.
pub(super) fn kind(refusal: &Refusal) -> ErrorKind {
    // Sent with 429, and no waiting helps: the account has no money.
    if refusal.says(&["insufficient_quota", "billing_hard_limit"]) {
        return ErrorKind::ProviderRefused;
    }
    if refusal.status != 404 && refusal.code.contains("model_not_found") {
        return ErrorKind::Configuration;
    }
    default_kind(refusal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_waiting_does_not_help_is_refused() {
        let kind_of = |status, error: serde_json::Value| kind(&Refusal::of_json(status, &json!({ "error": error })));
        let quota = json!({"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"});
        assert_eq!(kind_of(429, quota), ErrorKind::ProviderRefused);
        assert_eq!(kind_of(429, json!({"message": "slow down"})), ErrorKind::RateLimited);
        assert_eq!(kind_of(400, json!({"code": "context_length_exceeded"})), ErrorKind::InvalidArgument);
        assert_eq!(kind_of(400, json!({"code": "model_not_found"})), ErrorKind::Configuration);
    }
}
