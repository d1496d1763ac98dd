//! Names that everybody knows from where they come, for code that forgot the import.

/// The statement that brings a name, if only one thing is meant by it.
pub(crate) fn statement(name: &str) -> Option<String> {
    if let Some(&(_, module)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Some(format!("import {module} as {name}"));
    }
    MEMBERS
        .iter()
        .find(|(_, members)| members.contains(&name))
        .map(|(module, _)| format!("from {module} import {name}"))
}

/// The module that a statement of [`statement`] imports.
pub(crate) fn module_of(statement: &str) -> &str {
    statement.split_whitespace().nth(1).unwrap_or_default()
}

/// Attributes that the class `datetime.datetime` has and the module `datetime` has not.
pub(crate) const DATETIME_CLASS: &[&str] = &[
    "now",
    "utcnow",
    "today",
    "strptime",
    "fromisoformat",
    "fromtimestamp",
    "combine",
    "min",
    "max",
    "utcfromtimestamp",
];

const ALIASES: &[(&str, &str)] = &[
    ("pd", "pandas"),
    ("np", "numpy"),
    ("plt", "matplotlib.pyplot"),
    ("sns", "seaborn"),
    ("dt", "datetime"),
    ("px", "plotly.express"),
    ("go", "plotly.graph_objects"),
    ("pa", "pyarrow"),
    ("pl", "polars"),
    ("sm", "statsmodels.api"),
    ("nx", "networkx"),
    ("xr", "xarray"),
];

const MEMBERS: &[(&str, &[&str])] = &[
    ("collections", &["Counter", "defaultdict", "namedtuple", "OrderedDict", "deque", "ChainMap"]),
    ("datetime", &["timedelta", "timezone"]),
    ("decimal", &["Decimal", "ROUND_HALF_UP", "ROUND_DOWN", "ROUND_HALF_EVEN"]),
    ("fractions", &["Fraction"]),
    ("functools", &["reduce", "partial", "lru_cache", "cmp_to_key"]),
    (
        "itertools",
        &["chain", "groupby", "combinations", "permutations", "islice", "accumulate", "zip_longest"],
    ),
    ("pathlib", &["Path"]),
    ("dataclasses", &["dataclass"]),
    ("enum", &["Enum"]),
    ("io", &["StringIO", "BytesIO"]),
    ("operator", &["itemgetter", "attrgetter"]),
    ("typing", &["Any", "Dict", "List", "Optional", "Tuple", "Union", "Callable", "Iterable", "Set"]),
    ("tinydb", &["Query", "where"]),
    ("bs4", &["BeautifulSoup"]),
    ("PIL", &["Image"]),
];
