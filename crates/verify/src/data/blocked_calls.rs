//! Functions that code may not call, each with its reason and the way out.

use crate::contract::Contract;

/// A function, or an object, that code may not use.
#[derive(Debug)]
pub(crate) struct BlockedCall {
    /// The dotted name; a builtin has no dot. A trailing `*` stands for any ending.
    pub(crate) name: &'static str,
    /// Why.
    pub(crate) reason: &'static str,
    /// What to do instead.
    pub(crate) instead: &'static str,
    /// Whether only plans (contracts `ask` and `check`) are kept from it.
    pub(crate) plans_only: bool,
}

/// The entry that blocks a builtin function, if one does.
pub(crate) fn blocking_builtin(name: &str, contract: Contract) -> Option<&'static BlockedCall> {
    BUILTINS.iter().find(|entry| entry.name == name && entry.holds(contract))
}

/// The entry that blocks a dotted function, if one does.
pub(crate) fn blocking_member(path: &str, contract: Contract) -> Option<&'static BlockedCall> {
    MEMBERS.iter().find(|entry| entry.covers(path) && entry.holds(contract))
}

impl BlockedCall {
    fn covers(&self, path: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == self.name,
        }
    }

    const fn holds(&self, contract: Contract) -> bool {
        !self.plans_only || contract.is_plan()
    }
}

const fn always(name: &'static str, reason: &'static str, instead: &'static str) -> BlockedCall {
    BlockedCall { name, reason, instead, plans_only: false }
}

const fn in_plans(name: &'static str, reason: &'static str, instead: &'static str) -> BlockedCall {
    BlockedCall { name, reason, instead, plans_only: true }
}

const TEXT_AS_CODE: &str = "it runs text as code, which cannot be judged";
const NO_PERSON: &str = "nobody is there to answer it";
const BY_TEXT: &str = "it reaches variables by computed text, so that effects cannot be known";
const PROCESS: &str = "a cell starts no other programs";
const IN_PYTHON: &str = "do the work in Python";
const INTERPRETER: &str = "it reaches into the interpreter, past every other rule";
const PLAIN_CALLS: &str = "call the function you need directly";
const PICKLED: &str = "pickled data runs code when it is loaded";

const BUILTINS: &[BlockedCall] = &[
    always(
        "eval",
        TEXT_AS_CODE,
        "write the expression itself; for data use `json.loads` or `ast.literal_eval`",
    ),
    always("exec", TEXT_AS_CODE, "write the statements themselves"),
    always("compile", TEXT_AS_CODE, "write the code itself; for patterns use `re.compile`"),
    always(
        "__import__",
        "it imports by computed names, which cannot be judged",
        "write a plain `import` statement",
    ),
    always("input", NO_PERSON, "take values from `user_request`, `files` or `inputs`"),
    always("breakpoint", NO_PERSON, "print what you need to see"),
    always("help", NO_PERSON, "leave it out"),
    in_plans("globals", BY_TEXT, "use the variable by its name, or a dict of your own"),
    in_plans("locals", BY_TEXT, "use the variable by its name, or a dict of your own"),
    in_plans("vars", BY_TEXT, "use the attribute by its name, or a dict of your own"),
    in_plans(
        "open",
        "plans read tables, and files only through `files` and `artifacts`",
        "open a path from `files[...]` or below `artifacts`",
    ),
];

const MEMBERS: &[BlockedCall] = &[
    // Processes.
    always("os.system", PROCESS, IN_PYTHON),
    always("os.popen*", PROCESS, IN_PYTHON),
    always("os.exec*", PROCESS, IN_PYTHON),
    always("os.spawn*", PROCESS, IN_PYTHON),
    always("os.posix_spawn*", PROCESS, IN_PYTHON),
    always("os.startfile", PROCESS, IN_PYTHON),
    always("os.fork*", "a cell is one process", "use a loop"),
    always("os.kill*", "a cell has nobody to signal", "raise an exception"),
    always(
        "os._exit",
        "it ends the cell without a result",
        "let the code run to its end, or raise an exception",
    ),
    always(
        "os.abort",
        "it ends the cell without a result",
        "let the code run to its end, or raise an exception",
    ),
    always("subprocess.*", PROCESS, IN_PYTHON),
    always("asyncio.create_subprocess_*", PROCESS, IN_PYTHON),
    always("asyncio.open_connection", "a cell has no network", "give the data as a file or a table"),
    always("asyncio.start_server", "a cell has no network", "return the answer; Ordain serves it"),
    always("concurrent.futures.ProcessPoolExecutor", PROCESS, "use a loop, or `ThreadPoolExecutor`"),
    // The interpreter.
    always("sys._getframe", INTERPRETER, PLAIN_CALLS),
    always("sys._current_frames", INTERPRETER, PLAIN_CALLS),
    always(
        "sys.modules",
        "it reaches modules by computed names, which cannot be judged",
        "write a plain `import` statement",
    ),
    always("sys.meta_path", INTERPRETER, "write a plain `import` statement"),
    always("sys.path_hooks", INTERPRETER, "write a plain `import` statement"),
    always("sys.settrace", INTERPRETER, "leave it out"),
    always("sys.setprofile", INTERPRETER, "leave it out"),
    always("sys.addaudithook", INTERPRETER, "leave it out"),
    always("inspect.currentframe", INTERPRETER, PLAIN_CALLS),
    always("inspect.stack", INTERPRETER, PLAIN_CALLS),
    always("gc.get_objects", INTERPRETER, PLAIN_CALLS),
    always("gc.get_referrers", INTERPRETER, PLAIN_CALLS),
    always("gc.get_referents", INTERPRETER, PLAIN_CALLS),
    always("types.FunctionType", "it makes code from parts, which cannot be judged", "write a `def`"),
    always("types.CodeType", "it makes code from parts, which cannot be judged", "write a `def`"),
    always("inspect.getattr_static", INTERPRETER, PLAIN_CALLS),
    always("inspect.getmembers*", INTERPRETER, PLAIN_CALLS),
    always("inspect.getmodule", INTERPRETER, PLAIN_CALLS),
    always("inspect.trace", INTERPRETER, PLAIN_CALLS),
    always("inspect.getinnerframes", INTERPRETER, PLAIN_CALLS),
    always("inspect.getouterframes", INTERPRETER, PLAIN_CALLS),
    always("inspect.getclosurevars", INTERPRETER, PLAIN_CALLS),
    in_plans("inspect.*", INTERPRETER, PLAIN_CALLS),
    in_plans("gc.*", INTERPRETER, "leave it out"),
    always("string.Formatter", "it reaches attributes by text", "use an f-string or `str.format`"),
    in_plans("typing.get_type_hints", TEXT_AS_CODE, "leave it out"),
    in_plans(
        "functools.singledispatch*",
        "it runs annotations that are texts as code",
        "choose the function with `if`",
    ),
    in_plans("typing.ForwardRef", TEXT_AS_CODE, "leave it out"),
    always("timeit.Timer", TEXT_AS_CODE, "measure with `time.perf_counter`"),
    always("cProfile.run*", TEXT_AS_CODE, "measure with `time.perf_counter`"),
    always("profile.run*", TEXT_AS_CODE, "measure with `time.perf_counter`"),
    always("numpy.testing.runstring", TEXT_AS_CODE, "write the code itself"),
    always("numpy.ctypeslib*", "native code cannot be judged", "use the packages of the profile"),
    always("timeit.timeit", TEXT_AS_CODE, "measure with `time.perf_counter`"),
    always("timeit.repeat", TEXT_AS_CODE, "measure with `time.perf_counter`"),
    // Serialised code.
    always("pandas.read_pickle", PICKLED, "read csv, json, parquet or xlsx"),
    always("joblib.load", PICKLED, "train the model in the same run, or read plain data"),
    always("yaml.unsafe_load*", "it builds any Python object from the text", "use `yaml.safe_load`"),
    always("yaml.full_load*", "it builds Python objects from the text", "use `yaml.safe_load`"),
    // The store.
    in_plans(
        "tinydb.TinyDB",
        "the store is open already; a new database would be empty",
        "use `db` or the table variables",
    ),
    in_plans(
        "sqlite3.connect",
        "the store is open already; a new database would be empty",
        "use `db.query` or the table variables",
    ),
];
