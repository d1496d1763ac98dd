//! The words that the rule planner knows, by what they do in a request. All are in the singular, as
//! [`super::tokens`] has them; none belongs to a trade.

/// Asks to sell something to the person.
pub(super) const BUY: &[&str] =
    &["buy", "purchase", "order", "take", "get", "sell", "grab", "give", "have", "ring"];
/// Asks for something; a purchase only where it says how many.
pub(super) const WANT: &[&str] =
    &["want", "need", "id like", "would like", "id love", "would love", "we like", "i like"];
/// Asks to take something back.
pub(super) const RETURN: &[&str] = &["return", "refund"];
/// Says that stock came in.
pub(super) const RESTOCK: &[&str] =
    &["restock", "replenish", "add", "receive", "received", "arrived", "delivery", "put"];
/// Says that stock is gone without a sale.
pub(super) const REMOVE: &[&str] =
    &["remove", "discard", "scrap", "damaged", "broken", "stolen", "lost", "subtract", "deduct", "write"];
/// Asks for what no rule does.
pub(super) const UNABLE: &[&str] = &[
    "delete", "erase", "truncate", "wipe", "destroy", "cancel", "rename", "email", "call", "ship", "deliver",
    "repair", "fix", "book", "reserve", "exchange", "swap", "create", "undo", "charge", "invoice",
];
/// Asks for another value.
pub(super) const CHANGE: &[&str] = &[
    "set", "change", "adjust", "correct", "update", "raise", "lower", "increase", "reduce", "decrease",
    "make", "cut", "drop",
];
/// Changes that go up or down by something.
pub(super) const DOWN: &[&str] = &["lower", "reduce", "decrease", "cut", "drop"];
/// Questions that look something up.
pub(super) const LOOK: &[&str] = &[
    "show",
    "list",
    "find",
    "tell",
    "see",
    "display",
    "look",
    "search",
    "recommend",
    "suggest",
    "describe",
    "check",
    "know",
    "carry",
    "stock",
    "offer",
    "keep",
    "got",
    "have",
    "sell",
    "help",
    "explain",
    "browse",
    "give",
];
/// Begins a question.
pub(super) const QUESTION: &[&str] = &[
    "what", "which", "who", "whom", "whose", "where", "when", "why", "how", "do", "does", "did", "is", "are",
    "was", "were", "can", "could", "may", "should", "would", "has", "have", "any", "got", "will",
];
/// Speaks of what was done.
pub(super) const HISTORY: &[&str] = &[
    "bought",
    "purchased",
    "ordered",
    "sold",
    "spent",
    "spend",
    "transaction",
    "sale",
    "balance",
    "revenue",
    "turnover",
    "receipt",
    "history",
    "earned",
    "earn",
    "income",
    "till",
];
/// May stand before a verb that asks for something.
pub(super) const LEADS: &[&str] = &[
    "please", "to", "and", "then", "you", "ill", "well", "also", "let", "i", "we", "now", "just", "kindly",
    "yes", "ok", "okay", "hi", "hello", "hey", "instead", "customer", "have", "sure", "thank", "be", "were",
    "us", "got", "a",
];
/// Makes a word before it a verb.
pub(super) const DETERMINERS: &[&str] = &[
    "my",
    "the",
    "a",
    "an",
    "all",
    "me",
    "us",
    "this",
    "these",
    "it",
    "your",
    "every",
    "our",
    "table",
    "everything",
];
/// Below a number.
pub(super) const UNDER: &str = "under|below|less than|cheaper than|lower than|up to|at most|maximum|max|no more than|not more than|fewer than|within|budget of|budget is";
/// Above a number.
pub(super) const OVER: &str =
    "over|above|more than|at least|higher than|starting at|minimum|min|no less than|greater than|exceeding";
/// Near a number.
pub(super) const AROUND: &str = "around|about|approximately|roughly|near|close to";
/// Speaks of how many there are.
pub(super) const STOCK: &[&str] =
    &["stock", "left", "unit", "piece", "pair", "available", "remaining", "quantity"];
/// Words of other languages that no English request has: enough to say honestly that it was not understood.
pub(super) const FOREIGN: &[&str] = &[
    "ich",
    "und",
    "haben",
    "sie",
    "der",
    "das",
    "ein",
    "eine",
    "bitte",
    "kaufen",
    "möchte",
    "mit",
    "nicht",
    "wie",
    "viel",
    "kostet",
    "je",
    "voudrai",
    "voudrais",
    "vous",
    "avez-vou",
    "avez-vous",
    "bonjour",
    "acheter",
    "le",
    "les",
    "une",
    "deux",
    "combien",
    "quiero",
    "comprar",
    "por",
    "favor",
    "hola",
    "tiene",
    "cuánto",
    "cuanto",
    "los",
    "una",
    "gafa",
    "vorrei",
    "comprare",
    "quanto",
    "costa",
    "ciao",
    "ho",
    "avete",
    "ik",
    "wil",
    "graag",
    "een",
    "het",
    "quero",
    "obrigado",
    "vielen",
    "dank",
    "euro-brille",
    "für",
    "unter",
    "chcę",
    "kupić",
    "dos",
    "tre",
];
/// Words of grammar and courtesy: they say how something is asked, not what.
pub(super) const GRAMMAR: &str = "a an the this that these those it its them they he she his her him i im ive id ill me my mine \
we us our well you your u do does did done doing is are was were be been being am has have had having can could may \
might will would shall should must let any some something anything everything every each all none no not dont doesnt \
isnt arent and or but if so then than too also plus with without within of in on at by for from to into onto up down \
off out as per about around over under above below between through during before after since until what which who \
whom whose where when why how much many more most less least few fewer fewest there here hi hello hey dear good morning \
afternoon evening day today tomorrow yesterday week month year ago last next recent recently latest newest please kindly \
thank thanks sorry ok okay yes yep sure great fine just only really very still now right currently current instead \
another other different same such like want need love wish looking look see show list find tell give get got take \
buy buying purchase order ordering sell selling bought purchased ordered sold returned return returning refund refunded \
back restock replenish add adding received receive arrived delivery put remove discard scrap write damaged broken \
stolen lost subtract deduct set change adjust correct update raise lower increase reduce decrease make cut drop stock \
stocked available availability inventory quantity unit piece pair count number amount total sum average mean price \
priced pricing cost costing cheap cheaper cheapest expensive priciest dearest affordable pricey value worth dollar usd \
euro eur pound buck cent money balance sale transaction history revenue turnover receipt spent spend customer client \
buyer person people name named called item thing product article style model kind type sort category range budget max \
maximum min minimum highest lowest largest smallest biggest left remaining sold-out hand shelf warehouse new first \
second one ones x know check describe detail information info help carry offer keep recommend suggest available \
free account behalf order half dozen couple single both shop store ever yet always again expensive low high roughly \
approximately nearest closest near close exactly least best top favourite favorite bring send cart basket lot bunch \
because think would-be wonder wondering work sort sorted alphabetically ascending descending compare between maybe perhaps someone anyone everyone anybody somebody else either neither \
nothing available hundred thousand percent say said says mean means overall altogether currently go ahead were \
cannot cant wont im come came went goes being lately far grab ring tell write-off made earned earn income till paid \
pay my-self myself use used using fit fits made make makes customer's i'd i'll we'd we'll";
