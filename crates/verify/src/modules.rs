//! Plans of several files: modules that the main one imports by name.
//!
//! Each module is judged like the plan itself. In the cell they become modules before the plan starts, in the order in
//! which they are given, so that a later one can import an earlier one.

use std::collections::BTreeSet;

use ordain_types::{ErrorClass, Schema, SourceFile, Trouble};
use serde_json::json;

use crate::data::profiles::FULL;
use crate::data::stdlib::stdlib_modules;
use crate::{Contract, Policy, PythonVersion, refusal, verify};

/// How many modules a plan may have besides its main file.
const MODULES_MAX: usize = 50;

/// The name by which a file is imported.
pub fn module_name(file: &str) -> String {
    file.strip_suffix(".py").unwrap_or(file).to_owned()
}

/// Modules that can be loaded.
#[derive(Debug, Default)]
pub struct LoadedModules {
    /// The code that makes them.
    pub loader: String,
    /// What they import.
    pub imports: BTreeSet<String>,
}

/// Judges the modules and gives the code that makes them.
pub fn load_modules(modules: &[SourceFile], policy: &Policy) -> Result<LoadedModules, Trouble> {
    if modules.is_empty() {
        return Ok(LoadedModules::default());
    }
    if modules.len() > MODULES_MAX {
        return Err(trouble(
            "too-many-modules",
            format!("{} modules; {MODULES_MAX} is the limit", modules.len()),
        ));
    }
    let mut policy = policy.clone();
    policy.packages.extend(modules.iter().map(|module| module_name(&module.name)));
    policy.contract = Contract::Exec;
    let (mut sources, mut imports) = (Vec::new(), BTreeSet::new());
    for module in modules {
        let name = checked_name(&module.name).map_err(|problem| trouble("module-name", problem))?;
        let verdict = verify(&module.code, &policy, &Schema::default());
        if !verdict.is_accepted() {
            let refused = refusal(&verdict.findings, &module.code);
            return Err(Trouble { message: format!("{}: {}", module.name, refused.message), ..refused });
        }
        imports.extend(verdict.effects.imports);
        sources.push(json!([name, module.code]));
    }
    // JSON texts are Python texts; the names are checked above.
    Ok(LoadedModules { loader: LOADER.replace("SOURCES", &json!(sources).to_string()), imports })
}

const LOADER: &str = "\
def _load_modules():
    import sys
    import types

    for name, source in SOURCES:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, name + \".py\", \"exec\", dont_inherit=True), module.__dict__)


_load_modules()
del _load_modules
";

fn checked_name(file: &str) -> Result<String, String> {
    let name = module_name(file);
    let is_plain = !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let is_taken = stdlib_modules(PythonVersion::default()).any(|known| known == name)
        || FULL.contains(&name.as_str())
        || name == "ordain";
    if is_plain && !is_taken {
        return Ok(name);
    }
    let shown: String = file.chars().take(60).collect();
    Err(format!("`{shown}` is not the name of a module: letters, digits and `_`, ending in `.py`"))
}

fn trouble(code: &str, message: String) -> Trouble {
    Trouble::new(ErrorClass::Verify, code, message, "give each module a name of its own that no package has")
}
