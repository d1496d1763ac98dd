//! The kinds of findings: their stable names, and why each exists.
//!
//! `docs/reference/findings.md` is written from here, and a test runs every example: the first must give its
//! finding, the second must be accepted.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::contract::Contract;
use crate::finding::Severity;

/// What a reader of the reference needs to know about one kind of finding.
#[derive(Debug, Clone, Copy)]
pub struct FindingReference {
    /// Its name, as verdicts show it.
    pub name: &'static str,
    /// How much it weighs where nothing lightens it.
    pub severity: Severity,
    /// What it says, in one line.
    pub summary: &'static str,
    /// Why it exists.
    pub reason: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// The contract under which the examples are judged.
    pub contract: Contract,
    /// Code that gives the finding.
    pub example: &'static str,
    /// The same intent, accepted. Empty where no text is the answer (a file too long).
    pub instead: &'static str,
}

macro_rules! finding_codes {
    ($($(#[$doc:meta])* $variant:ident => $reference:expr,)*) => {
        /// The kind of a finding. Its text form is kebab-case and stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)*
        }

        impl FindingCode {
            /// Every kind, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// What the reference says about it.
            pub const fn reference(self) -> &'static FindingReference {
                match self {
                    $(Self::$variant => {
                        const REFERENCE: FindingReference = $reference;
                        &REFERENCE
                    })*
                }
            }
        }
    };
}

impl FindingCode {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        self.reference().name
    }

    /// How much it weighs where nothing lightens it.
    pub const fn severity(self) -> Severity {
        self.reference().severity
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for FindingCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FindingCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == name)
            .ok_or_else(|| de::Error::custom(format!("`{name}` is not a kind of finding")))
    }
}

use Contract::{Ask, Check, Exec, Open};
use Severity::{Error, Warning};

finding_codes! {
    /// The text is not Python.
    SyntaxError => FindingReference {
        name: "syntax-error",
        severity: Error,
        summary: "the text is not Python, or not the Python of the cell",
        reason: "Code that does not parse cannot be judged and would not start. All errors of a file are listed at \
                 once, and syntax that is newer than the cell's Python is named with the version it needs.",
        remedy: "Correct the text at the place shown.",
        contract: Open,
        example: "total = (1 + 2\nprint(total",
        instead: "total = (1 + 2)\nprint(total)",
    },
    /// The bytes are not UTF-8.
    NotUtf8 => FindingReference {
        name: "not-utf8",
        severity: Error,
        summary: "the source is not UTF-8",
        reason: "Every line and column that Ordain reports, and every hash it records, speaks about UTF-8 text.",
        remedy: "Save the file as UTF-8.",
        contract: Open,
        example: "",
        instead: "",
    },
    /// The source contains a NUL byte.
    NullByte => FindingReference {
        name: "null-byte",
        severity: Error,
        summary: "the source holds a NUL byte",
        reason: "Python refuses it, and tools that print the source may cut it there, so that a reader sees less \
                 than would run.",
        remedy: "Remove it; inside a string write `\\0`.",
        contract: Open,
        example: "print('a\0b')",
        instead: "print('a\\0b')",
    },
    /// The source is larger than the limit.
    TooLong => FindingReference {
        name: "too-long",
        severity: Error,
        summary: "the source is larger than the limit",
        reason: "A verdict must come at once, whatever is sent.",
        remedy: "Move data out of the code: give it as a file or a table.",
        contract: Open,
        example: "",
        instead: "",
    },
    /// Brackets, blocks or operators are nested deeper than the limit.
    TooDeep => FindingReference {
        name: "too-deep",
        severity: Error,
        summary: "brackets, blocks or operators are nested deeper than the limit",
        reason: "Python's own tokenizer stops at 200 brackets and 100 blocks, and deeper trees only serve to break \
                 whoever reads them.",
        remedy: "Give parts of the expression a name, or use a loop.",
        contract: Open,
        example: "",
        instead: "",
    },
    /// The module may not be imported.
    BlockedImport => FindingReference {
        name: "blocked-import",
        severity: Error,
        summary: "the module may not be imported",
        reason: "Modules that open a network, start a process, load native code or run pickled code do nothing \
                 useful in a cell, and what they would do cannot be seen from the text. Each has its own reason, \
                 given in the message.",
        remedy: "Do what the hint says; a workspace may lift a block with `allowed_imports`.",
        contract: Exec,
        example: "import subprocess\nsubprocess.run(['ls'])",
        instead: "from pathlib import Path\nprint(sorted(Path('.').iterdir()))",
    },
    /// The module is not in the profile.
    UnknownImport => FindingReference {
        name: "unknown-import",
        severity: Error,
        summary: "the module is neither in the standard library nor in the profile",
        reason: "It would fail on import, and nothing can be installed inside a cell. Inside `try … except \
                 ImportError` it is only a warning.",
        remedy: "Use the nearest installed module, which the hint names, or choose a larger profile.",
        contract: Exec,
        example: "import panda\nprint(panda)",
        instead: "import pandas\nprint(pandas)",
    },
    /// `from module import *`.
    StarImport => FindingReference {
        name: "star-import",
        severity: Error,
        summary: "`from module import *` hides which names the code uses",
        reason: "After it no name can be judged: any of them may come from the module. In a general program it is \
                 a warning.",
        remedy: "Import the names that are used.",
        contract: Ask,
        example: "from math import *\nanswer_text = str(sqrt(2))\nSTATUS = 'success'",
        instead: "from math import sqrt\nanswer_text = str(sqrt(2))\nSTATUS = 'success'",
    },
    /// A well-known module is used without an import.
    MissingImport => FindingReference {
        name: "missing-import",
        severity: Error,
        summary: "a well-known module or class is used but never imported",
        reason: "It would raise a NameError. Where the import is certain, the finding carries the edit.",
        remedy: "Import it at the top; `ordain verify --fix` does it.",
        contract: Exec,
        example: "print(json.dumps([1, 2]))",
        instead: "import json\nprint(json.dumps([1, 2]))",
    },
    /// A name is used that nothing defines.
    UndefinedName => FindingReference {
        name: "undefined-name",
        severity: Error,
        summary: "a name is used that nothing defines",
        reason: "It would raise a NameError.",
        remedy: "Correct the spelling (the hint names the nearest known name) or define it.",
        contract: Exec,
        example: "total = 3\nprint(totl)",
        instead: "total = 3\nprint(total)",
    },
    /// The function may not be called.
    BlockedCall => FindingReference {
        name: "blocked-call",
        severity: Error,
        summary: "the function may not be called",
        reason: "Functions that run text as code, start processes, wait for a person or reach names by computed \
                 text make the code impossible to judge. Each has its own reason, given in the message.",
        remedy: "Do what the hint says; a workspace may lift a block with `allowed_calls`.",
        contract: Exec,
        example: "print(eval('1 + 1'))",
        instead: "import ast\nprint(ast.literal_eval('[1, 2]'))",
    },
    /// An attribute that leads into the interpreter.
    DunderAccess => FindingReference {
        name: "dunder-access",
        severity: Error,
        summary: "an attribute that leads into the interpreter's own objects",
        reason: "Attributes such as `__subclasses__` and `__globals__` are the classic way around every list of \
                 allowed names. Ordinary ones (`__name__`, `__init__`, `__len__`) are allowed.",
        remedy: "Use the public way: `type(x)`, `isinstance`, a plain attribute.",
        contract: Exec,
        example: "print(().__class__.__bases__[0].__subclasses__())",
        instead: "print(type(()).__name__)",
    },
    /// The table does not exist.
    UnknownTable => FindingReference {
        name: "unknown-table",
        severity: Error,
        summary: "the workspace has no such table",
        reason: "A made-up table is the most common mistake of a planner that did not read the schema.",
        remedy: "Use one of the tables that the hint lists.",
        contract: Ask,
        example: "rows = db.table('inventry').all()\nanswer_text = str(len(rows))\nSTATUS = 'success'",
        instead: "rows = db.table('inventory').all()\nanswer_text = str(len(rows))\nSTATUS = 'success'",
    },
    /// The table has no such column.
    UnknownColumn => FindingReference {
        name: "unknown-column",
        severity: Error,
        summary: "the table has no such column",
        reason: "A condition on a column that does not exist matches nothing, silently; a row with an extra key \
                 cannot be stored. Columns are followed through `Query()` objects, `where`, document keys, rows, \
                 data frames, aliases and loops.",
        remedy: "Use the column that the hint names.",
        contract: Ask,
        example: "Item = Query()\nrows = inventory_tbl.search(Item.colour == 'red')\n\
                  answer_text = f'{len(rows)} found'\nSTATUS = 'success'",
        instead: "Item = Query()\nrows = inventory_tbl.search(Item.name == 'Aviator')\n\
                  answer_text = f'{len(rows)} found'\nSTATUS = 'success'",
    },
    /// The column is hidden from plans.
    HiddenColumn => FindingReference {
        name: "hidden-column",
        severity: Error,
        summary: "the column is hidden from plans",
        reason: "The owner of the workspace keeps it from plans and models; the store leaves it out of every row.",
        remedy: "Do without it, or ask the owner to show it.",
        contract: Ask,
        example: "rows = [c['email'] for c in customers_tbl.all()]\nanswer_text = str(len(rows))\nSTATUS = 'success'",
        instead: "rows = [c['name'] for c in customers_tbl.all()]\nanswer_text = str(len(rows))\nSTATUS = 'success'",
    },
    /// The table is hidden from plans and is read.
    ReadsHiddenTable => FindingReference {
        name: "reads-hidden-table",
        severity: Error,
        summary: "the table is hidden from plans",
        reason: "The owner of the workspace keeps it from plans and models.",
        remedy: "Use the visible tables, which the hint lists.",
        contract: Ask,
        example: "rows = salaries_tbl.all()\nanswer_text = str(len(rows))\nSTATUS = 'success'",
        instead: "rows = customers_tbl.all()\nanswer_text = str(len(rows))\nSTATUS = 'success'",
    },
    /// The table is hidden from plans and is written.
    WritesHiddenTable => FindingReference {
        name: "writes-hidden-table",
        severity: Error,
        summary: "a table that is hidden from plans would be written",
        reason: "What a plan may not see, it may not change.",
        remedy: "Write to the visible tables, which the hint lists.",
        contract: Ask,
        example: "salaries_tbl.insert({'name': 'Ada', 'amount': 1})\nanswer_text = 'done'\nSTATUS = 'success'",
        instead: "customers_tbl.insert({'name': 'Ada'})\nanswer_text = 'done'\nSTATUS = 'success'",
    },
    /// A table, query or database has no such method.
    UnknownMethod => FindingReference {
        name: "unknown-method",
        severity: Error,
        summary: "tables and queries have no such method",
        reason: "Methods of other databases do not exist here: the call would raise an AttributeError, or, on a \
                 query, build a path that matches nothing.",
        remedy: "Use the method that the hint names.",
        contract: Ask,
        example: "row = inventory_tbl.find_one(where('name') == 'Aviator')\nanswer_text = str(row)\nSTATUS = 'success'",
        instead: "row = inventory_tbl.get(where('name') == 'Aviator')\nanswer_text = str(row)\nSTATUS = 'success'",
    },
    /// Conditions joined with `and`, `or`, `not` or `in`.
    ConditionLogic => FindingReference {
        name: "condition-logic",
        severity: Error,
        summary: "conditions are joined with `and`, `or`, `not`, `in` or a chained comparison",
        reason: "A condition object is always true, so `a and b` is simply `b`: the first half is lost without an \
                 error.",
        remedy: "Join conditions with `&`, `|` and `~`, each in parentheses; for `in` use `one_of`.",
        contract: Ask,
        example: "Item = Query()\nrows = inventory_tbl.search(Item.price < 100 and Item.quantity_in_stock > 0)\n\
                  answer_text = str(len(rows))\nSTATUS = 'success'",
        instead: "Item = Query()\nrows = inventory_tbl.search((Item.price < 100) & (Item.quantity_in_stock > 0))\n\
                  answer_text = str(len(rows))\nSTATUS = 'success'",
    },
    /// A value that the column cannot hold.
    WrongType => FindingReference {
        name: "wrong-type",
        severity: Error,
        summary: "a value that the column cannot hold",
        reason: "The store would refuse it, or a comparison with it could never be true.",
        remedy: "Give a value of the column's type, which the message names.",
        contract: Ask,
        example: "inventory_tbl.update({'price': 'cheap'}, where('item_id') == 'SG001')\n\
                  answer_text = 'done'\nSTATUS = 'success'",
        instead: "inventory_tbl.update({'price': 59.5}, where('item_id') == 'SG001')\n\
                  answer_text = 'done'\nSTATUS = 'success'",
    },
    /// SQL that writes, given to `db.query`.
    SqlWrite => FindingReference {
        name: "sql-write",
        severity: Error,
        summary: "`db.query` is given SQL that writes",
        reason: "Every write goes through the table interface, so that the diff is complete; `db.query` only reads.",
        remedy: "Use `insert`, `update`, `upsert` or `remove` of the table.",
        contract: Ask,
        example: "db.query('UPDATE inventory SET price = 0')\nanswer_text = 'done'\nSTATUS = 'success'",
        instead: "inventory_tbl.update({'price': 0})\nanswer_text = 'done'\nSTATUS = 'success'",
    },
    /// No path sets `answer_text` or `result`.
    MissingAnswer => FindingReference {
        name: "missing-answer",
        severity: Error,
        summary: "nothing sets `answer_text` (in a check: `result`)",
        reason: "A run without an answer tells the person nothing. A path that sets none is noticed when it runs, and \
                 changes nothing.",
        remedy: "Set it on every path, or give it a value before the branches.",
        contract: Ask,
        example: "rows = inventory_tbl.all()\nSTATUS = 'success'",
        instead: "rows = inventory_tbl.all()\nSTATUS = 'success'\nif rows:\n    answer_text = 'yes'\nelse:\n    answer_text = 'no'",
    },
    /// No path sets `STATUS`, or `result` has no `status`.
    MissingStatus => FindingReference {
        name: "missing-status",
        severity: Error,
        summary: "nothing sets `STATUS` (in a check: `result` without `status`)",
        reason: "The status is what programs read; without it a run counts as neither done nor refused.",
        remedy: "Set it on every path. `Status` and `status` are other names: `--fix` renames them where that \
                 is certain.",
        contract: Ask,
        example: "answer_text = 'hello'",
        instead: "answer_text = 'hello'\nSTATUS = 'success'",
    },
    /// The status is not one of the declared ones.
    UnknownStatus => FindingReference {
        name: "unknown-status",
        severity: Error,
        summary: "the status is not one of the declared ones",
        reason: "Statuses are a closed list that callers branch on; a workspace may declare more.",
        remedy: "Use one of the statuses that the hint lists.",
        contract: Ask,
        example: "answer_text = 'nothing found'\nSTATUS = 'not_found'",
        instead: "answer_text = 'nothing found'\nSTATUS = 'no_match'",
    },
    /// A write where nothing may be written.
    WriteInReadOnly => FindingReference {
        name: "write-in-read-only",
        severity: Error,
        summary: "a write where nothing may be written",
        reason: "Checks only look, some runs are read-only, and file tables never change.",
        remedy: "Leave the write out, or run it where writing is allowed.",
        contract: Check,
        example: "inventory_tbl.update({'price': 1})\nresult = {'status': 'PASS', 'summary': 'done'}",
        instead: "bad = inventory_tbl.count(where('price') < 0)\n\
                  result = {'status': 'FAIL' if bad else 'PASS', 'summary': f'{bad} bad prices'}",
    },
    /// A row of an append-only table would be changed or removed.
    AppendOnlyUpdate => FindingReference {
        name: "append-only-update",
        severity: Error,
        summary: "a row of an append-only table would be changed or removed",
        reason: "The table is a record of what happened; the store would roll the run back.",
        remedy: "Insert a row that corrects the earlier one.",
        contract: Ask,
        example: "transactions_tbl.remove(where('transaction_id') == 'TXN001')\nanswer_text = 'done'\nSTATUS = 'success'",
        instead: "transactions_tbl.insert({'transaction_id': 'TXN002', 'transaction_amount': -5.0})\n\
                  answer_text = 'done'\nSTATUS = 'success'",
    },
    /// The code declares that it reads, and writes.
    DeclaredReadButWrites => FindingReference {
        name: "declared-read-but-writes",
        severity: Error,
        summary: "the code declares `ACTION = \"read\"` alone and writes",
        reason: "The approver of a run trusts its declaration.",
        remedy: "Declare `mutate` on the path that writes, or leave the write out.",
        contract: Ask,
        example: "ACTION = 'read'\ninventory_tbl.update({'price': 1})\nanswer_text = 'done'\nSTATUS = 'success'",
        instead: "ACTION = 'mutate'\ninventory_tbl.update({'price': 1})\nanswer_text = 'done'\nSTATUS = 'success'",
    },
    /// The code declares that it writes, and nothing in it does.
    DeclaredWriteButReads => FindingReference {
        name: "declared-write-but-reads",
        severity: Warning,
        summary: "the code declares `ACTION = \"mutate\"` and nothing in it writes",
        reason: "A change is promised that cannot happen.",
        remedy: "Write the change, or declare `read`.",
        contract: Ask,
        example: "ACTION = 'mutate'\nanswer_text = 'sold'\nSTATUS = 'success'",
        instead: "ACTION = 'read'\nanswer_text = 'we have it'\nSTATUS = 'success'",
    },
    /// A loop variable is captured by a function that runs after the loop.
    CapturedVariable => FindingReference {
        name: "captured-variable",
        severity: Error,
        summary: "a loop variable is captured by a test that runs after the loop moved on",
        reason: "Python looks the variable up when the test runs: every condition made in the loop then tests the \
                 last value.",
        remedy: "Bind the value when the function is made: `lambda v, word=word: …`; `--fix` does it.",
        contract: Ask,
        example: "Item = Query()\nconditions = []\nfor word in ['round', 'metal']:\n\
                  \x20   conditions.append(Item.description.test(lambda v: word in v))\n\
                  rows = inventory_tbl.search(conditions[0] | conditions[1])\nanswer_text = str(len(rows))\nSTATUS = 'success'",
        instead: "Item = Query()\nconditions = []\nfor word in ['round', 'metal']:\n\
                  \x20   conditions.append(Item.description.test(lambda v, word=word: word in v))\n\
                  rows = inventory_tbl.search(conditions[0] | conditions[1])\nanswer_text = str(len(rows))\nSTATUS = 'success'",
    },
    /// Chance or the clock decides.
    Nondeterministic => FindingReference {
        name: "nondeterministic",
        severity: Warning,
        summary: "chance or the clock decides what the code gives",
        reason: "A kept plan is run again and must give the same result on the same data. The clock counts only \
                 where the code must be repeatable, as in a check.",
        remedy: "Seed the generator, sort instead of sampling, or take the time from the data.",
        contract: Ask,
        example: "import random\nrow = random.choice(inventory_tbl.all())\nanswer_text = row['name']\nSTATUS = 'success'",
        instead: "import random\nrow = random.Random(7).choice(inventory_tbl.all())\nanswer_text = row['name']\nSTATUS = 'success'",
    },
    /// A loop that nothing ends.
    UnboundedLoop => FindingReference {
        name: "unbounded-loop",
        severity: Warning,
        summary: "a loop that nothing in it can end",
        reason: "It would run into the time limit.",
        remedy: "Give it a `break`, or loop over a range.",
        contract: Exec,
        example: "count = 0\nwhile True:\n    count += 1",
        instead: "count = 0\nwhile True:\n    count += 1\n    if count == 10:\n        break",
    },
    /// A tool, a verb or an argument that was not reviewed, or a tool that is not called where it stands.
    UnknownTool => FindingReference {
        name: "unknown-tool",
        severity: Error,
        summary: "a tool, a verb or an argument that was not reviewed, or a tool that is not called in place",
        reason: "What a plan calls outside of the tables must be known before it runs: verbs and arguments come from the \
                 reviewed list in `tools.lock.json`, and every call stands in the text.",
        remedy: "Write `tools.NAME.verb(argument=value)` with names of the reviewed list; `ordain tools show NAME` has it.",
        contract: Ask,
        example: "tools.mail.send(to='alice')\nanswer_text = 'hello'\nSTATUS = 'success'",
        instead: "",
    },
    /// A value is computed and dropped.
    UnusedResult => FindingReference {
        name: "unused-result",
        severity: Warning,
        summary: "a value is computed and dropped",
        reason: "`STATUS == 'success'` compares where `=` was meant; `frame.dropna()` gives a new frame and leaves \
                 the old one as it is.",
        remedy: "Assign the result, or remove the statement.",
        contract: Ask,
        example: "answer_text = 'hello'\nSTATUS = 'success'\nSTATUS == 'no_match'",
        instead: "answer_text = 'hello'\nSTATUS = 'success'\nSTATUS = 'no_match'",
    },
}
