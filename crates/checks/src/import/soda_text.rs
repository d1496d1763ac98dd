//! One line of Soda's check language: a metric, and what it is compared with.

/// `missing_count(email)`, or `values in (user_id) must exist in users (id)`.
#[derive(Debug, PartialEq)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) other_table: Option<String>,
    pub(super) other_columns: Vec<String>,
}

/// `= 0`, `< 5 %`, `between 1 and 9`, or nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Comparison {
    Operator(String, String),
    Between(String, String),
    None,
}

/// The line in its two parts; `None` if it has another form.
pub(super) fn read_line(line: &str) -> Option<(Metric, Comparison)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("values in ") {
        return existence(rest);
    }
    let end =
        line.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if name.is_empty() {
        return None;
    }
    let (columns, rest) = match rest.trim_start().strip_prefix('(') {
        Some(inside) => {
            let (inside, rest) = inside.split_once(')')?;
            (names(inside), rest)
        }
        None => (Vec::new(), rest),
    };
    let metric = Metric { name: name.to_owned(), columns, other_table: None, other_columns: Vec::new() };
    Some((metric, comparison(rest.trim())?))
}

fn names(text: &str) -> Vec<String> {
    text.split(',')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

fn existence(rest: &str) -> Option<(Metric, Comparison)> {
    let (ours, theirs) = rest.split_once(" must exist in ")?;
    let ours = names(ours.trim().trim_start_matches('(').trim_end_matches(')'));
    let (table, columns) = theirs.trim().split_once(' ')?;
    let theirs = names(columns.trim().trim_start_matches('(').trim_end_matches(')'));
    let metric = Metric {
        name: "values_exist_in".to_owned(),
        columns: ours,
        other_table: Some(table.trim_matches('"').to_owned()),
        other_columns: theirs,
    };
    Some((metric, Comparison::None))
}

fn comparison(text: &str) -> Option<Comparison> {
    if text.is_empty() {
        return Some(Comparison::None);
    }
    if let Some(rest) = text.strip_prefix("between ") {
        let (low, high) = rest.split_once(" and ")?;
        return Some(Comparison::Between(low.trim().to_owned(), high.trim().to_owned()));
    }
    let operator =
        [">=", "<=", "!=", "<>", "=", ">", "<"].into_iter().find(|operator| text.starts_with(operator))?;
    Some(Comparison::Operator(operator.to_owned(), text[operator.len()..].trim().to_owned()))
}

type Bounds = (Option<f64>, Option<f64>, bool, bool);

impl Comparison {
    /// Least, most, and whether each itself is not allowed.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        let number = |text: &str| {
            text.trim_end_matches('%').trim().parse::<f64>().ok().filter(|number| number.is_finite())
        };
        match self {
            Self::None => None,
            Self::Between(low, high) => Some((Some(number(low)?), Some(number(high)?), false, false)),
            Self::Operator(operator, value) => {
                let value = number(value)?;
                match operator.as_str() {
                    "=" => Some((Some(value), Some(value), false, false)),
                    ">" => Some((Some(value), None, true, false)),
                    ">=" => Some((Some(value), None, false, false)),
                    "<" => Some((None, Some(value), false, true)),
                    "<=" => Some((None, Some(value), false, false)),
                    _ => None,
                }
            }
        }
    }

    /// Least and most as whole numbers.
    pub(super) fn counts(&self) -> Option<(Option<u64>, Option<u64>)> {
        let (least, most, strict_min, strict_max) = self.bounds()?;
        let whole = |number: f64| format!("{number:.0}").parse::<u64>().ok();
        let least = match least {
            Some(least) => Some(whole(least)? + u64::from(strict_min)),
            None => None,
        };
        let most = match most {
            Some(most) => Some(whole(most)?.checked_sub(u64::from(strict_max))?),
            None => None,
        };
        Some((least, most))
    }

    /// `< 1d` as a length of time.
    pub(super) fn duration(&self) -> Option<String> {
        let Self::Operator(operator, value) = self else { return None };
        let is_below = operator == "<" || operator == "<=";
        (is_below && value.starts_with(|character: char| character.is_ascii_digit())).then(|| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_two_parts() {
        let (metric, comparison) = read_line("missing_count(email) = 0").unwrap();
        assert_eq!((metric.name.as_str(), metric.columns), ("missing_count", vec!["email".to_owned()]));
        assert_eq!(comparison.bounds(), Some((Some(0.0), Some(0.0), false, false)));
        assert_eq!(read_line("row_count > 0").unwrap().1.counts(), Some((Some(1), None)));
        assert_eq!(read_line("row_count between 10 and 20").unwrap().1.counts(), Some((Some(10), Some(20))));
        assert_eq!(read_line("freshness(at) < 36h").unwrap().1.duration().as_deref(), Some("36h"));
        let (metric, _) = read_line("values in (user_id) must exist in users (id)").unwrap();
        assert_eq!(
            (metric.other_table.as_deref(), metric.other_columns),
            (Some("users"), vec!["id".to_owned()])
        );
        assert!(read_line("(((").is_none() && read_line("x(").is_none());
    }
}
