//! The words that the rules know, so that a word they do not know is told and never passed over.
//!
//! A rule that overlooks “named Bob” answers another question than the one that was asked.

use super::lexicon::{Token, whole};
use super::request::Reading;

/// Words that carry no condition of their own.
const KNOWN: &str = "
a about above across add against all also alphabetical altogether amount an and annual annually any appear are as
ascending at available average averages avg bar based be been below best between big biggest bottom bought box boxplot
break broken but by calculate can chart cheapest cheaper column columns combine combined come comes common compare
compute contain contained containing contains contents correlate correlated correlation correlations could count counts
create csv daily data dataset date day days decreasing deliver descending desc describe description determine deviation
development diagram did different display distinct distribution distributed do does done down download draw duplicate
duplicated duplicates during each earliest earn earned earning earnings either empty entries entry equal equals
equivalent every everything evolution excel except exceed exceeding exceeds exclude excluding exist expensive export
fewer fewest figure file files find first for fraction frequency frequent from generate get give given go good got graph
greater greatest group grouped had happen has have having head held here high higher highest histogram hold holds how i
identify in include including income incomplete increasing individual into is isn't it item items its join just
kind kinds know largest larger latest least less let like line linear list long longest look lot low lower lowest
made make makes many matching matrix max maximum me mean median member merge min minimum missing month monthly months
more most much my need newest no not null nulls number numbers object of often oldest on once one only or order ordered
orders our out over overall overview part people per percent percentage performing period pie pivot place placed please
plot print product proportion provide quarter quarterly quarters quantity rank ranked ranking rate receive recent record
records relationship repeated report result results return revenue row rows run sale sales same save scatter scatterplot
schema see select sell selling separate series shall share sheet sheets ship shipped shortest should show single size
small smaller smallest sold some sort sorted split spread spreadsheet standard start statistics stats std stdev store
strong strongest structure sum summarise summarize summary table take tell than that the their them then there these they
this those till time times to together top total totals trend turnover two type types typical unique unit units until
up us use using value values variance versus view visualise visualize volume vs want was we week weekday weekdays
weekly weeks weakest well were what what's whats when where which who whole whose will with within without word workbook
worst would write xlsx year yearly years you your";

/// The first word that no rule has a meaning for.
pub(super) fn unknown<'a>(reading: &'a Reading<'_>) -> Option<&'a Token> {
    reading.words.iter().enumerate().find_map(|(at, word)| {
        let is_named = reading.mentions.iter().any(|mention| (mention.start..mention.end).contains(&at));
        let is_table = reading.table_words.contains(&word.stem) || word.lower.contains('.');
        // “this month” is a condition that no rule reads.
        let next = reading.words.get(at + 1).map_or("", |next| next.stem.as_str());
        if word.lower == "this" && matches!(next, "day" | "week" | "month" | "quarter" | "year") {
            return Some(word);
        }
        let is_known = reading.used[at] || is_named || is_table || is_common(word);
        (!is_known).then_some(word)
    })
}

/// Whether a word needs no meaning of its own. A number always does.
pub(super) fn is_common(word: &Token) -> bool {
    let known = |text: &str| KNOWN.split_whitespace().any(|known| known == text);
    // Small numbers in words are articles as often as they are conditions.
    word.number.is_none()
        && (known(&word.lower) || known(&word.stem) || whole(word).is_some_and(|value| value < 3))
}
