//! Calculations that need no data: primes, Fibonacci numbers, statistics of given numbers, arithmetic, a quoted text.

use super::amounts;
use super::code::{braces, quote};
use super::files;
use super::index::Index;
use super::parse::Parser;
use super::token::{Kind, Token, Unit};
use super::trace::Trace;

/// What is still computed within a cell's time.
const UP_TO_MAX: f64 = 50_000_000.0;

/// What a calculation is called, and its program; `None` if the request is none, or holds a word that is not part of it.
pub(crate) fn plan(request: &str, tokens: &[Token]) -> Option<(String, String)> {
    let (index, trace) = (Index::default(), Trace::default());
    if amounts::problem(&index, tokens).is_some() {
        return None;
    }
    let parser = Parser { text: request, ..Parser::new(&index, tokens, 0, &trace) };
    let calculation = Calculation { parser };
    let mut starts = vec![calculation.parser.opening()];
    let first = starts[0];
    starts.extend(calculation.parser.lex("compute.begin", first));
    let whole = starts.into_iter().find_map(|start| calculation.at(start));
    whole.map(|(title, code)| (title.clone(), format!("# {title}\n{code}STATUS = \"success\"\n")))
}

/// Why a calculation is not carried out that would be with other numbers.
pub(crate) fn out_of_bounds(request: &str, tokens: &[Token]) -> Option<String> {
    let mut within = tokens.to_vec();
    within.retain(|token| token.kind != Kind::Sign('-'));
    for token in &mut within {
        if let Kind::Number(number) = &mut token.kind {
            number.value = 10.0;
        }
    }
    let is_other = within != tokens;
    (is_other && plan(request, &within).is_some())
        .then(|| "a number in it is below 1, not whole or too large to compute with".to_owned())
}

/// A request that may be a calculation.
struct Calculation<'a> {
    parser: Parser<'a>,
}

/// What is wanted of a sequence of numbers.
enum Span {
    UpTo(u64),
    Between(u64, u64),
    First(u64),
}

impl Calculation<'_> {
    fn at(&self, start: usize) -> Option<(String, String)> {
        self.primes(start)
            .or_else(|| self.fibonacci(start))
            .or_else(|| self.of_numbers(start))
            .or_else(|| self.statistics(start))
            .or_else(|| self.arithmetic(start))
            .or_else(|| self.quoted(start))
    }

    fn done(&self, place: usize) -> Option<()> {
        self.parser.is_end(place).then_some(())
    }

    fn whole(&self, place: usize) -> Option<(u64, usize)> {
        let (number, _, end) = self.parser.number(place)?;
        let is_whole = number.value.fract() == 0.0
            && (0.0..=UP_TO_MAX).contains(&number.value)
            && number.unit != Unit::Percent;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, positive and small"
        )]
        is_whole.then_some((number.value as u64, end))
    }

    /// `up to 100`, `between 10 and 20`.
    fn span(&self, place: usize) -> Option<(Span, usize)> {
        let parser = &self.parser;
        if let Some(end) = parser.one("compute.up_to", place) {
            return self.whole(end).map(|(bound, end)| (Span::UpTo(bound), end));
        }
        if let Some(end) = parser.one("compute.below", place) {
            return self.whole(end).map(|(bound, end)| (Span::UpTo(bound.saturating_sub(1)), end));
        }
        let (low, end) = self.whole(parser.one("between", place)?)?;
        let (high, end) = self.whole(parser.one("and", end).or_else(|| parser.one("to", end))?)?;
        Some((Span::Between(low, high), end))
    }

    fn primes(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        if let Some(end) = parser.one("be", start)
            && let Some((number, end)) = self.whole(end)
            && let Some(end) = parser.one("compute.prime", end)
        {
            self.done(end)?;
            return Some((
                format!("whether {number} is prime"),
                format!(
                    "number = {number}\ndivisor = next((divisor for divisor in range(2, int(number**0.5) + 1) if number % divisor == 0), None)\n\
                 answer_json = number > 1 and divisor is None\n\
                 answer_text = f\"Yes, {{number}} is prime.\" if answer_json else f\"No, {{number}} is not prime\" + (f\": {{divisor}} divides it.\" if divisor else \".\")\n"
                ),
            ));
        }
        if let Some(end) = parser.one("compute.factors", start) {
            let (number, end) = self.whole(end)?;
            self.done(end)?;
            return Some((
                format!("prime factors of {number}"),
                format!(
                    "rest, factors, divisor = {number}, [], 2\nwhile divisor * divisor <= rest:\n    while rest % divisor == 0:\n        factors.append(divisor)\n        rest //= divisor\n    divisor += 1\nif rest > 1:\n    factors.append(rest)\n\
                 answer_json = factors\nanswer_text = \"Prime factors: \" + \" × \".join(map(str, factors)) + \".\"\n"
                ),
            ));
        }
        let counts = parser.one("how_many", start);
        let sums = parser.one("compute.sum", start);
        let begin = parser.determiners(counts.or(sums).unwrap_or(start));
        let (span, end) = if let Some(end) = parser.one("compute.first", begin) {
            let (count, end) = self.whole(end).filter(|(count, _)| *count > 0)?;
            (Span::First(count.min(20_000)), parser.one("compute.primes", end)?)
        } else {
            let end = parser.one("compute.primes", begin)?;
            self.span(parser.one("there", end).unwrap_or(end))?
        };
        self.done(end)?;
        let (what, make) = match span {
            Span::First(count) => (
                format!("the first {count} primes"),
                format!(
                    "primes, candidate = [], 2\nwhile len(primes) < {count}:\n    if all(candidate % prime for prime in primes if prime * prime <= candidate):\n        primes.append(candidate)\n    candidate += 1\n"
                ),
            ),
            Span::UpTo(high) => (format!("primes up to {high}"), sieve(0, high)),
            Span::Between(low, high) => (format!("primes from {low} to {high}"), sieve(low, high)),
        };
        let told = if counts.is_some() {
            "answer_json = len(primes)\nanswer_text = f\"There are {len(primes):,} primes.\"\n"
        } else if sums.is_some() {
            "answer_json = sum(primes)\nanswer_text = f\"The sum of the {len(primes):,} primes is {sum(primes):,}.\"\n"
        } else {
            "answer_json = primes[:10_000]\nprint(primes[:1000])\nanswer_text = f\"{len(primes):,} primes: \" + \", \".join(map(str, primes[:100])) + (\" …\" if len(primes) > 100 else \"\") + \".\"\n"
        };
        Some((what, format!("{make}{told}")))
    }

    fn fibonacci(&self, start: usize) -> Option<(String, String)> {
        const NEXT: &str = "    numbers.append(numbers[-1] + numbers[-2])\n";
        let parser = &self.parser;
        if let Some(end) = parser.one("be", start)
            && let Some((number, end)) = self.whole(end)
            && let Some(end) = parser.one("compute.fibonacci", end)
        {
            self.done(end)?;
            return Some((
                format!("whether {number} is a Fibonacci number"),
                format!(
                    "numbers = [1, 1]\nwhile numbers[-1] < {number}:\n{NEXT}answer_json = {number} in numbers\n\
                 answer_text = \"Yes, {number} is a Fibonacci number.\" if answer_json else \"No, {number} is not a Fibonacci number.\"\n"
                ),
            ));
        }
        let told = "answer_json = numbers\nprint(numbers)\nanswer_text = \"Fibonacci numbers: \" + \", \".join(str(number) for number in numbers) + \".\"\n";
        let begin = parser.determiners(start);
        if let Some((number, _, end)) =
            parser.number(begin).filter(|(number, ..)| number.unit == Unit::Ordinal)
        {
            self.done(parser.one("compute.fibonacci", end)?)?;
            let place = number.value;
            return (1.0..=10_000.0).contains(&place).then(|| (format!("Fibonacci number {place}"), format!(
                "numbers = [1, 1]\nwhile len(numbers) < {place}:\n{NEXT}answer_json = numbers[{place} - 1]\n\
                 answer_text = f\"Fibonacci number {place} is {{answer_json}}, counted from 1, 1.\"\n"
            )));
        }
        if let Some(end) = parser.one("compute.first", begin) {
            let (count, end) = self.whole(end).filter(|(count, _)| (1..=10_000).contains(count))?;
            self.done(parser.one("compute.fibonacci", end)?)?;
            return Some((
                format!("the first {count} Fibonacci numbers"),
                format!(
                    "numbers = [1, 1]\nwhile len(numbers) < {count}:\n{NEXT}numbers = numbers[:{count}]\n{told}"
                ),
            ));
        }
        let (span, end) = self.span(parser.one("compute.fibonacci", begin)?)?;
        self.done(end)?;
        let Span::UpTo(bound) = span else { return None };
        Some((
            format!("Fibonacci numbers up to {bound}"),
            format!(
                "numbers = [1, 1]\nwhile numbers[-1] + numbers[-2] <= {bound}:\n{NEXT}numbers = [number for number in numbers if number <= {bound}]\n{told}"
            ),
        ))
    }

    /// `square root of 2`, `15% of 80`, `factorial of 10`, `gcd of 12 and 18`.
    fn of_numbers(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        if let Some((number, lit, end)) =
            parser.number(start).filter(|(number, ..)| number.unit == Unit::Percent)
        {
            let (_, whole, end) = parser.number(parser.one("of", end)?)?;
            self.done(end)?;
            let _ = number;
            return Some((
                format!("{}% of {}", lit.value, whole.value),
                format!(
                    "answer_json = {0} * {1} / 100\nanswer_text = f\"{0}% of {1} is {{answer_json:,.10g}}.\"\n",
                    lit.value, whole.value
                ),
            ));
        }
        let (end, function) = parser.meaning("compute_functions", start)?;
        let end = parser.one("of", end).unwrap_or(end);
        let (numbers, end) = self.numbers(end)?;
        self.done(end)?;
        let list = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let is_whole = numbers.iter().all(|number| number.fract() == 0.0 && *number >= 0.0);
        let fits = match function {
            "sqrt" => numbers.len() == 1 && numbers[0] >= 0.0,
            "factorial" => numbers.len() == 1 && is_whole && numbers[0] <= 5000.0,
            _ => numbers.len() > 1 && is_whole,
        };
        fits.then(|| (format!("{function} of {list}"), format!(
            "import math\n\nanswer_json = math.{function}({list})\nanswer_text = f\"The {function} of {list} is {{answer_json:,}}.\"\n"
        )))
    }

    /// Numbers with commas and `and`.
    fn numbers(&self, place: usize) -> Option<(Vec<f64>, usize)> {
        let parser = &self.parser;
        let mut numbers = Vec::new();
        let mut at = place;
        while let Some((number, _, end)) =
            parser.number(at).filter(|(number, ..)| matches!(number.unit, Unit::Plain | Unit::Money(_)))
        {
            numbers.push(number.value);
            let comma = parser.sign(',', end);
            let next = parser.one("and", comma.unwrap_or(end)).or(comma);
            match next.filter(|next| parser.number(*next).is_some()) {
                Some(next) => at = next,
                None => return Some((numbers, end)),
            }
        }
        None
    }

    /// `mean and standard deviation of 2, 4 and 9`, `correlation of 1, 2, 3 and 2, 4, 6` is not told apart.
    fn statistics(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let mut wanted: Vec<&str> = Vec::new();
        let mut at = parser.fill(start);
        while let Some((end, function)) = parser.meaning("compute_statistics", at) {
            wanted.push(function);
            at = end;
            let comma = parser.sign(',', at);
            match parser.one("and", comma.unwrap_or(at)).or(comma) {
                Some(next) => at = next,
                None => break,
            }
        }
        let begin = parser.one("of", at)?;
        let (numbers, end) = self.numbers(parser.one("compute.numbers", begin).unwrap_or(begin))?;
        self.done(end)?;
        if wanted.is_empty() || numbers.len() < 2 {
            return None;
        }
        let list = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let entries: Vec<String> = wanted
            .iter()
            .map(|function| {
                let name = function.rsplit('.').next().unwrap_or(function);
                format!(
                    "\"{}\": {function}(numbers)",
                    name.replace("fmean", "mean").replace("stdev", "standard deviation")
                )
            })
            .collect();
        Some((
            format!("statistics of {} numbers", numbers.len()),
            format!(
                "import math\nimport statistics\n\nnumbers = [{list}]\nfound = {{{}}}\n\
             answer_json = found if len(found) > 1 else next(iter(found.values()))\n\
             answer_text = f\"Of {{len(numbers)}} numbers: \" + \", \".join(f\"{{name}} {{value:.10g}}\" for name, value in found.items()) + \".\"\n",
                entries.join(", ")
            ),
        ))
    }

    /// Digits, brackets and the usual signs, nothing else.
    fn arithmetic(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let first = parser.tokens.get(parser.fill(start))?;
        let text = parser.text.get(first.at.0..)?.trim_end_matches(['?', '=', ' ', '.', '!']);
        let text = text.replace('×', "*").replace('÷', "/").replace('^', "**").replace(',', "");
        let is_plain =
            text.len() <= 200 && text.chars().all(|c| c.is_ascii_digit() || "+-*/().% ".contains(c));
        let has_sign = text.chars().any(|c| "+-*/%".contains(c)) && text.chars().any(|c| c.is_ascii_digit());
        // A tower of powers takes longer than anybody waits.
        (is_plain && has_sign && text.matches("**").count() < 2).then(|| {
            let text = text.trim();
            (
                text.to_owned(),
                format!(
                    "try:\n    answer_json = {text}\n    answer_text = f\"{0} = {{answer_json:,}}\"\nexcept ZeroDivisionError:\n    answer_text = \"{0} has no value: nothing can be divided by zero.\"\n",
                    braces(text)
                ),
            )
        })
    }

    /// A question about a text in quotes.
    fn quoted(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let place = (start..parser.tokens.len()).find(|at| parser.tokens[*at].kind == Kind::Quoted)?;
        let text = quote(&parser.tokens[place].text);
        let before = parser.one("be", start).filter(|end| *end == place);
        if before.is_some() {
            self.done(parser.one("compute.palindrome", place + 1)?)?;
            return Some((
                "whether a text is a palindrome".to_owned(),
                format!(
                    "text = {text}\nplain = \"\".join(letter.lower() for letter in text if letter.isalnum())\nanswer_json = plain == plain[::-1]\n\
                 answer_text = \"Yes, it is a palindrome.\" if answer_json else \"No, it is not a palindrome.\"\n"
                ),
            ));
        }
        files::of_text(parser, start, place, &text)
    }
}

fn sieve(low: u64, high: u64) -> String {
    format!(
        "# A sieve: every multiple of a prime is struck out.\nlimit = {high}\nis_prime = bytearray([1]) * (limit + 1)\nis_prime[:2] = bytes(len(is_prime[:2]))\n\
         for number in range(2, int(limit**0.5) + 1):\n    if is_prime[number]:\n        is_prime[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))\n\
         primes = [number for number in range({low}, limit + 1) if is_prime[number]]\n"
    )
}
