use std::{fmt, sync::Arc, time::Duration};

use reqwest::Url;
use rustls::RootCertStore;
use rustls_platform_verifier::BuilderVerifierExt;

/// A base URL as it was given. It may hold a password, or a key in its query, so `Debug` shows none of these.
#[derive(Clone)]
pub(crate) struct BaseUrl(pub String);

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match checked_base(&self.0) {
            Ok(_) => fmt::Debug::fmt(&self.0, f),
            Err(_) => f.write_str("***"),
        }
    }
}

/// Says what is wrong with it, without repeating it: it may hold a password.
pub(super) fn checked_base(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "is no URL, such as `http://localhost:8080/v1`")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with `http://` or `https://`");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a name or password: give a key instead");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not have a query or a fragment");
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What requests go through: no redirects, no retries but ours, and no proxy to this machine.
pub(super) fn client(base: &Url, connect_timeout: Duration) -> Result<reqwest::Client, Cause> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    // Plain HTTP must work on a machine without certificates, where the verifier cannot be made.
    let tls = if base.scheme() == "https" {
        tls.with_platform_verifier()?.with_no_client_auth()
    } else {
        tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        // reqwest would try again on its own, uncounted.
        .retry(reqwest::retry::never())
        .user_agent(concat!("ingrain/", env!("CARGO_PKG_VERSION")));
    if is_loopback(base) {
        builder = builder.no_proxy();
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_checked_and_never_repeated() {
        for good in ["http://localhost:8080/v1", " https://api.example.com/ ", "http://[::1]:1"] {
            assert!(checked_base(good).is_ok(), "{good}");
        }
        for bad in
            ["", "localhost:8080", "ftp://x/", "https://u:secret@x/", "https://x/?key=secret", "http://x/#y", "x"]
        {
            assert!(checked_base(bad).is_err_and(|what| !what.contains("secret")), "{bad}");
            assert_eq!(format!("{:?}", BaseUrl(bad.into())), "***");
        }
    }

    #[test]
    fn servers_on_this_machine_are_known() {
        let loopback = |text: &str| checked_base(text).is_ok_and(|url| is_loopback(&url));
        assert!(["http://localhost", "http://127.0.0.2:1/v1", "http://[::1]:80"].into_iter().all(loopback));
        assert!(!["http://10.0.0.1", "https://localhost.example.com"].into_iter().any(loopback));
    }
}
