//! The reader: plans without a model. Every word understood, or it asks.
//!
//! A request becomes tokens, tokens mention what the catalog knows, and a grammar finds every complete reading as a
//! typed form: each word must stand in it. Exactly one reading is acted on; of several it asks which; of none it says
//! which word was not understood. Code is written from the form, short, with the request's values as `params`.

mod amounts;
mod answer;
mod called;
mod certain;
mod chart;
mod code;
mod compute;
mod condition;
mod count;
mod declared;
mod deeds;
mod doubt;
mod explain;
mod figures;
pub mod files;
mod follow;
mod form;
mod formula;
mod free_name;
mod guard;
mod index;
mod indexed;
mod joined;
mod known;
mod lexicon;
mod mentions;
mod metric;
mod missed;
mod open;
mod order;
mod parse;
mod phrase;
mod question;
mod ratio;
mod rows;
pub(crate) mod said_as;
mod several;
mod shape;
mod sql;
mod stock;
mod token;
mod trace;
mod twofold;
mod value_words;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Value, json};

use crate::brief::{Brief, Task};
use crate::exchange::{Draft, Reply};
use ordain_types::{Changes, DirectChanges, HeldBy, ParamKind};

use code::Written;
use form::{Form, Select};
use index::{Index, Sort, What};
use indexed::indexed;
use lexicon::LEXICON;
use parse::Parser;
use token::{Kind, Token};
use trace::Trace;

pub use explain::{Classified, Explained, Next, ReadAs, Unknown, explain, explain_as};
pub use known::{catalog, column, is_condition, metric_query};
pub use missed::{Missed, missed};

/// Larger numbers are not given to an action: they are not exact any more.
const COUNT_MAX: f64 = 9e15;
/// Choices that are offered.
const CHOICES_MAX: usize = 6;
/// Clauses of more tokens are not read, nor requests that are longer than two.
const TOKENS_MAX: usize = 60;

/// What the reader made of a request.
#[derive(Debug, Clone)]
pub enum Reading {
    /// One meaning.
    One(Box<Meaning>),
    /// Several, between which the person must choose.
    Several(Vec<Meaning>),
    /// None: the word at which the reader stopped, if it is one.
    None(Option<Unknown>),
}

/// One complete reading.
#[derive(Debug, Clone)]
pub struct Meaning {
    form: Form,
    /// What was understood, in words.
    pub words: String,
    written: Option<Written>,
}

/// The version of the reader. It is part of the fingerprint of every plan that it wrote: a better reader writes it anew.
pub const RULES_VERSION: u32 = 16;

/// Writes a plan for a brief.
pub fn plan(brief: &Brief) -> Reply {
    match brief.task {
        Task::Ask => ask(brief),
        // Rules about data have a grammar of their own, which whoever runs them has at hand.
        Task::Check => Reply::Refusal("only a model writes the code of a check here".to_owned()),
        Task::Code => files::plan(brief),
    }
}

/// Writes a plan for a request to a store: a question, or an order.
fn ask(brief: &Brief) -> Reply {
    match asked(brief) {
        Reply::Refusal(declined) => {
            // Orders are read by the reader before this one.
            let index = indexed(brief);
            match reply(&index, brief, follow::read(&index, &brief.request, &brief.turns)) {
                Reply::Plan(draft) if draft.declared.is_some() => Reply::Refusal(declined),
                reply => reply,
            }
        }
        reply => reply,
    }
}

/// Hands what a request was read as to those who carry it out.
fn asked(brief: &Brief) -> Reply {
    let reader = known::reader(brief);
    match reader.request(&brief.request) {
        ordain_reader::Reading::Certain(meaning) => certain_reply(&reader, brief, &meaning),
        ordain_reader::Reading::Choose(all) => {
            let words = all.iter().take(CHOICES_MAX).filter_map(|meaning| reader.words_of(meaning));
            let choices: Vec<String> =
                words.enumerate().map(|(at, words)| format!("{}. {words}", at + 1)).collect();
            Reply::Question(format!(
                "I can read that in several ways. Which one do you mean? {}. Say the number.",
                choices.join("; ")
            ))
        }
        ordain_reader::Reading::Silent { at, nearest, expected, .. } => {
            Reply::Refusal(declined_at(&reader, at.as_deref(), nearest.as_deref(), &expected))
        }
    }
}

/// The plan of one meaning.
fn certain_reply(reader: &ordain_reader::Reader, brief: &Brief, meaning: &ordain_reader::Meaning) -> Reply {
    let dialect = match brief.database.to_lowercase() {
        name if name.contains("postgres") => ordain_reader::Dialect::Postgres,
        _ => ordain_reader::Dialect::Sqlite,
    };
    let words = reader.words_of(meaning).unwrap_or_else(|| brief.request.clone());
    let from = answer::From::Store(dialect);
    let Some(written) = answer::write(reader, meaning, &brief.request, &words, from) else {
        return Reply::Refusal(format!("I understand that ({words}), but this database cannot compute it."));
    };
    Reply::Plan(Draft {
        code: written.code,
        title: words.clone(),
        reading: Some(words),
        params: written.params,
        declared: Some(json!({ "action": "read" })),
        ..Draft::default()
    })
}

/// One thing: which word, why, and what would be read instead.
fn declined_at(
    reader: &ordain_reader::Reader,
    at: Option<&str>,
    nearest: Option<&str>,
    expected: &[&'static str],
) -> String {
    let near = nearest.map(|near| format!(" (did you mean “{near}”?)")).unwrap_or_default();
    let what = match at {
        Some(word) if expected.is_empty() => format!("I do not understand “{word}” in that{near}"),
        Some(word) => format!("I do not understand how “{word}” belongs to what is before it{near}"),
        None => "I do not understand how that ends".to_owned(),
    };
    let tables: Vec<String> = reader.catalog().tables.iter().take(8).map(|table| table.noun().1).collect();
    let tables = if tables.is_empty() { "nothing yet".to_owned() } else { tables.join(", ") };
    let example =
        reader.catalog().tables.first().map(|table| format!(" For example: “how many {}”.", table.noun().1));
    format!(
        "{what}, so nothing was done. You can ask about {tables}.{} A model understands more: see `ordain models`.",
        example.unwrap_or_default()
    )
}

/// A request as two of them are told apart: every sign, capital and blank counts, but for the capital of the first word.
pub fn spoken(request: &str) -> String {
    let request = request.trim();
    let mut letters = request.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            format!("{}{}", first.to_lowercase(), &request[first.len_utf8()..])
        }
        _ => request.to_owned(),
    }
}

/// Whether every word of a request is part of a calculation that needs no data.
pub fn is_calculation(request: &str) -> bool {
    compute::plan(request, &token::tokens(request)).is_some()
}

/// The values that stand in a request: what each is (`number`, `table.column`), and its words.
pub fn values(brief: &Brief) -> Vec<(String, String)> {
    let index = indexed(brief);
    let tokens = token::tokens(&brief.request);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mentions = index.at(&tokens, at);
        let named = mentions
            .iter()
            .filter(|(what, ..)| matches!(what, What::Value(..)))
            .max_by_key(|(_, length, _)| *length);
        let (kind, length) = match (named, &tokens[at].kind) {
            (Some((What::Value(table, column, _), length, _)), _) => {
                let table = &index.tables[*table];
                (Some(format!("{}.{}", table.name, table.columns[*column].name)), *length)
            }
            (_, Kind::Number(_)) => (Some("number".to_owned()), 1),
            (_, Kind::Days(..)) => (Some("day".to_owned()), 1),
            _ => (None, 1),
        };
        let said = brief.request.get(tokens[at].at.0..tokens[at + length - 1].at.1).unwrap_or_default();
        found.extend(kind.map(|kind| (kind, said.to_owned())));
        at += length;
    }
    found
}

/// The values of columns whose words all stand in a request, each with the columns that hold it: what a plan rests on
/// besides the names of the columns.
pub fn mentioned<'a>(
    request: &str,
    columns: impl IntoIterator<Item = (&'a str, &'a [Value])>,
) -> BTreeMap<String, BTreeSet<String>> {
    let said: HashSet<String> = token::tokens(request).into_iter().map(|token| token.stem).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (column, values) in columns {
        for value in values.iter().filter_map(Value::as_str) {
            let words = index::split_text(value);
            if !words.is_empty() && words.iter().all(|word| said.contains(&lexicon::singular(word))) {
                found.entry(value.to_owned()).or_default().insert(column.to_owned());
            }
        }
    }
    found
}

/// The names among these whose words a request all has.
pub fn named<'a>(request: &str, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let said: HashSet<String> = token::tokens(request).into_iter().map(|token| token.stem).collect();
    let is_said = |name: &&str| {
        let words = index::split_name(name);
        !words.is_empty() && words.iter().all(|word| said.contains(&lexicon::singular(word)))
    };
    names.into_iter().filter(is_said).collect()
}

/// The rows that a request may refer to.
#[derive(Debug, Clone, Copy, Default)]
struct Context<'a> {
    /// Those of the last turn.
    rows: Option<&'a Select>,
    /// These, and those that the turns before it named.
    several: Option<&'a Select>,
    /// Those that the last answer listed, in that order.
    listed: &'a [form::Cond],
}

impl<'a> Context<'a> {
    /// The rows of one clause.
    const fn of(rows: &'a Select) -> Self {
        Self { rows: Some(rows), several: Some(rows), listed: &[] }
    }
}

/// Reads one request, perhaps after others whose rows it may refer to.
fn read(index: &Index, request: &str, context: Context<'_>) -> Reading {
    let tokens = token::tokens(request);
    if let Some(problem) = amounts::problem(index, &tokens) {
        return Reading::None(Some(problem));
    }
    if tokens.len() > 2 * TOKENS_MAX {
        return Reading::None(None);
    }
    match read_tokens(index, &tokens, context) {
        Reading::None(unknown) => {
            let forms = several::read(index, &tokens, context);
            if forms.is_empty() {
                let is_clear = unknown.as_ref().is_some_and(|word| !word.is_known || word.reason.is_some());
                let condition = || several::unread_condition(index, &tokens, context);
                return Reading::None(if is_clear { unknown } else { condition().or(unknown) });
            }
            choose(&Parser::new(index, &tokens, 0, &Trace::default()), forms)
        }
        found => found,
    }
}

/// Reads tokens as one clause.
fn read_tokens(index: &Index, tokens: &[Token], context: Context<'_>) -> Reading {
    if tokens.is_empty() || tokens.len() > TOKENS_MAX {
        return Reading::None(None);
    }
    let trace = Trace::default();
    let parser = |focus: usize| Parser {
        context: context.rows.cloned(),
        several: context.several.cloned(),
        listed: context.listed,
        ..Parser::new(index, tokens, focus, &trace)
    };
    let first = parser(0);
    let mut all: Vec<(Form, u32)> = first.talk().map(|form| (form, 0)).into_iter().collect();
    if !index.tables.is_empty() {
        all.extend(first.orders());
        if let (true, Some(open)) = (all.is_empty(), first.open_order()) {
            return Reading::None(Some(open));
        }
        if let (true, Some(said)) = (all.is_empty(), statement(&first).or_else(|| denied(&first))) {
            return Reading::None(Some(said));
        }
        for focus in 0..index.tables.len() {
            all.extend(parser(focus).questions());
        }
    }
    let Some(least) = all.iter().map(|(_, cost)| *cost).min() else {
        let unfit = disagreeing(index, tokens, context);
        let stopped = unknown(index, tokens, &trace);
        let is_strange = stopped.as_ref().is_some_and(|word| !word.is_known);
        let open = || unclear(&first).or_else(|| open::open(&first));
        return Reading::None(unfit.or_else(|| open().filter(|_| !is_strange)).or(stopped));
    };
    all.retain(|(_, cost)| *cost == least);
    choose(&first, all.into_iter().map(|(form, _)| form).collect())
}

/// The verb of a sentence that says something of a row and asks nothing: `Mark Short has £20 credit`.
fn statement(parser: &Parser<'_>) -> Option<Unknown> {
    let is_name = |what: &What| match what {
        What::Value(table, column, _) => {
            let table = &parser.index.tables[*table];
            table.label == Some(*column) || table.key == Some(*column)
        }
        _ => false,
    };
    let names = parser.mentions(parser.opening()).into_iter().filter(|(what, ..)| is_name(what));
    let mut after = names.filter_map(|(_, end, _)| parser.tokens.get(end));
    let verb = after.find(|token| LEXICON.has("says", &token.lower)).filter(|_| !parser.is_question())?;
    let reason = "That says something and asks nothing: end it with a question mark, or give an order";
    Some(Unknown::because(verb, reason))
}

/// The verb of an order that says what not to do: `do not book 2 Hamlet`.
fn denied(parser: &Parser<'_>) -> Option<Unknown> {
    let first = parser.opening();
    let not = parser.one("not", parser.one("do", first).unwrap_or(first))?;
    let is_action = |(what, ..): &(What, usize, u32)| matches!(what, What::Action(_));
    let verb = parser.tokens.get(not).filter(|_| parser.mentions(not).iter().any(is_action))?;
    Some(Unknown::because(verb, "That says what not to do"))
}

/// What is not understood: a row that is called like a day; of an order a day by which it is to be carried out, or a name in the
/// plural.
fn unclear(parser: &Parser<'_>) -> Option<Unknown> {
    let is_day_name =
        |at: &usize| called::is_time(parser.tokens, *at) && parser.index.begins(&parser.tokens[*at]);
    if let Some(at) = (0..parser.tokens.len()).find(is_day_name) {
        let (token, name) = (&parser.tokens[at], &parser.tokens[at].text);
        let reason = format!("“{name}” may be the time: say “of {name}” for what is called so");
        return Some(Unknown::because(token, &reason));
    }
    let is_action = |(what, ..): &(What, usize, u32)| matches!(what, What::Action(_));
    parser.mentions(parser.opening()).iter().any(is_action).then_some(())?;
    let is_day = |at: usize| parser.tokens.get(at).is_some_and(|token| matches!(token.kind, Kind::Days(..)));
    let spans =
        |at: usize| ["before", "after", "since", "until"].map(|class| parser.exact(class, at)).concat();
    let is_plural = |at: usize| {
        let token = &parser.tokens[at];
        let is_name = |what: &What| match what {
            What::Table(_) => true,
            What::Value(table, column, Value::String(name)) => {
                parser.index.tables[*table].label == Some(*column)
                    && !name.to_lowercase().ends_with(&token.lower)
            }
            _ => false,
        };
        let is_counted = parser.tokens[..at].iter().any(|token| matches!(token.kind, Kind::Number(_)));
        let mentions = parser.index.at(parser.tokens, at);
        token.lower != token.stem && !is_counted && mentions.iter().any(|(what, ..)| is_name(what))
    };
    let because = |at: usize| {
        let token = &parser.tokens[at];
        let reason = match () {
            () if spans(at).into_iter().any(is_day) => {
                format!("An order is carried out at once, so “{}” a day is not understood", token.text)
            }
            () if is_plural(at) => format!("“{}” is more than one: name each one that is meant", token.text),
            () => return None,
        };
        Some(Unknown::because(token, &reason))
    };
    let is_condition = |at: &usize| guard::word(&parser.tokens[*at..]).is_some();
    let end = (0..parser.tokens.len()).find(is_condition).unwrap_or(parser.tokens.len());
    (0..end).find_map(because)
}

/// A pronoun that cannot mean the row that was spoken of.
fn disagreeing(index: &Index, tokens: &[Token], context: Context<'_>) -> Option<Unknown> {
    let rows = context.rows?;
    let token = tokens.iter().find(|token| index.meant_by(&token.lower, rows).is_none())?;
    let reason = format!("“{}” does not fit who was spoken of: say who is meant", token.text);
    Some(Unknown::because(token, &reason))
}

/// Readings that come to the same code with the same values are one.
fn choose(parser: &Parser<'_>, forms: Vec<Form>) -> Reading {
    let mut meanings: Vec<Meaning> = Vec::new();
    for form in forms {
        let written = code::write(parser, &form);
        let same = |known: &Meaning| match (&known.written, &written) {
            (Some(known), Some(written)) => {
                known.code == written.code && known.params.values() == written.params.values()
            }
            _ => known.form == form,
        };
        if !meanings.iter().any(same) {
            meanings.push(Meaning { words: words::reading(parser.index, &form), form, written });
        }
    }
    match <[Meaning; 1]>::try_from(meanings) {
        Ok([one]) => Reading::One(Box::new(one)),
        Err(several) => Reading::Several(several),
    }
}

/// The first word that nothing knows; else one that leaves open what is asked, or the word after the last one that was
/// understood.
fn unknown(index: &Index, tokens: &[Token], trace: &Trace) -> Option<Unknown> {
    let words = tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word);
    let is_nothing = |at: usize| index.at(tokens, at).is_empty() && !is_within(index, tokens, at);
    let is_strange = |at: usize, token: &Token| {
        is_nothing(at)
            && !LEXICON.knows(token.word())
            && !index.begins(token)
            && !index.degrees.contains_key(&token.lower)
    };
    // `price`, where no column is called so and none is meant by it.
    let has_price = (0..index.tables.len()).any(|table| index.role(table, "price").is_some());
    let is_gone = |at: usize, token: &Token| {
        let is_role = has_price && LEXICON.has("cost", &token.lower);
        let is_said = LEXICON.has("show", &token.lower);
        is_nothing(at) && LEXICON.is_column_noun(&token.lower) && !is_role && !is_said
    };
    let strange = words.clone().find(|(at, token)| is_strange(*at, token));
    let strange = strange.or_else(|| words.clone().find(|(at, token)| is_gone(*at, token)));
    if let (None, Some(open)) = (strange, trace.open()) {
        return Some(open);
    }
    let stopped = words.clone().find(|(at, _)| *at >= trace.furthest());
    let stopped = stopped.or_else(|| words.clone().next_back());
    let (_, token) = strange.or(stopped)?;
    let nearest =
        strange.filter(|_| token.text.chars().count() > 3).and_then(|_| index.nearest(&token.lower));
    Some(Unknown {
        text: token.text.clone(),
        at: token.at,
        is_known: strange.is_none(),
        nearest,
        reason: None,
    })
}

/// Whether a token is a later word of a name.
fn is_within(index: &Index, tokens: &[Token], at: usize) -> bool {
    let first = at.saturating_sub(4);
    (first..at).any(|from| index.at(tokens, from).iter().any(|(_, length, _)| from + length > at))
}

/// The answer to the person, or the plan.
fn reply(index: &Index, brief: &Brief, reading: Reading) -> Reply {
    match reading {
        Reading::One(meaning) => told(index, brief, &meaning),
        Reading::Several(all) => {
            let choices: Vec<String> = all
                .iter()
                .take(6)
                .enumerate()
                .map(|(at, meaning)| format!("{}. {}", at + 1, meaning.words))
                .collect();
            Reply::Question(format!(
                "I can read that in several ways. Which one do you mean? {}. Say the number.",
                choices.join("; ")
            ))
        }
        Reading::None(unknown) => Reply::Refusal(declined(index, unknown.as_ref())),
    }
}

fn told(index: &Index, brief: &Brief, meaning: &Meaning) -> Reply {
    let calls = meaning.form.all_calls();
    if let Some(call) = calls.iter().find(|call| !call.missing.is_empty()) {
        return Reply::Question(missing(index, call, &meaning.words));
    }
    if let Some(bound) = calls.iter().find_map(|call| out_of_bounds(index, call)) {
        return Reply::Question(format!("{bound} ({}). Nothing was done.", meaning.words));
    }
    if let Some(key) = missing_key(index, &meaning.form) {
        return Reply::Question(format!("I need to know the {key} for that ({}).", meaning.words));
    }
    match (&meaning.form, &meaning.written) {
        (Form::Talk("thanks"), _) => say("You are welcome."),
        (Form::Talk("no"), _) => say("All right, nothing was changed."),
        (Form::Talk("undo"), _) => Reply::Refusal(settled("ID")),
        (Form::Talk(_), _) => say(&format!("Hello! {}", possible(index))),
        (Form::Settled(run), _) => Reply::Refusal(settled(run)),
        (form, _) if form.is_direct() && brief.catalog.policy.changes == Changes::Actions => {
            Reply::Refusal(format!(
                "Here data changes through actions alone, and none covers that: {}. Nothing was changed. {}",
                meaning.words,
                possible(index)
            ))
        }
        (form, _) if is_fixed(index, form) => {
            Reply::Refusal(format!("I may not change that: {}. Nothing was changed.", meaning.words))
        }
        (_, Some(written)) => {
            let is_held = written.is_direct && brief.catalog.policy.direct_changes == DirectChanges::Hold;
            let doubt = || doubt::doubt(index, &brief.request, meaning);
            Reply::Plan(Draft {
                code: format!("{}{}", written.code, said_as::told(index, &meaning.form, &brief.request)),
                title: meaning.words.clone(),
                reading: Some(meaning.words.clone()),
                // What was read as a question is held to change nothing, whatever its code came to be.
                declared: (!meaning.form.is_change()).then(|| json!({ "action": "read" })),
                params: params(&brief.request, written),
                hold: is_held
                    .then_some(HeldBy::DirectChange)
                    .or_else(|| doubt().map(|doubt| HeldBy::Reading { doubt })),
                ..Draft::default()
            })
        }
        (_, None) => {
            Reply::Question(format!("Shall I do that? {}. Say it as an order, and I will.", meaning.words))
        }
    }
}

/// The first number of a call that its param does not allow, as a sentence.
fn out_of_bounds(index: &Index, call: &form::Call) -> Option<String> {
    let action = &index.catalog.actions[call.action];
    call.arguments.iter().find_map(|(name, argument)| {
        let form::Argument::Value(lit) = argument else { return None };
        let (param, value) = (&action.params[name], lit.value.as_f64()?);
        let bound = match () {
            () if param.kind == Some(ParamKind::Count) && value.fract() != 0.0 => "a whole number".to_owned(),
            () if param.min.is_some_and(|min| value < min) => format!("at least {}", param.min?),
            () if value > param.max.unwrap_or(COUNT_MAX) => {
                format!("at most {}", param.max.unwrap_or(COUNT_MAX))
            }
            () => return None,
        };
        Some(format!("The {} must be {bound}", name.replace('_', " ")))
    })
}

/// Whether a change is one that the table does not allow.
fn is_fixed(index: &Index, form: &Form) -> bool {
    let stays = |table: usize| {
        let table = &index.tables[table];
        table.read_only || table.append_only || table.key.is_none()
    };
    match form {
        Form::Sets(sets) => sets.iter().any(|set| {
            let table = &index.tables[set.rows.table];
            let is_own = table.columns[set.column].within.is_none();
            stays(set.rows.table) || table.key == Some(set.column) || !is_own
        }),
        Form::Add(table, values) => {
            let table = &index.tables[*table];
            table.read_only || values.iter().any(|(column, _)| table.columns[*column].within.is_some())
        }
        Form::Remove(rows) => stays(rows.table),
        Form::If(.., form) => is_fixed(index, form),
        Form::Both(both) => is_fixed(index, &both.0) || is_fixed(index, &both.1),
        _ => false,
    }
}

/// The key that a new row has not got.
fn missing_key(index: &Index, form: &Form) -> Option<String> {
    match form {
        Form::Add(table, values) => {
            let key = index.tables[*table].key?;
            let is_given = values.iter().any(|(column, _)| *column == key);
            (!is_given).then(|| index.tables[*table].columns[key].name.replace('_', " "))
        }
        Form::If(.., form) => missing_key(index, form),
        Form::Both(both) => missing_key(index, &both.0).or_else(|| missing_key(index, &both.1)),
        _ => None,
    }
}

/// The values of a plan, each with the words that it came from.
fn params(request: &str, written: &Written) -> Vec<ordain_types::BoundParam> {
    let bound = written.params.list.iter().map(|bound| ordain_types::BoundParam {
        name: bound.name.clone(),
        value: bound.value.clone(),
        said: request.get(bound.at.0..bound.at.1).unwrap_or_default().to_owned(),
        at: (bound.at != (0, 0)).then_some(bound.at),
    });
    bound.collect()
}

fn missing(index: &Index, call: &form::Call, words: &str) -> String {
    let action = &index.catalog.actions[call.action];
    let asks: Vec<String> = call
        .missing
        .iter()
        .map(|name| {
            let param = &action.params[name];
            let name = name.replace('_', " ");
            match (&param.kind, &param.table) {
                (Some(ParamKind::Count), _) if name.ends_with('s') || LEXICON.has("counts_rows", &name) => {
                    format!("how many {name}")
                }
                (Some(ParamKind::Number | ParamKind::Money), _) => format!("how much ({name})"),
                (_, Some(table)) => format!("which of the {table} ({name})"),
                _ => format!("which {name}"),
            }
        })
        .collect();
    format!("I need to know {} for that ({words}).", asks.join(" and "))
}

/// What can be done about a change that was made.
fn settled(run: &str) -> String {
    format!(
        "That leaves the change before as it is. If it was committed, it stands: `ordain undo {run}` takes it back. \
         If it waits for approval, `ordain approve {run}` commits it and `ordain reject {run}` drops it. \
         In a chat: /undo, /approve, /reject.{}",
        if run == "ID" { " `ordain runs` shows the ID of each run." } else { "" }
    )
}

/// A plan that says one sentence.
fn say(text: &str) -> Reply {
    let code = format!("answer_text = {}\nSTATUS = \"success\"\n", code::quote(text));
    Reply::Plan(Draft { code, title: "says something".to_owned(), ..Draft::default() })
}

/// What can be asked here.
fn possible(index: &Index) -> String {
    let tables: Vec<String> = index.tables.iter().map(|table| table.name.clone()).take(8).collect();
    let verbs: Vec<String> =
        index.catalog.actions.iter().filter_map(|action| action.words.first().cloned()).take(8).collect();
    let asks = if tables.is_empty() {
        "There are no tables here to ask about".to_owned()
    } else {
        format!("You can ask about {}", tables.join(", "))
    };
    if verbs.is_empty() {
        format!("{asks}.")
    } else {
        format!("{asks}, and give orders that begin with {}.", verbs.join(", "))
    }
}

fn declined(index: &Index, unknown: Option<&Unknown>) -> String {
    let what = unknown.map_or_else(|| "I do not understand that".to_owned(), Unknown::sentence);
    let is_read =
        |text: &str| matches!(read_tokens(index, &token::tokens(text), Context::default()), Reading::One(_));
    format!(
        "{what}, so nothing was done. {}{} A model understands more: see `ordain models`.",
        possible(index),
        examples(index, is_read)
    )
}

/// Two requests that are understood here, as a sentence.
fn examples(index: &Index, is_read: impl Fn(&str) -> bool) -> String {
    let tables = index.tables.iter().take(4);
    let requests = tables.flat_map(|table| {
        let rows = words::plural(&table.noun);
        let name = |column: &index::Column| index::split_name(&column.name).join(" ");
        let is_number = |column: &&index::Column| matches!(column.sort, Sort::Number | Sort::Whole);
        let figure = table.columns.iter().rfind(is_number).map(name);
        [figure.map(|figure| format!("{rows} with {figure} above 10")), Some(format!("how many {rows}"))]
    });
    let read: Vec<String> = requests.flatten().filter(|request| is_read(request)).take(2).collect();
    if read.is_empty() {
        return String::new();
    }
    format!(" For example: {}.", read.iter().map(|one| format!("“{one}”")).collect::<Vec<_>>().join(", "))
}
