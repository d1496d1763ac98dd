//! Programs that need no rows: primes, Fibonacci numbers, the most frequent words of a text.

use ordain_reader::Computed;

use super::answer::quote;

const PRIMES: &str = "sieve = bytearray([1]) * (limit + 1)
sieve[:2] = bytes(2)
for number in range(2, int(limit**0.5) + 1):
    if sieve[number]:
        sieve[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))
found = [number for number in range(limit + 1) if sieve[number]]
";
const TOLD: &str = "shown = \", \".join(map(str, found[:100]))
answer_json = found
";
const WORDS: &str = "words = re.findall(r\"[^\\W\\d_]+(?:['’][^\\W\\d_]+)*\", text.lower())
found = collections.Counter(words).most_common(limit)
answer_json = dict(found)
answer_text = \", \".join(f\"{word} ({times})\" for word, times in found) + \".\" if found else \"There is no word in it.\"
";

/// The program; `file` is the one whose words are counted.
pub(super) fn program(computed: &Computed, file: Option<&str>, words: &str) -> String {
    let numbers =
        |limit: u32, body: &str, text: &str| format!("limit = {limit}\n{body}{TOLD}answer_text = {text}\n");
    let primes = "f\"{len(found):,} primes: {shown}{' and more' if len(found) > 100 else ''}.\"";
    let fibonacci = "f\"{shown}{' and more' if len(found) > 100 else ''}.\"";
    let body = match computed {
        Computed::Primes(limit) => numbers(*limit, PRIMES, primes),
        // There are more than so many primes below twice the number times its number of binary digits.
        Computed::FirstPrimes(count) => {
            let body =
                format!("limit = 2 * count * count.bit_length() + 10\n{PRIMES}found = found[:count]\n");
            format!("count = {count}\n{body}{TOLD}answer_text = {primes}\n")
        }
        Computed::Fibonacci(limit) => numbers(
            *limit,
            "found, last, next_one = [], 1, 1\nwhile last <= limit:\n    found.append(last)\n    last, next_one = next_one, last + next_one\n",
            fibonacci,
        ),
        Computed::FirstFibonacci(limit) => numbers(
            *limit,
            "found, last, next_one = [], 1, 1\nfor _ in range(limit):\n    found.append(last)\n    last, next_one = next_one, last + next_one\n",
            fibonacci,
        ),
        Computed::Frequent(limit, text) => {
            format!("import collections\nimport re\n\nlimit = {limit}\ntext = {}\n{WORDS}", quote(text))
        }
        Computed::FrequentIn(limit, _) => format!(
            "import collections\nimport re\n\nlimit = {limit}\ntext = files[{}].read_text(errors=\"replace\")\n{WORDS}",
            quote(file.unwrap_or_default())
        ),
    };
    format!("# {}\n{body}STATUS = \"success\"\n", words.replace(['\n', '\r'], " "))
}
