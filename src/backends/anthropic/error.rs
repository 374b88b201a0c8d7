use crate::{
    ErrorKind,
    http::{Refusal, default_kind},
};

/// What a refusal of this API is to the caller. Errors inside of a stream have a type and no status.
pub(super) fn kind(refusal: &Refusal) -> ErrorKind {
    match refusal.code.as_str() {
        "overloaded_error" | "rate_limit_error" => ErrorKind::RateLimited,
        "api_error" | "timeout_error" => ErrorKind::ProviderUnreachable,
        "request_too_large" => ErrorKind::InvalidArgument,
        "authentication_error" | "permission_error" | "billing_error" => ErrorKind::ProviderRefused,
        "not_found_error" => ErrorKind::Configuration,
        _ => default_kind(refusal),
    }
}
