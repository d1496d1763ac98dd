//! Where the executor's certificates come from: flags, then Ordain's variables, then the names that other executors use.

use std::path::PathBuf;

use ordain_server::grpc::server::TlsFiles;

use super::Problem;

/// The certificates, as flags.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TlsArgs {
    /// The certificate to show, PEM
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The authorities whose certificates callers have to show, PEM
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,
}

impl TlsArgs {
    /// The files, or `None` for plain connections.
    pub(super) fn resolve(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<TlsFiles>, Problem> {
        let named = |names: &[&str]| {
            names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty())).map(PathBuf::from)
        };
        let is_secure = read_switch(variable("GRPC_USE_SECURE").as_deref())?;
        // Who says `false` gets plain connections whatever the other two of these variables say.
        let shared: &[&str] =
            if is_secure == Some(false) { &[] } else { &["GRPC_CERT_FILE", "GRPC_KEY_FILE"] };
        let certificate = self
            .tls_cert
            .clone()
            .or_else(|| named(&["ORDAIN_EXECUTOR_CERT"]))
            .or_else(|| named(shared.get(..1)?));
        let key = self
            .tls_key
            .clone()
            .or_else(|| named(&["ORDAIN_EXECUTOR_KEY"]))
            .or_else(|| named(shared.get(1..)?));
        let client_ca = self.client_ca.clone().or_else(|| named(&["ORDAIN_EXECUTOR_CLIENT_CA"]));
        match (certificate, key) {
            (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key, client_ca })),
            (None, None) if is_secure == Some(true) => Err(problem(
                "GRPC_USE_SECURE is set, and there is no certificate",
                "set GRPC_CERT_FILE and GRPC_KEY_FILE, or give --tls-cert and --tls-key",
            )),
            (None, None) if client_ca.is_some() => Err(problem(
                "a client CA is given, and there is no certificate",
                "callers can show certificates only over TLS: give --tls-cert and --tls-key",
            )),
            (None, None) => Ok(None),
            _ => Err(problem("a certificate needs a key and a key a certificate", "give both")),
        }
    }
}

fn read_switch(text: Option<&str>) -> Result<Option<bool>, Problem> {
    match text.map(|text| text.trim().to_ascii_lowercase()).as_deref() {
        None | Some("") => Ok(None),
        Some("true" | "1" | "yes" | "on") => Ok(Some(true)),
        Some("false" | "0" | "no" | "off") => Ok(Some(false)),
        Some(_) => Err(problem("GRPC_USE_SECURE is neither true nor false", "write `true` or `false`")),
    }
}

fn problem(what: &str, hint: &'static str) -> Problem {
    Problem { what: what.to_owned(), hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<Option<(PathBuf, PathBuf)>, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let files = TlsArgs::default().resolve(&variable).map_err(|problem| problem.what)?;
        Ok(files.map(|files| (files.certificate, files.key)))
    }

    #[test]
    fn the_names_of_other_executors_are_understood() {
        let files = [("GRPC_CERT_FILE", "c"), ("GRPC_KEY_FILE", "k")];
        assert_eq!(resolve(&files), Ok(Some(("c".into(), "k".into()))));
        assert_eq!(
            resolve(&[&files[..], &[("GRPC_USE_SECURE", "true")]].concat()),
            Ok(Some(("c".into(), "k".into())))
        );
        assert_eq!(resolve(&[&files[..], &[("GRPC_USE_SECURE", "False")]].concat()), Ok(None));
        assert_eq!(
            resolve(&[&files[..], &[("ORDAIN_EXECUTOR_CERT", "own")]].concat()),
            Ok(Some(("own".into(), "k".into())))
        );
    }

    #[test]
    fn half_a_configuration_is_an_error_and_never_plain_connections() {
        assert!(resolve(&[("GRPC_USE_SECURE", "true")]).is_err());
        assert!(resolve(&[("GRPC_USE_SECURE", "maybe")]).is_err());
        assert!(resolve(&[("GRPC_CERT_FILE", "c")]).is_err());
        assert!(resolve(&[("ORDAIN_EXECUTOR_CLIENT_CA", "ca")]).is_err());
        assert_eq!(resolve(&[]), Ok(None));
    }
}
