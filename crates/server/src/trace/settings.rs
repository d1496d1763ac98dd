//! Where traces go, by the variables that all tools of `OpenTelemetry` know.

use std::time::Duration;

/// How long a collector may take, unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long spans are gathered, unless told otherwise.
const GATHER: Duration = Duration::from_secs(1);
/// Spans that may wait, unless told otherwise.
const QUEUE_MAX: usize = 2048;

/// Where traces go, and which of them.
#[derive(Clone, PartialEq)]
pub struct TraceSettings {
    /// The address that takes traces.
    pub endpoint: String,
    /// Headers to send along; they often hold a secret.
    pub headers: Vec<(String, String)>,
    /// What this process is: `service.name` and more.
    pub resource: Vec<(String, String)>,
    /// How long a collector may take.
    pub timeout: Duration,
    /// Spans that may wait to be sent.
    pub queue_max: usize,
    /// How long spans are gathered before they are sent.
    pub gather: Duration,
    /// The share of new traces that are recorded, from 0 to 1.
    pub share: f64,
    /// Whether a caller that sends its place in a trace decides whether that trace is recorded.
    pub asks_caller: bool,
}

/// Why the variables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {variable} {said}")]
pub struct TraceSettingsError {
    variable: &'static str,
    said: String,
    hint: &'static str,
}

impl TraceSettingsError {
    pub(super) fn endpoint(error: &dyn std::error::Error) -> Self {
        let said = format!("cannot be used: {error}");
        Self { variable: "OTEL_EXPORTER_OTLP_ENDPOINT", said, hint: "leave it out to send no traces" }
    }

    /// What would help.
    pub fn hint(&self) -> Option<String> {
        Some(self.hint.to_owned())
    }
}

impl TraceSettings {
    /// Reads the variables. `None` if no endpoint is set, or traces are switched off.
    pub fn from_environment(
        service: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, TraceSettingsError> {
        let variable = |name: &str| {
            variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let own = |name: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let exporter = variable("OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
        let whole = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
        let Some(endpoint) = whole.or(base.map(|base| format!("{}/v1/traces", base.trim_end_matches('/'))))
        else {
            return Ok(None);
        };
        if is_off || exporter == "none" {
            return Ok(None);
        }
        check("OTEL_TRACES_EXPORTER", exporter == "otlp", "knows only `otlp` and `none`", "leave it out")?;
        check(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            endpoint.starts_with("http://") || endpoint.starts_with("https://"),
            "is not an address",
            "write it as http://HOST:4318",
        )?;
        let protocol = own("PROTOCOL").unwrap_or_else(|| "http/json".to_owned());
        check(
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            protocol == "http/json",
            "asks for a protocol that is not spoken here",
            "set it to http/json, which collectors take on port 4318",
        )?;
        let (share, asks_caller) = sampler(&variable)?;
        let mut resource = pairs("OTEL_RESOURCE_ATTRIBUTES", variable("OTEL_RESOURCE_ATTRIBUTES"))?;
        let named =
            resource.iter().position(|(name, _)| name == "service.name").map(|at| resource.remove(at).1);
        let name = variable("OTEL_SERVICE_NAME").or(named).unwrap_or_else(|| service.to_owned());
        resource.insert(0, ("service.name".to_owned(), name));
        resource.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
        Ok(Some(Self {
            endpoint,
            headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", own("HEADERS"))?,
            resource,
            timeout: millis("OTEL_EXPORTER_OTLP_TIMEOUT", own("TIMEOUT"), TIMEOUT)?,
            queue_max: queue_max(variable("OTEL_BSP_MAX_QUEUE_SIZE"))?,
            gather: millis("OTEL_BSP_SCHEDULE_DELAY", variable("OTEL_BSP_SCHEDULE_DELAY"), GATHER)?,
            share,
            asks_caller,
        }))
    }
}

impl std::fmt::Debug for TraceSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("TraceSettings")
            .field("endpoint", &self.endpoint)
            .field("headers", &headers)
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

fn sampler(variable: &dyn Fn(&str) -> Option<String>) -> Result<(f64, bool), TraceSettingsError> {
    let name = variable("OTEL_TRACES_SAMPLER").unwrap_or_else(|| "parentbased_always_on".to_owned());
    let (asks_caller, rest) = match name.strip_prefix("parentbased_") {
        Some(rest) => (true, rest),
        None => (false, name.as_str()),
    };
    let share = match rest {
        "always_on" => Some(1.0),
        "always_off" => Some(0.0),
        "traceidratio" => {
            let share = variable("OTEL_TRACES_SAMPLER_ARG").map_or(Ok(1.0), |text| text.parse::<f64>());
            let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
            check(
                "OTEL_TRACES_SAMPLER_ARG",
                share.is_some(),
                "is not a share",
                "write a number from 0 to 1",
            )?;
            share
        }
        _ => None,
    };
    share.map(|share| (share, asks_caller)).ok_or(TraceSettingsError {
        variable: "OTEL_TRACES_SAMPLER",
        said: "names a sampler that is not known here".to_owned(),
        hint: "there are always_on, always_off and traceidratio, each also with parentbased_ before it",
    })
}

fn queue_max(given: Option<String>) -> Result<usize, TraceSettingsError> {
    let Some(text) = given else { return Ok(QUEUE_MAX) };
    let count = text.parse::<usize>().ok().filter(|count| (1..=1_000_000).contains(count));
    check("OTEL_BSP_MAX_QUEUE_SIZE", count.is_some(), "is not a number of spans", "write one such as 2048")?;
    Ok(count.unwrap_or(QUEUE_MAX))
}

fn millis(
    variable: &'static str,
    given: Option<String>,
    usual: Duration,
) -> Result<Duration, TraceSettingsError> {
    let Some(text) = given else { return Ok(usual) };
    let millis = text.parse::<u64>().ok().filter(|millis| (1..=600_000).contains(millis));
    check(variable, millis.is_some(), "is not a time", "write milliseconds, such as 10000")?;
    Ok(millis.map_or(usual, Duration::from_millis))
}

/// Reads `name=value,name=value`; what is not plain in a value is written as `%20`.
fn pairs(variable: &'static str, given: Option<String>) -> Result<Vec<(String, String)>, TraceSettingsError> {
    let mut read = Vec::new();
    for pair in given.unwrap_or_default().split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let split = pair.split_once('=').map(|(name, value)| (name.trim(), unescaped(value.trim())));
        let good = split
            .and_then(|(name, value)| Some((name.to_owned(), value?)))
            .filter(|(name, _)| !name.is_empty());
        // The value may be a secret, so it is not repeated.
        check(variable, good.is_some(), "is not a list of pairs", "write it as name=value,name=value")?;
        read.extend(good);
    }
    Ok(read)
}

fn unescaped(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

fn check(
    variable: &'static str,
    holds: bool,
    said: &str,
    hint: &'static str,
) -> Result<(), TraceSettingsError> {
    if holds { Ok(()) } else { Err(TraceSettingsError { variable, said: said.to_owned(), hint }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<TraceSettings>, TraceSettingsError> {
        TraceSettings::from_environment("ordain", &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    #[test]
    fn nothing_is_sent_unless_an_endpoint_is_set() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("OTEL_SERVICE_NAME", "shop")]), Ok(None));
        assert_eq!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
        assert_eq!(read(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
    }

    #[test]
    fn the_usual_variables_are_understood() {
        let settings = read(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b, authorization=Bearer%20s=1"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=lost,deployment.environment.name=test"),
            ("OTEL_SERVICE_NAME", "shop"),
            ("OTEL_TRACES_SAMPLER", "traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ]);
        let settings = settings.unwrap().unwrap();
        assert_eq!(settings.endpoint, "http://collector:4318/v1/traces");
        let headers = [("x-team", "a b"), ("authorization", "Bearer s=1")];
        assert_eq!(settings.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(settings.resource[0], ("service.name".to_owned(), "shop".to_owned()));
        assert_eq!(settings.resource[1].1, "test");
        assert_eq!(settings.resource.len(), 3);
        assert!((settings.share - 0.25).abs() < 1e-9 && !settings.asks_caller);
        assert!(!format!("{settings:?}").contains("Bearer"), "secrets do not show themselves");
        let whole = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t/x"), ENDPOINT];
        assert_eq!(read(&whole).unwrap().unwrap().endpoint, "https://t/x");
    }

    #[test]
    fn what_is_not_understood_is_an_error_that_says_what_would_help() {
        for wrong in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_TRACES_SAMPLER", "sometimes"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ] {
            let error = read(&[ENDPOINT, wrong]).unwrap_err();
            assert!(error.hint().is_some() && !error.to_string().contains("secret"), "{error}");
        }
        let ratio = [ENDPOINT, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "7")];
        assert!(read(&ratio).is_err());
    }
}
