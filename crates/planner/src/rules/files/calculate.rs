//! Calculations that need no file.

use super::draft;
use super::lexicon::{Token, says, whole};
use super::python::{Code, number};
use crate::exchange::Reply;

/// What is still computed within a cell's time.
const UP_TO_MAX: u64 = 50_000_000;

/// The plan for a calculation, if it is one that is known.
pub(super) fn plan(request: &str, words: &[Token]) -> Option<Reply> {
    let mut code = Code::new(request);
    let title = fibonacci(words, &mut code)
        .or_else(|| primes(words, &mut code))
        .or_else(|| of_one_number(request, words, &mut code))
        .or_else(|| statistics(words, &mut code))
        .or_else(|| expression(request, words, &mut code))?;
    code.add("STATUS = \"success\"");
    Some(draft(title, code.finish()))
}

fn numbers(words: &[Token]) -> Vec<f64> {
    words.iter().filter_map(|word| word.number).collect()
}

fn bound(words: &[Token]) -> Option<u64> {
    words.iter().filter_map(whole).next_back().filter(|&bound| bound <= UP_TO_MAX)
}

/// Whether the number says how many rather than how far.
fn is_count(words: &[Token]) -> bool {
    says(words, &["first"]) && !says(words, &["up to", "below", "under", "less than", "until"])
        || words.windows(2).any(|pair| {
            whole(&pair[0]).is_some()
                && matches!(pair[1].stem.as_str(), "prime" | "fibonacci" | "number" | "term")
        })
}

fn fibonacci(words: &[Token], code: &mut Code) -> Option<&'static str> {
    if !says(words, &["fibonacci", "fibonaccis"]) {
        return None;
    }
    let bound = bound(words).unwrap_or(100);
    code.add("numbers = [1, 1]");
    if is_count(words) {
        code.add(format!("while len(numbers) < {}:", bound.min(10_000)));
        code.add(format!(
            "    numbers.append(numbers[-1] + numbers[-2])\nnumbers = numbers[:{}]",
            bound.min(10_000)
        ));
    } else {
        code.add(format!("# Each number is the sum of the two before it, as far as {bound}."));
        code.add(format!("while numbers[-1] + numbers[-2] <= {bound}:"));
        code.add("    numbers.append(numbers[-1] + numbers[-2])");
    }
    code.add("answer_json = numbers\nprint(numbers)\nanswer_text = \"Fibonacci numbers: \" + \", \".join(str(number) for number in numbers) + \".\"");
    Some("Fibonacci numbers")
}

fn primes(words: &[Token], code: &mut Code) -> Option<&'static str> {
    if !says(words, &["prime", "primes"]) {
        return None;
    }
    let bound = bound(words).unwrap_or(100);
    if says(words, &["is"]) && !says(words, &["up to", "below", "first", "under", "list"]) {
        code.add(format!(
            "number = {bound}\ndivisor = next((divisor for divisor in range(2, int(number**0.5) + 1) if number % divisor == 0), None)\nanswer_json = number > 1 and divisor is None\nanswer_text = f\"{{number}} is prime.\" if answer_json else f\"{{number}} is not prime\" + (f\": {{divisor}} divides it.\" if divisor else \".\")"
        ));
        return Some("prime or not");
    }
    if says(words, &["factor", "factors", "factorise", "factorize", "factorization"]) {
        code.add(format!(
            "rest, factors, divisor = {bound}, [], 2\nwhile divisor * divisor <= rest:\n    while rest % divisor == 0:\n        factors.append(divisor)\n        rest //= divisor\n    divisor += 1\nif rest > 1:\n    factors.append(rest)\nanswer_json = factors\nanswer_text = \"Prime factors: \" + \" × \".join(map(str, factors)) + \".\""
        ));
        return Some("prime factors");
    }
    if is_count(words) {
        code.add(format!(
            "primes, candidate = [], 2\nwhile len(primes) < {}:\n    if all(candidate % prime for prime in primes if prime * prime <= candidate):\n        primes.append(candidate)\n    candidate += 1",
            bound.min(20_000)
        ));
    } else {
        code.add(format!(
            "# A sieve: every multiple of a prime is struck out.\nlimit = {bound}\nis_prime = bytearray([1]) * (limit + 1)\nis_prime[:2] = bytes(len(is_prime[:2]))\nfor number in range(2, int(limit**0.5) + 1):\n    if is_prime[number]:\n        is_prime[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))\nprimes = [number for number in range(limit + 1) if is_prime[number]]"
        ));
    }
    let given: Vec<u64> = words.iter().filter_map(whole).collect();
    if let ([start, _], true) = (given.as_slice(), says(words, &["between", "from"])) {
        code.add(format!("primes = [prime for prime in primes if prime >= {start}]"));
    }
    if says(words, &["how many", "count", "number of"]) {
        code.add("answer_json = len(primes)\nanswer_text = f\"There are {len(primes):,} primes.\"");
    } else if says(words, &["sum", "total"]) {
        code.add("answer_json = sum(primes)\nanswer_text = f\"The sum of the {len(primes):,} primes is {sum(primes):,}.\"");
    } else {
        code.add("answer_json = primes[:10_000]\nprint(primes[:1000])\nanswer_text = f\"{len(primes):,} primes: \" + \", \".join(map(str, primes[:100])) + (\" …\" if len(primes) > 100 else \"\") + \".\"");
    }
    Some("primes")
}

fn of_one_number(request: &str, words: &[Token], code: &mut Code) -> Option<&'static str> {
    let first = words.iter().find_map(whole);
    if says(words, &["factorial"]) {
        let bound = first.filter(|&bound| bound <= 5000)?;
        code.import("import math");
        code.add(format!(
            "answer_json = math.factorial({bound})\nanswer_text = f\"{bound}! = {{answer_json}}\""
        ));
        return Some("factorial");
    }
    if says(words, &["square root", "sqrt"]) {
        code.import("import math");
        let value = *numbers(words).first().filter(|value| **value >= 0.0)?;
        code.add(format!(
            "answer_json = math.sqrt({})\nanswer_text = f\"The square root of {} is {{answer_json:.10g}}.\"",
            number(value),
            number(value)
        ));
        return Some("square root");
    }
    if let ([part, whole], true) =
        (numbers(words).as_slice(), request.contains('%') || says(words, &["percent"]))
    {
        code.add(format!(
            "answer_json = {} * {} / 100\nanswer_text = f\"{}% of {} is {{answer_json:,.10g}}.\"",
            number(*part),
            number(*whole),
            number(*part),
            number(*whole)
        ));
        return Some("percentage");
    }
    let given = words.iter().filter_map(whole).collect::<Vec<_>>();
    for (word, function) in
        [("greatest common divisor", "gcd"), ("gcd", "gcd"), ("least common multiple", "lcm"), ("lcm", "lcm")]
    {
        if says(words, &[word]) && given.len() > 1 {
            code.import("import math");
            let list: Vec<String> = given.iter().map(u64::to_string).collect();
            code.add(format!(
                "answer_json = math.{function}({})\nanswer_text = f\"The {word} is {{answer_json:,}}.\"",
                list.join(", ")
            ));
            return Some("common divisors");
        }
    }
    if says(words, &["sum of", "add"]) && says(words, &["from", "to", "between", "first"]) && given.len() <= 2
    {
        let (start, end) = match given.as_slice() {
            [end] => (1, *end),
            [start, end] => (*start, *end),
            _ => return None,
        };
        let step = if says(words, &["even"]) {
            "if number % 2 == 0"
        } else if says(words, &["odd"]) {
            "if number % 2"
        } else {
            ""
        };
        let squared = if says(words, &["squares", "square"]) { "number * number" } else { "number" };
        if end > UP_TO_MAX {
            return None;
        }
        code.add(format!("answer_json = sum({squared} for number in range({start}, {end} + 1) {step})\nanswer_text = f\"The sum is {{answer_json:,}}.\""));
        return Some("sum of a range");
    }
    None
}

fn statistics(words: &[Token], code: &mut Code) -> Option<&'static str> {
    let values = numbers(words);
    if values.len() < 2 {
        return None;
    }
    let wanted: Vec<(&str, &str)> = [
        ("mean", "statistics.fmean(numbers)"),
        ("median", "statistics.median(numbers)"),
        ("mode", "statistics.mode(numbers)"),
        ("deviation", "statistics.stdev(numbers)"),
        ("variance", "statistics.variance(numbers)"),
        ("sum", "sum(numbers)"),
        ("minimum", "min(numbers)"),
        ("maximum", "max(numbers)"),
        ("product", "math.prod(numbers)"),
    ]
    .into_iter()
    .filter(|(word, _)| {
        let others: &[&str] = match *word {
            "mean" => &["average", "avg"],
            "sum" => &["total", "add"],
            "minimum" => &["min", "smallest", "lowest"],
            "maximum" => &["max", "largest", "highest"],
            "deviation" => &["std", "stdev"],
            "product" => &["multiply"],
            _ => &[],
        };
        says(words, &[word]) || says(words, others)
    })
    .collect();
    let all = says(words, &["statistics", "stats", "describe", "summary"]);
    if wanted.is_empty() && !all {
        return None;
    }
    let wanted = if wanted.is_empty() {
        vec![
            ("mean", "statistics.fmean(numbers)"),
            ("median", "statistics.median(numbers)"),
            ("deviation", "statistics.stdev(numbers)"),
            ("minimum", "min(numbers)"),
            ("maximum", "max(numbers)"),
        ]
    } else {
        wanted
    };
    code.import("import math").import("import statistics");
    let list: Vec<String> = values.iter().map(|value| number(*value)).collect();
    code.add(format!("numbers = [{}]", list.join(", ")));
    let entries: Vec<String> =
        wanted.iter().map(|(word, expression)| format!("\"{word}\": {expression}")).collect();
    code.add(format!("found = {{{}}}", entries.join(", ")));
    code.add("answer_json = found if len(found) > 1 else next(iter(found.values()))\nanswer_text = f\"Of {len(numbers)} numbers: \" + \", \".join(f\"{name} {value:.10g}\" for name, value in found.items()) + \".\"");
    Some("statistics of numbers")
}

/// Plain arithmetic: digits, brackets and the usual signs, nothing else.
fn expression(request: &str, words: &[Token], code: &mut Code) -> Option<&'static str> {
    if !words.iter().all(|word| {
        word.number.is_some()
            || matches!(
                word.lower.as_str(),
                "what" | "is" | "calculate" | "compute" | "what's" | "evaluate" | "how" | "much"
            )
    }) {
        return None;
    }
    let text: String =
        request.chars().skip_while(|c| !c.is_ascii_digit() && *c != '(' && *c != '-').collect();
    let text = text
        .trim_end_matches(['?', '=', ' ', '.', '!'])
        .replace('×', "*")
        .replace('÷', "/")
        .replace('^', "**")
        .replace(',', "");
    let is_plain = text.len() <= 200 && text.chars().all(|c| c.is_ascii_digit() || "+-*/().% ".contains(c));
    let has_sign = text.chars().any(|c| "+-*/%".contains(c));
    // A tower of powers takes longer than anybody waits.
    if !is_plain || !has_sign || text.matches("**").count() > 1 {
        return None;
    }
    code.add(format!(
        "answer_json = {}\nanswer_text = f\"{} = {{answer_json:,}}\"",
        text.trim(),
        text.trim()
    ));
    Some("arithmetic")
}
