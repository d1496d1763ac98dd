//! Modules that code may not import, each with its reason and the way out.

/// A module that may not be imported.
#[derive(Debug)]
pub(crate) struct BlockedImport {
    /// The dotted name; everything below it is blocked too.
    pub(crate) module: &'static str,
    /// Why.
    pub(crate) reason: &'static str,
    /// What to do instead.
    pub(crate) instead: &'static str,
}

/// The entry that blocks a dotted module name, if one does.
pub(crate) fn blocking(module: &str) -> Option<&'static BlockedImport> {
    BLOCKED.iter().find(|entry| is_below(module, entry.module))
}

/// Whether `module` is `root` or lies below it.
pub(crate) fn is_below(module: &str, root: &str) -> bool {
    module.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

const fn blocked(module: &'static str, reason: &'static str, instead: &'static str) -> BlockedImport {
    BlockedImport { module, reason, instead }
}

const NETWORK: &str = "a cell has no network";
const GIVE_FILES: &str = "give the data as a file or a table";
const PROCESS: &str = "a cell starts no other programs";
const IN_PYTHON: &str = "do the work in Python";
const PICKLED: &str = "pickled data runs code when it is loaded";
const PLAIN_FORMAT: &str = "use json or csv";
const NATIVE: &str = "native code cannot be judged";
const IN_PACKAGES: &str = "use the packages of the profile";
const IMPORTS: &str = "it imports by computed names, which cannot be judged";
const STATIC_IMPORT: &str = "write a plain `import` statement";
const INTERPRETER: &str = "it reaches into the interpreter, past every other rule";
const PLAIN_CALLS: &str = "call the function you need directly";
const SCREEN: &str = "a cell has no screen and no keyboard";
const WRITE_ARTIFACT: &str = "write a file into `artifacts`";
const INSTALL: &str = "nothing can be installed inside a cell";

const BLOCKED: &[BlockedImport] = &[
    // Network.
    blocked("socket", NETWORK, GIVE_FILES),
    blocked("_socket", NETWORK, GIVE_FILES),
    blocked("socketserver", NETWORK, GIVE_FILES),
    blocked("ssl", NETWORK, GIVE_FILES),
    blocked("http", NETWORK, GIVE_FILES),
    blocked("urllib.request", NETWORK, "give the data as a file or a table; `urllib.parse` is allowed"),
    blocked("urllib.robotparser", NETWORK, GIVE_FILES),
    blocked("ftplib", NETWORK, GIVE_FILES),
    blocked("smtplib", NETWORK, "return the text of the message instead of sending it"),
    blocked("smtpd", NETWORK, GIVE_FILES),
    blocked("imaplib", NETWORK, GIVE_FILES),
    blocked("poplib", NETWORK, GIVE_FILES),
    blocked("nntplib", NETWORK, GIVE_FILES),
    blocked("telnetlib", NETWORK, GIVE_FILES),
    blocked("xmlrpc", NETWORK, GIVE_FILES),
    blocked("asyncore", NETWORK, GIVE_FILES),
    blocked("asynchat", NETWORK, GIVE_FILES),
    blocked("wsgiref", NETWORK, GIVE_FILES),
    blocked("requests", NETWORK, GIVE_FILES),
    blocked("httpx", NETWORK, GIVE_FILES),
    blocked("aiohttp", NETWORK, GIVE_FILES),
    blocked("urllib3", NETWORK, GIVE_FILES),
    blocked("websocket", NETWORK, GIVE_FILES),
    blocked("websockets", NETWORK, GIVE_FILES),
    blocked("paramiko", NETWORK, GIVE_FILES),
    blocked("boto3", NETWORK, GIVE_FILES),
    blocked("openai", NETWORK, "only the planner speaks to a model"),
    blocked("flask", NETWORK, "return the answer; Ordain serves it"),
    blocked("fastapi", NETWORK, "return the answer; Ordain serves it"),
    // Processes.
    blocked("subprocess", PROCESS, IN_PYTHON),
    blocked("_posixsubprocess", PROCESS, IN_PYTHON),
    blocked("multiprocessing", PROCESS, "use a loop, or vectorise with numpy or pandas"),
    blocked("pty", PROCESS, IN_PYTHON),
    blocked("posix", PROCESS, "use `os` or `pathlib`"),
    blocked("nt", PROCESS, "use `os` or `pathlib`"),
    blocked("pexpect", PROCESS, IN_PYTHON),
    blocked("sh", PROCESS, IN_PYTHON),
    blocked("psutil", "a cell sees no process but its own", IN_PYTHON),
    // Serialised code.
    blocked("pickle", PICKLED, PLAIN_FORMAT),
    blocked("_pickle", PICKLED, PLAIN_FORMAT),
    blocked("cPickle", PICKLED, PLAIN_FORMAT),
    blocked("cloudpickle", PICKLED, PLAIN_FORMAT),
    blocked("dill", PICKLED, PLAIN_FORMAT),
    blocked("pickletools", PICKLED, PLAIN_FORMAT),
    blocked("shelve", PICKLED, PLAIN_FORMAT),
    blocked("dbm", PICKLED, PLAIN_FORMAT),
    blocked("marshal", "marshalled data is code", PLAIN_FORMAT),
    // Native code.
    blocked("ctypes", NATIVE, IN_PACKAGES),
    blocked("_ctypes", NATIVE, IN_PACKAGES),
    blocked("cffi", NATIVE, IN_PACKAGES),
    // Imports by computed names.
    blocked("importlib", IMPORTS, STATIC_IMPORT),
    blocked("imp", IMPORTS, STATIC_IMPORT),
    blocked("runpy", IMPORTS, STATIC_IMPORT),
    blocked("pkgutil", IMPORTS, STATIC_IMPORT),
    blocked("zipimport", IMPORTS, STATIC_IMPORT),
    blocked("modulefinder", IMPORTS, STATIC_IMPORT),
    blocked("pyclbr", IMPORTS, STATIC_IMPORT),
    blocked("pydoc", IMPORTS, STATIC_IMPORT),
    blocked("doctest", "it runs text as code", "write the code itself"),
    blocked("rlcompleter", "it runs text as code", "write the code itself"),
    blocked("logging.config", IMPORTS, "use `logging.basicConfig`"),
    blocked("_imp", IMPORTS, STATIC_IMPORT),
    blocked("_frozen_importlib", IMPORTS, STATIC_IMPORT),
    blocked("_frozen_importlib_external", IMPORTS, STATIC_IMPORT),
    blocked("_interpreters", INTERPRETER, PLAIN_CALLS),
    blocked("_xxsubinterpreters", INTERPRETER, PLAIN_CALLS),
    blocked("concurrent.interpreters", INTERPRETER, "use `concurrent.futures.ThreadPoolExecutor`"),
    blocked("_testcapi", INTERPRETER, PLAIN_CALLS),
    blocked("_testinternalcapi", INTERPRETER, PLAIN_CALLS),
    // The interpreter.
    blocked("builtins", INTERPRETER, PLAIN_CALLS),
    blocked("code", "it runs text as code", "write the code itself"),
    blocked("codeop", "it runs text as code", "write the code itself"),
    blocked("py_compile", "it compiles text into code", "write the code itself"),
    blocked("compileall", "it compiles text into code", "write the code itself"),
    blocked("site", INTERPRETER, PLAIN_CALLS),
    blocked("_thread", "threads belong to `threading`", "use `threading` or a loop"),
    blocked("bdb", "a debugger waits for a person", "print what you need to see"),
    blocked("pdb", "a debugger waits for a person", "print what you need to see"),
    // Screens.
    blocked("tkinter", SCREEN, WRITE_ARTIFACT),
    blocked("turtle", SCREEN, WRITE_ARTIFACT),
    blocked("curses", SCREEN, "print plain text"),
    blocked("readline", SCREEN, "take values from `user_request`"),
    blocked("getpass", SCREEN, "take values from `user_request`"),
    blocked("webbrowser", SCREEN, WRITE_ARTIFACT),
    blocked("antigravity", SCREEN, WRITE_ARTIFACT),
    blocked("idlelib", SCREEN, WRITE_ARTIFACT),
    // Installation.
    blocked("pip", INSTALL, "choose a larger profile"),
    blocked("setuptools", INSTALL, "choose a larger profile"),
    blocked("distutils", INSTALL, "choose a larger profile"),
    blocked("ensurepip", INSTALL, "choose a larger profile"),
    blocked("venv", INSTALL, "choose a larger profile"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_covers_what_lies_below_and_nothing_beside() {
        assert!(blocking("urllib.request").is_some());
        assert!(blocking("http.client").is_some());
        assert!(blocking("urllib.parse").is_none());
        assert!(blocking("codecs").is_none(), "`code` is not a prefix of names");
        assert!(blocking("sha").is_none());
    }
}
