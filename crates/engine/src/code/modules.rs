//! Plans of several files: modules that the main one imports by name.
//!
//! Each module is judged like the plan itself. In the cell they become modules before the plan starts, in the order in
//! which they are given, so that a later one can import an earlier one.

use std::collections::BTreeSet;

use ordain_types::{ErrorClass, Schema, SourceFile, Trouble};
use ordain_verify::{Contract, Policy, verify};
use serde_json::json;

/// How many modules a plan may have besides its main file.
const MODULES_MAX: usize = 50;

/// What is wrong with a module's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not the name of a module: letters, digits and `_`, ending in `.py`")]
pub struct ModuleProblem {
    name: String,
}

/// The name by which a file is imported.
pub(crate) fn name(file: &str) -> String {
    file.strip_suffix(".py").unwrap_or(file).to_owned()
}

/// Modules that can be loaded.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// The code that makes them.
    pub(crate) loader: String,
    /// What they import.
    pub(crate) imports: BTreeSet<String>,
}

/// Judges the modules and gives the code that makes them.
pub(crate) fn load(modules: &[SourceFile], policy: &Policy) -> Result<Loaded, Trouble> {
    if modules.is_empty() {
        return Ok(Loaded::default());
    }
    if modules.len() > MODULES_MAX {
        return Err(trouble(
            "too-many-modules",
            format!("{} modules; {MODULES_MAX} is the limit", modules.len()),
        ));
    }
    let mut policy = policy.clone();
    policy.packages.extend(modules.iter().map(|module| name(&module.name)));
    policy.contract = Contract::Exec;
    let (mut sources, mut imports) = (Vec::new(), BTreeSet::new());
    for module in modules {
        let name = check_name(&module.name).map_err(|problem| trouble("module-name", problem.to_string()))?;
        let verdict = verify(&module.code, &policy, &Schema::default());
        if !verdict.is_accepted() {
            let refused = crate::rounds::refused(&verdict.findings, &module.code);
            return Err(Trouble { message: format!("{}: {}", module.name, refused.message), ..refused });
        }
        imports.extend(verdict.effects.imports);
        sources.push(json!([name, module.code]));
    }
    // JSON texts are Python texts; the names are checked above.
    Ok(Loaded { loader: LOADER.replace("SOURCES", &json!(sources).to_string()), imports })
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

fn check_name(file: &str) -> Result<String, ModuleProblem> {
    let name = name(file);
    let is_plain = !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let is_taken = ordain_verify::stdlib_modules(ordain_verify::PythonVersion::default())
        .any(|known| known == name)
        || ordain_verify::FULL_IMPORTS.contains(&name.as_str())
        || name == "ordain";
    if is_plain && !is_taken {
        Ok(name)
    } else {
        Err(ModuleProblem { name: file.chars().take(60).collect() })
    }
}

fn trouble(code: &str, message: String) -> Trouble {
    Trouble::new(ErrorClass::Verify, code, message, "give each module a name of its own that no package has")
}
