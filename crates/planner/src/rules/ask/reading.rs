//! What a request asks for: its intent and the kinds of its slots. The values themselves are read by the plan.

use super::lexicon::{
    AROUND, BUY, CHANGE, DETERMINERS, DOWN, HISTORY, LEADS, LOOK, OVER, QUESTION, REMOVE, RESTOCK,
};
use super::lexicon::{FOREIGN, RETURN, STOCK, UNDER, WANT};
use super::tokens::{Mark, Shop, Tokens, lexicon_has, named};
use crate::rules::roles::Role;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// Something to say without a look at the tables.
    Say(Say),
    /// Facts about items that are named.
    About { describes: bool },
    /// Rows of a table that fit a condition, or a figure over them.
    Read(Read),
    /// Items bought, returned, received or written off.
    Trade(Trade),
    /// One value of one item.
    Set(Set),
    /// What was sold, to whom, and what is in the till.
    History(History),
}

/// Why nothing is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Say {
    Empty,
    TooLong,
    Foreign,
    Negated,
    Greeting,
    Capabilities,
    Unsupported,
    Discount,
    Everything,
}

/// A look at one table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Read {
    /// Which of the other tables; the items where there is none.
    pub(super) other: Option<usize>,
    pub(super) measure: Measure,
    /// The column that the measure is about.
    pub(super) column: Option<String>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) is_stocked: bool,
    pub(super) is_sold_out: bool,
    pub(super) is_search: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Measure {
    #[default]
    List,
    Count,
    Least,
    Most,
    Mean,
    Sum,
    Worth,
}

/// A limit on a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) column: String,
    pub(super) kind: Limit,
    /// The words that say it.
    pub(super) phrase: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Under,
    Over,
    Between,
    Range,
    OrLess,
    OrMore,
    Around,
}

/// Items that move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trade {
    pub(super) kind: TradeKind,
    pub(super) is_dry: bool,
    pub(super) asks: bool,
    pub(super) superlative: Option<Measure>,
    pub(super) has_customer: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TradeKind {
    Buy,
    Return,
    Mixed,
    Restock,
    Remove,
}

/// One value of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) is_price: bool,
    pub(super) step: Step,
    pub(super) is_percent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    To,
    Up,
    Down,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct History {
    pub(super) measure: Past,
    pub(super) of_customer: bool,
    pub(super) of_nobody: bool,
    pub(super) of_item: bool,
    /// Only sales of items, not every transaction.
    pub(super) is_sales: bool,
    /// One row was asked for, a number of them, or neither.
    pub(super) newest: Newest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    Balance,
    Total,
    Count,
    Who,
    Units,
    Top,
    Recent,
    Bought,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newest {
    One,
    Few,
    Said,
}

/// A request with what is known of its words.
pub(super) struct Reader<'a> {
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) shop: &'a Shop<'a>,
    /// The items that are named: one, or several that the words do not tell apart.
    named: usize,
    is_question: bool,
}

/// Requests beyond this are not read: a person's request is a few sentences.
const WORDS_MAX: usize = 300;

/// Reads a request.
pub(super) fn read(tokens: &Tokens<'_>, shop: &Shop<'_>) -> Intent {
    if tokens.list.is_empty() {
        return Intent::Say(Say::Empty);
    }
    if tokens.list.len() > WORDS_MAX {
        return Intent::Say(Say::TooLong);
    }
    let reader = Reader::new(tokens, shop);
    reader
        .plain_talk()
        .or_else(|| reader.change())
        .or_else(|| reader.unknown_verb())
        .or_else(|| reader.trade())
        .or_else(|| reader.history())
        .or_else(|| reader.other_table())
        .or_else(|| reader.items())
        .unwrap_or(Intent::Say(Say::Unsupported))
}

impl<'a> Reader<'a> {
    fn new(tokens: &'a Tokens<'a>, shop: &'a Shop<'a>) -> Self {
        let is_polite = tokens.has_any(&["can you", "could you", "would you", "will you"]);
        let starts = QUESTION.contains(&tokens.word(first_word(tokens)));
        let ends = tokens.source.trim_end().ends_with('?');
        let named = count_named(tokens, shop);
        Self { tokens, shop, named, is_question: (starts || ends) && !is_polite }
    }

    fn is_named(&self) -> bool {
        self.tokens.any(|mark| matches!(mark, Mark::Name(_))) || self.named == 1
    }

    /// Whether a number is said, other than by an article.
    fn has_number(&self) -> bool {
        self.tokens.any(|mark| *mark == Mark::Number)
    }

    /// Whether one of the verbs stands where a request has its verb.
    fn commands(&self, verbs: &[&str]) -> bool {
        (0..self.tokens.list.len()).any(|at| self.is_command(at, verbs))
    }

    fn is_command(&self, at: usize, verbs: &[&str]) -> bool {
        let token = &self.tokens.list[at];
        let is_verb = verbs.contains(&token.word.as_str()) && !matches!(token.mark, Mark::Name(_));
        is_verb && (at == 0 || LEADS.contains(&self.tokens.word(at - 1)) || self.follows_a_break(at))
    }

    /// Whether a comma or a full stop stands before a word.
    fn follows_a_break(&self, at: usize) -> bool {
        let before = self.tokens.source[..self.tokens.list[at].start].trim_end();
        before.ends_with([',', ';', '.', '!', ':', '?'])
    }

    /// Greetings, other languages, and what is said not to be done.
    fn plain_talk(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let foreign = tokens.list.iter().filter(|token| FOREIGN.contains(&token.word.as_str())).count();
        let letters = tokens.source.chars().filter(|character| character.is_alphabetic());
        let (latin, all) =
            letters.fold((0, 0), |(latin, all), letter| (latin + usize::from(letter < '\u{250}'), all + 1));
        if foreign >= 2 || latin * 2 < all {
            return Some(Intent::Say(Say::Foreign));
        }
        let changes = [BUY, RETURN, RESTOCK, CHANGE].concat();
        let negated = ["dont", "never", "not"].iter().any(|no| {
            changes.iter().any(|verb| {
                tokens.has(&format!("{no} {verb}")) || tokens.has(&format!("{no} want to {verb}"))
            })
        });
        if negated && !tokens.has("why dont you") {
            return Some(Intent::Say(Say::Negated));
        }
        if tokens.has_any(&[
            "what can you do",
            "what can i ask",
            "who are you",
            "how do you work",
            "how can you help",
        ]) {
            return Some(Intent::Say(Say::Capabilities));
        }
        let is_greeting = |word: &str| {
            matches!(
                word,
                "hi" | "hello"
                    | "hey"
                    | "good"
                    | "morning"
                    | "afternoon"
                    | "evening"
                    | "day"
                    | "thank"
                    | "thanks"
            ) || matches!(
                word,
                "you" | "bye" | "goodbye" | "there" | "very" | "much" | "so" | "dear" | "help" | "greeting"
            )
        };
        tokens.list.iter().all(|token| is_greeting(&token.word)).then_some(Intent::Say(Say::Greeting))
    }

    /// Something else than a shop does: the verb is none that is known.
    fn unknown_verb(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let is_strange = |at: usize| {
            tokens.list.get(at).is_some_and(|token| token.mark == Mark::Unknown && !lexicon_has(&token.word))
        };
        let lead = [
            "can you",
            "could you",
            "would you",
            "will you",
            "do you",
            "please",
            "to",
            "help me",
            "you please",
        ];
        for at in 0..tokens.list.len() {
            let before = |phrase: &str| {
                let words: Vec<&str> = phrase.split(' ').collect();
                at >= words.len()
                    && words
                        .iter()
                        .enumerate()
                        .all(|(index, word)| tokens.word(at - words.len() + index) == *word)
            };
            let next = tokens.list.get(at + 1);
            let has_object = next
                .is_some_and(|next| DETERMINERS.contains(&next.word.as_str()) || next.mark == Mark::Number);
            let is_verb = if before("to") || before("please") || at == 0 {
                has_object
            } else {
                lead.iter().any(|lead| before(lead))
            };
            if is_strange(at) && is_verb {
                return Some(Intent::Say(Say::Unsupported));
            }
        }
        None
    }

    /// Another price, another stock.
    fn change(&self) -> Option<Intent> {
        let tokens = self.tokens;
        if !self.commands(CHANGE) || self.is_question && !self.has_number() {
            return None;
        }
        let everything = tokens.has_any(&["all", "every", "everything", "each"]);
        let is_price = tokens.has_any(&["price", "cost"]);
        if everything && (is_price || self.is_stock()) {
            return Some(Intent::Say(Say::Everything));
        }
        let step =
            if tokens.has("by") { if self.commands(DOWN) { Step::Down } else { Step::Up } } else { Step::To };
        let is_percent = tokens.source.contains('%') || tokens.has("percent");
        if is_price && self.shop.is_writable() && self.items_have(Role::Price) {
            return Some(Intent::Set(Set { is_price: true, step, is_percent }));
        }
        let is_known = self.is_stock() || self.is_named() || self.named > 0;
        if is_known
            && self.has_number()
            && self.shop.is_writable()
            && self.items_have(Role::Quantity)
            && !is_price
        {
            return Some(Intent::Set(Set { is_price: false, step, is_percent }));
        }
        None
    }

    /// Whether the request speaks of how many there are.
    fn is_stock(&self) -> bool {
        let column = self.shop.items.as_ref().and_then(|items| items.column(Role::Quantity));
        self.tokens.has_any(STOCK) || column.is_some_and(|column| self.tokens.has(&column.replace('_', " ")))
    }

    fn items_have(&self, role: Role) -> bool {
        self.shop.items.as_ref().is_some_and(|items| items.has(role))
    }

    /// Buying, returning, receiving, writing off.
    fn trade(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let asks_price = tokens.has_any(&["cost", "how much", "total", "price", "quote"]);
        let is_past = tokens.has("did") || tokens.begins(&["who", "when"]);
        let returns =
            self.commands(RETURN) || tokens.has_any(&["bring back", "send back", "give back", "take back"]);
        let counted = self.has_number() && (self.is_named() || self.named > 0);
        let kind = if is_past || tokens.has_any(&["return policy", "refund policy"]) {
            None
        } else if returns {
            let buys = self.commands(&["buy", "purchase", "order", "take", "get"]);
            Some(if buys { TradeKind::Mixed } else { TradeKind::Return })
        } else if self.removes() {
            Some(TradeKind::Remove)
        } else if self.restocks() {
            Some(TradeKind::Restock)
        } else if self.buys() || self.is_question && counted && asks_price && !self.has_limit() {
            Some(TradeKind::Buy)
        } else {
            None
        }?;
        let moves_money = !matches!(kind, TradeKind::Restock | TradeKind::Remove);
        if moves_money && !self.shop.can_trade()
            || !self.shop.is_writable()
            || !self.items_have(Role::Quantity)
        {
            return Some(Intent::Say(Say::Unsupported));
        }
        if moves_money
            && (tokens.has_any(&["for free", "discount", "free of charge", "half price"])
                || tokens.source.contains('%'))
        {
            return Some(Intent::Say(Say::Discount));
        }
        let has_inner_question = tokens.has_any(&["how much", "tell me", "do you", "how many"]);
        let is_dry = self.is_question && !(self.commands_first() && !tokens.source.trim_end().ends_with('?'))
            || tokens.has_any(&["cart", "basket", "if i", "would it cost"]);
        let asks = has_inner_question && !is_dry && !self.is_question;
        Some(Intent::Trade(Trade {
            kind,
            is_dry: is_dry && !asks,
            asks,
            superlative: self.superlative().map(|(measure, _)| measure),
            has_customer: self.has_customer(),
        }))
    }

    /// Whether the request begins with its verb, as an order does.
    fn commands_first(&self) -> bool {
        self.is_command(first_word(self.tokens), &[BUY, RETURN].concat())
            && !QUESTION.contains(&self.tokens.word(first_word(self.tokens)))
    }

    fn removes(&self) -> bool {
        let tokens = self.tokens;
        let said = self.commands(&["remove", "discard", "scrap", "subtract", "deduct"])
            || tokens.has_any(&["write off", "throw away"]);
        let gone = REMOVE.iter().any(|word| tokens.has(word))
            && tokens.has_any(&["damaged", "broken", "stolen", "lost"]);
        (said || gone && !self.is_question) && (self.has_number() || self.is_named() || self.named > 0)
    }

    fn restocks(&self) -> bool {
        let tokens = self.tokens;
        if tokens.has_any(&["cart", "basket", "my order"]) {
            return false;
        }
        let said = self.commands(&["restock", "replenish", "add", "receive"]);
        let came = tokens.has_any(&["received", "arrived", "a delivery of", "came in"]);
        let put = self.commands(&["put"]) && tokens.has_any(&["shelf", "stock", "on the shelf"]);
        (said || came || put) && !self.is_question
    }

    fn buys(&self) -> bool {
        let tokens = self.tokens;
        let thing = self.is_named() || self.named > 0 || self.superlative().is_some();
        if self.commands(&["buy", "purchase"])
            || tokens.has_any(&[
                "i buy",
                "to buy",
                "i purchase",
                "put me down for",
                "ring up",
                "add to my cart",
            ])
        {
            // "What can I buy for 50?" looks; it does not buy.
            return !(self.is_question && !(thing && self.has_number()));
        }
        let unknown = tokens.any(|mark| *mark == Mark::Unknown);
        let counted = self.has_number() && (thing || unknown);
        let clear = self.is_command_order()
            || tokens.has_any(&[
                "get me",
                "ill take",
                "i will take",
                "i take",
                "ill have",
                "give me",
                "well take",
                "ill get",
                "well have",
            ])
            || self.commands(&["sell", "take", "grab"]) && !tokens.has("do you sell");
        if clear {
            return !self.is_question
                && (thing || unknown || self.has_number())
                && !(tokens.has("give me")
                    && tokens.has_any(&["list", "price of", "all"])
                    && !self.has_number());
        }
        let asked = self.commands(&["get", "have"]) || WANT.iter().any(|want| tokens.has(want));
        let can_i = tokens.has_any(&["can i get", "can i have", "could i get", "could i have", "may i have"]);
        (asked || can_i) && counted && !self.has_limit() && (!self.is_question || can_i)
    }

    /// "Order" is a verb only where something follows that can be ordered.
    fn is_command_order(&self) -> bool {
        (0..self.tokens.list.len()).any(|at| {
            let before = if at == 0 { "" } else { self.tokens.word(at - 1) };
            self.is_command(at, &["order"])
                && !matches!(before, "a" | "customer")
                && at + 1 < self.tokens.list.len()
        })
    }

    fn has_customer(&self) -> bool {
        let column = self.customer_column();
        self.tokens.any(|mark| match mark {
            Mark::Customer => true,
            Mark::Value(kind) => column.as_deref() == Some(kind) || self.is_person(kind),
            _ => false,
        })
    }

    fn customer_column(&self) -> Option<String> {
        let ledger = self.shop.transactions.as_ref()?;
        Some(format!("{}.{}", ledger.name(), ledger.column(Role::Customer)?))
    }

    /// Whether a value is the name of a row in a table of people.
    fn is_person(&self, kind: &str) -> bool {
        self.shop.others.iter().any(|other| {
            let name = other.column(Role::Name).or_else(|| other.column(Role::Customer));
            name.is_some_and(|name| kind == format!("{}.{name}", other.name()))
        })
    }

    /// What was sold, to whom, and what is in the till.
    fn history(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let ledger = self.shop.transactions.as_ref()?;
        let column_said = |role| {
            let column = ledger.column(role);
            column.is_some_and(|column| column.contains('_') && tokens.has(&column.replace('_', " ")))
        };
        let table_said = ledger
            .name()
            .split('_')
            .any(|piece| piece.len() > 3 && tokens.has(&super::tokens::normal(piece)));
        let did = tokens.has("did")
            && tokens.has_any(&["buy", "purchase", "order", "get", "spend", "sell", "make", "earn"]);
        let noun = tokens.has_any(&[
            "my purchase",
            "purchase of",
            "my order",
            "last purchase",
            "last order",
            "recent order",
            "recent purchase",
        ]) || tokens.has("purchase") && self.has_customer();
        let sold_out = tokens.has("sold out");
        let past = HISTORY.iter().any(|word| tokens.has(word)) && !sold_out;
        if !(past || did || noun || column_said(Role::Balance) || table_said) {
            return None;
        }
        let of_customer = self.has_customer();
        let of_item = self.is_named() || self.named > 0;
        let says_sale = tokens.has_any(&["sale", "sold", "bought", "purchase", "purchased", "buy"]);
        let measure = self.past(column_said(Role::Balance), of_customer, of_item);
        let raw_single = tokens.list.iter().any(|token| {
            matches!(
                token.raw.to_lowercase().as_str(),
                "sale" | "transaction" | "purchase" | "order" | "entry"
            )
        });
        let newest = if self.has_number() && measure == Past::Recent {
            Newest::Said
        } else if raw_single {
            Newest::One
        } else {
            Newest::Few
        };
        Some(Intent::History(History {
            measure,
            of_customer,
            of_nobody: !of_customer
                && tokens.has_any(&["i", "my", "me"])
                && (did || noun || past)
                && measure == Past::Bought
                && ledger.has(Role::Customer),
            of_item: of_item && self.shop.items.is_some(),
            is_sales: !matches!(measure, Past::Recent | Past::Balance)
                && (says_sale || measure != Past::Count),
            newest,
        }))
    }

    fn past(&self, says_balance: bool, of_customer: bool, of_item: bool) -> Past {
        let tokens = self.tokens;
        let has_balance = self.shop.transactions.as_ref().is_some_and(|ledger| ledger.has(Role::Balance));
        if has_balance && !of_customer && (says_balance || tokens.has_any(&["balance", "till", "cash"])) {
            Past::Balance
        } else if tokens.has_any(&[
            "spent the most",
            "best customer",
            "top customer",
            "buy the most",
            "bought the most",
        ]) {
            Past::Top
        } else if tokens.has("who") || tokens.has("which customer") {
            Past::Who
        } else if tokens
            .has_any(&["spent", "spend", "revenue", "turnover", "earn", "earned", "income", "how much"])
            || tokens.has("total") && !tokens.has("how many")
        {
            Past::Total
        } else if tokens.has("how many") || tokens.has("number of") || tokens.has("count") {
            let units = self.shop.transactions.as_ref().is_some_and(|ledger| ledger.has(Role::Quantity));
            if of_item && units { Past::Units } else { Past::Count }
        } else if of_customer
            || tokens.has_any(&["did i", "i bought", "my purchase", "my order", "have i", "i buy"])
        {
            Past::Bought
        } else if of_item {
            Past::Who
        } else {
            Past::Recent
        }
    }

    /// A look at a table that is neither items nor transactions.
    fn other_table(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let at = self.shop.others.iter().position(|other| {
            let says_table = other.name().split('_').any(|piece| tokens.has(&super::tokens::normal(piece)));
            let prefix = format!("{}.", other.name());
            let is_value = tokens.any(|mark| matches!(mark, Mark::Value(kind) if kind.starts_with(&prefix)));
            says_table || is_value && !self.is_named()
        })?;
        let table = &self.shop.others[at];
        let numeric: Vec<&str> = table
            .brief
            .table
            .columns
            .iter()
            .filter(|column| is_number(column.column_type) && !table.brief.table.key.contains(&column.name))
            .map(|column| column.name.as_str())
            .collect();
        let said = numeric
            .iter()
            .find(|column| tokens.has(&spoken(column)))
            .copied()
            .or_else(|| numeric.first().filter(|_| numeric.len() == 1).copied());
        let measure = self.figure(said.is_some());
        let comparisons = said.map(|column| self.limits(|_| column.to_owned())).unwrap_or_default();
        Some(Intent::Read(Read {
            other: Some(at),
            measure,
            column: said.map(str::to_owned),
            comparisons,
            is_search: !tokens.told().is_empty(),
            ..Read::default()
        }))
    }

    fn figure(&self, has_column: bool) -> Measure {
        let tokens = self.tokens;
        if tokens.has("how many") || tokens.has("number of") || tokens.has("count") {
            Measure::Count
        } else if !has_column {
            Measure::List
        } else if tokens.has_any(&["average", "mean"]) {
            Measure::Mean
        } else if tokens.has_any(&["highest", "most", "largest", "biggest", "maximum", "best", "top"]) {
            Measure::Most
        } else if tokens.has_any(&["lowest", "least", "smallest", "fewest", "minimum"]) {
            Measure::Least
        } else if tokens.has_any(&["total", "sum"]) {
            Measure::Sum
        } else {
            Measure::List
        }
    }

    /// A look at the items.
    fn items(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let items = self.shop.items.as_ref()?;
        let price = items.column(Role::Price);
        let quantity = items.column(Role::Quantity);
        let comparisons = self.limits(|is_stock| {
            let column = if is_stock { quantity.or(price) } else { price.or(quantity) };
            column.unwrap_or_default().to_owned()
        });
        let (measure, column) = self.item_measure(price, quantity);
        let told = tokens.told();
        let is_exact = tokens.any(|mark| matches!(mark, Mark::Name(_)))
            || self.named == 1 && told.len() == self.named_words();
        let about = is_exact
            && comparisons.is_empty()
            && matches!(measure, Measure::List | Measure::Count | Measure::Sum);
        if about {
            let describes = tokens.has_any(&[
                "about",
                "describe",
                "detail",
                "information",
                "info",
                "look like",
                "made of",
            ]);
            return Some(Intent::About { describes: describes && items.has(Role::Description) });
        }
        let is_about_stock = column.as_deref() == quantity && quantity.is_some()
            || comparisons.iter().any(|comparison| Some(comparison.column.as_str()) == quantity);
        let is_sold_out = quantity.is_some()
            && tokens.has_any(&["out of stock", "sold out", "unavailable", "not available", "not in stock"]);
        let is_stocked = quantity.is_some()
            && !is_sold_out
            && !is_about_stock
            && (self.is_stock() || tokens.has("on hand"));
        let looks =
            self.looks() || measure != Measure::List || !comparisons.is_empty() || is_stocked || is_sold_out;
        let is_known = tokens.any(|mark| matches!(mark, Mark::Describing | Mark::Value(_)));
        let is_thing = told.is_empty() && (looks || tokens.list.len() < 4 && self.speaks_of_items());
        (is_known || is_thing || looks && self.may_be_sought()).then(|| {
            Intent::Read(Read {
                other: None,
                measure,
                column,
                comparisons,
                is_stocked,
                is_sold_out,
                is_search: !told.is_empty(),
            })
        })
    }

    /// How many words it takes to name the one item.
    fn named_words(&self) -> usize {
        let told = self.tokens.told();
        let names = self.shop.names();
        let found = named(&told, &names);
        found
            .first()
            .map_or(0, |at| told.iter().filter(|word| names[*at].iter().any(|part| part == *word)).count())
    }

    /// Words that ask to look something up.
    fn looks(&self) -> bool {
        let tokens = self.tokens;
        self.commands(LOOK)
            || LOOK
                .iter()
                .any(|verb| tokens.has(&format!("do you {verb}")) || tokens.has(&format!("you {verb}")))
            || tokens.begins(&["any", "anything", "got", "which", "all"])
            || WANT.iter().any(|want| tokens.has(want))
            || tokens.has_any(&["looking for", "is there", "are there", "do we have", "something"])
    }

    /// A question about something unknown can still be a search, unless it is not about having things at all.
    fn may_be_sought(&self) -> bool {
        let tokens = self.tokens;
        tokens.has_any(&[
            "have",
            "sell",
            "stock",
            "carry",
            "got",
            "any",
            "anything",
            "something",
            "offer",
            "find",
            "show",
            "list",
        ]) || WANT.iter().any(|want| tokens.has(want))
            || tokens.has("looking for")
            || !tokens.any(|mark| *mark == Mark::Unknown)
    }

    fn speaks_of_items(&self) -> bool {
        self.shop.items.as_ref().is_some_and(|items| {
            items.name().split('_').any(|piece| self.tokens.has(&super::tokens::normal(piece)))
        }) || self.tokens.has_any(&["item", "product", "style", "model", "stock", "inventory", "catalogue"])
    }

    fn item_measure(&self, price: Option<&str>, quantity: Option<&str>) -> (Measure, Option<String>) {
        let tokens = self.tokens;
        if let Some((measure, is_stock)) = self.superlative() {
            let column = if is_stock { quantity } else { price };
            if let Some(column) = column {
                return (measure, Some(column.to_owned()));
            }
        }
        let owned = |column: Option<&str>| column.map(str::to_owned);
        if price.is_some() && quantity.is_some() && tokens.has_any(&["worth", "value"]) {
            return (Measure::Worth, None);
        }
        if tokens.has_any(&["average", "mean"]) {
            let column = if self.is_stock() { quantity.or(price) } else { price.or(quantity) };
            return (Measure::Mean, owned(column));
        }
        if tokens.has_any(&["how many", "number of", "count"]) {
            let kinds =
                tokens.has_any(&["different", "kind", "type", "style", "model", "product", "item", "sort"])
                    || self
                        .shop
                        .items
                        .as_ref()
                        .is_some_and(|items| tokens.has(&super::tokens::normal(items.name())));
            let of_stock = tokens.has_any(&["pair", "unit", "piece", "total", "altogether"]);
            if quantity.is_some() && (of_stock || !kinds) && !tokens.has("different") {
                return (Measure::Sum, owned(quantity));
            }
            return (Measure::Count, None);
        }
        if quantity.is_some() && tokens.has_any(&["total stock", "total quantity", "stock in total"]) {
            return (Measure::Sum, owned(quantity));
        }
        (Measure::List, None)
    }

    /// The extreme that is asked for, and whether it is one of stock.
    fn superlative(&self) -> Option<(Measure, bool)> {
        let tokens = self.tokens;
        if tokens.has_any(&[
            "cheapest",
            "lowest price",
            "lowest priced",
            "least expensive",
            "most affordable",
            "lowest cost",
        ]) {
            Some((Measure::Least, false))
        } else if tokens.has_any(&[
            "most expensive",
            "priciest",
            "dearest",
            "highest price",
            "highest priced",
            "costliest",
        ]) {
            Some((Measure::Most, false))
        } else if tokens.has_any(&["fewest", "lowest stock", "least stock", "lowest quantity", "fewest left"])
        {
            Some((Measure::Least, true))
        } else if tokens.has_any(&[
            "highest stock",
            "most stock",
            "most in stock",
            "most left",
            "highest quantity",
            "most unit",
        ]) {
            Some((Measure::Most, true))
        } else {
            None
        }
    }

    fn has_limit(&self) -> bool {
        !self.limits(|_| String::new()).is_empty()
    }

    /// The limits that are said. The column of each depends on whether it speaks of stock.
    fn limits(&self, column: impl Fn(bool) -> String) -> Vec<Comparison> {
        let mut found = Vec::new();
        let mut add = |kind, phrase, is_stock| {
            if found.iter().all(|known: &Comparison| known.kind != kind) {
                found.push(Comparison { column: column(is_stock), kind, phrase });
            }
        };
        let tokens = self.tokens;
        let number_within = |at: usize, reach: usize| {
            (at..(at + reach).min(tokens.list.len())).find(|at| tokens.list[*at].mark == Mark::Number)
        };
        for at in 0..tokens.list.len() {
            let after = |phrases: &'static str| {
                phrases.split('|').find_map(|phrase| {
                    let words: Vec<&str> = phrase.split(' ').collect();
                    let fits = words.iter().enumerate().all(|(index, word)| tokens.word(at + index) == *word);
                    let number = fits.then(|| number_within(at + words.len(), 3)).flatten()?;
                    Some((phrase, self.is_stock_number(number)))
                })
            };
            if matches!(tokens.word(at), "between" | "from") {
                let low = number_within(at + 1, 2);
                let high = low.and_then(|low| number_within(low + 1, 4));
                if let Some(high) = high {
                    add(Limit::Between, "between", self.is_stock_number(high));
                }
            } else if let Some((phrase, is_stock)) = after(UNDER) {
                add(Limit::Under, phrase, is_stock);
            } else if let Some((phrase, is_stock)) = after(OVER) {
                add(Limit::Over, phrase, is_stock);
            } else if let Some((phrase, is_stock)) = after(AROUND).filter(|_| !tokens.has("tell me about")) {
                add(Limit::Around, phrase, is_stock);
            } else if at > 0 && tokens.word(at) == "or" && number_within(at.saturating_sub(2), 2).is_some() {
                if matches!(tokens.word(at + 1), "less" | "under" | "below" | "cheaper" | "fewer") {
                    add(Limit::OrLess, "or", false);
                } else if matches!(tokens.word(at + 1), "more" | "above" | "over") {
                    add(Limit::OrMore, "or", false);
                }
            } else if is_range(tokens.list[at].raw) {
                add(Limit::Range, "-", false);
            }
        }
        found
    }

    /// Whether a number is one of pieces and not of money.
    fn is_stock_number(&self, number: usize) -> bool {
        let tokens = self.tokens;
        let at = tokens.list[number].start;
        let is_money = tokens.source[..at].trim_end().ends_with(['$', '€', '£']);
        let near = |at: usize| STOCK.contains(&tokens.word(at)) || tokens.word(at) == "hand";
        let before = number.saturating_sub(4)..number;
        let after = number + 1..(number + 4).min(tokens.list.len());
        let says_money = (number.saturating_sub(4)..(number + 3).min(tokens.list.len()))
            .any(|at| matches!(tokens.word(at), "dollar" | "price" | "cost" | "buck" | "euro" | "priced"));
        // "In stock under 100" is about money: stock words before count only directly before the limit's words.
        let stock_before =
            before.clone().rev().take(3).any(|at| near(at) && tokens.word(at.wrapping_sub(1)) != "in");
        !is_money && !says_money && (stock_before || after.clone().any(near))
    }
}

/// The first word that is no courtesy.
fn first_word(tokens: &Tokens<'_>) -> usize {
    let skip = |word: &str| {
        matches!(
            word,
            "hi" | "hello"
                | "hey"
                | "please"
                | "and"
                | "so"
                | "ok"
                | "okay"
                | "yes"
                | "well"
                | "good"
                | "morning"
                | "also"
        )
    };
    (0..tokens.list.len()).find(|at| !skip(tokens.word(*at))).unwrap_or(0)
}

/// How many items the words name best in the part of the request that names any.
fn count_named(tokens: &Tokens<'_>, shop: &Shop<'_>) -> usize {
    let names = shop.names();
    if names.is_empty() {
        // The table is too large to know its names here: a strange word may be one.
        let large = shop.items.as_ref().is_some_and(|items| items.brief.rows > 0);
        return usize::from(large && tokens.any(|mark| *mark == Mark::Unknown));
    }
    let parts = tokens.list.split(|token| matches!(token.word.as_str(), "and" | "or" | "plus"));
    parts
        .map(|part| {
            let told = part.iter().filter(|token| {
                matches!(token.mark, Mark::Name(_) | Mark::Value(_) | Mark::Describing | Mark::Unknown)
            });
            let told: Vec<&str> = told.map(|token| token.word.as_str()).collect();
            named(&told, &names).len()
        })
        .find(|count| *count > 0)
        .unwrap_or(0)
}

fn is_number(column_type: ordain_types::ColumnType) -> bool {
    matches!(column_type, ordain_types::ColumnType::Integer | ordain_types::ColumnType::Real)
}

/// A column's name as it is said.
fn spoken(column: &str) -> String {
    column.split('_').map(super::tokens::normal).collect::<Vec<_>>().join(" ")
}

/// Whether a word is two numbers with a dash between them.
fn is_range(word: &str) -> bool {
    word.split_once(['-', '–'])
        .is_some_and(|(low, high)| low.parse::<f64>().is_ok() && high.parse::<f64>().is_ok())
}
