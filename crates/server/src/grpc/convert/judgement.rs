//! The rules that code is judged by, as they travel; and the judging itself.
//!
//! A [`ordain_verify::VerifiedCode`] cannot travel: only the verifier makes one. So the caller sends the rules along,
//! and the executor judges the code itself, by these rules and its own view of the packages.

use ordain_cell::profile::Profile;
use ordain_cell::{Job, JudgedBy};
use ordain_types::{Column, ColumnType, Schema, Table};
use ordain_verify::{Contract, Helper, Policy, Severity, Verdict, helpers_of, verify};
use serde_json::{Map, Value, json};

use crate::grpc::proto;

/// The most entries of any list in the rules.
const ENTRIES_MAX: usize = 2000;
/// The most columns of all tables together.
const COLUMNS_MAX: usize = 20_000;

/// The most bytes of the descriptions of tools.
const TOOLS_BYTES_MAX: usize = 1 << 20;

fn with_own(profile: Profile, own: &[String]) -> impl Iterator<Item = &str> {
    profile.imports().iter().copied().chain(own.iter().map(String::as_str))
}

/// Judges the code of a job as it was received. `own` are modules that this executor has besides the profile's.
pub(crate) fn judge(
    job: &proto::Job,
    contract: Contract,
    (profile, own): (Profile, &[String]),
    values: &Map<String, Value>,
) -> Result<Verdict, String> {
    let sent = job.judgement.clone().unwrap_or_default();
    check_sizes(&sent)?;
    let schema = Schema { tables: tables(sent.tables, &job.tables)? };
    let mut policy = Policy::for_contract(contract);
    if contract != Contract::Open {
        policy = policy.with_packages(with_own(profile, own));
    }
    if !sent.statuses.is_empty() {
        policy.statuses = sent.statuses;
    }
    policy.helpers = if sent.helpers.is_empty() {
        // Helpers that do not parse give no functions; they fail when they run, with a line.
        helpers_of(&job.helpers).unwrap_or_default()
    } else {
        let helper = |helper: proto::Helper| Helper { name: helper.name, may_write: helper.may_write };
        sent.helpers.into_iter().map(helper).collect()
    };
    policy.names.extend(sent.names);
    policy.names.extend(values.keys().cloned());
    policy.allowed_imports = sent.allowed_imports;
    policy.blocked_imports = sent.blocked_imports;
    policy.allowed_calls = sent.allowed_calls;
    policy.blocked_calls = sent.blocked_calls;
    policy.read_only |= sent.read_only;
    policy.repeatable |= sent.repeatable;
    if !sent.tools_json.is_empty() {
        policy.tools = serde_json::from_str(&sent.tools_json)
            .map_err(|error| format!("the judgement's `tools_json` are no tools: {error}"))?;
    }
    Ok(verify(&job.code, &policy, &schema))
}

/// What a caller asks for that only an executor for `open` code gives: rules that are lifted, or helpers that do what
/// code may not. Helpers run before the code and beside it, so they are judged like a program.
pub(crate) fn widens(job: &proto::Job, (profile, own): (Profile, &[String])) -> Option<String> {
    let sent = job.judgement.clone().unwrap_or_default();
    for (what, lifted) in [("allowed_imports", &sent.allowed_imports), ("allowed_calls", &sent.allowed_calls)]
    {
        if !lifted.is_empty() {
            return Some(format!("the judgement's `{what}` would lift rules of this executor"));
        }
    }
    if job.helpers.is_empty() {
        return None;
    }
    let mut policy = Policy::for_contract(Contract::Exec).with_packages(with_own(profile, own));
    policy.names.extend(Policy::for_contract(Contract::Ask).names);
    policy.names.extend(sent.names);
    policy.names.extend(job.tables.iter().map(|table| format!("{table}_tbl")));
    let verdict = verify(&job.helpers, &policy, &Schema::default());
    if verdict.is_accepted() {
        return None;
    }
    let first = verdict.findings.iter().find(|finding| finding.severity == Severity::Error);
    let said = first.map(|finding| format!("line {}: {}", finding.line, finding.message));
    Some(format!("the helpers do what code may not: {}", said.unwrap_or_default()))
}

/// The rules of a job as they are sent.
pub(crate) fn judgement(job: &Job) -> proto::Judgement {
    let contract = job.code.contract();
    let Some(judged_by) = &job.judged_by else {
        return proto::Judgement { contract: contract.as_str().to_owned(), ..proto::Judgement::default() };
    };
    let JudgedBy { policy, schema } = judged_by.as_ref();
    let own = Policy::for_contract(contract).names;
    let helper = |helper: &Helper| proto::Helper { name: helper.name.clone(), may_write: helper.may_write };
    proto::Judgement {
        contract: contract.as_str().to_owned(),
        tables: schema.tables.iter().map(table_of).collect(),
        statuses: policy.statuses.clone(),
        helpers: policy.helpers.iter().map(helper).collect(),
        names: policy.names.iter().filter(|name| !own.contains(name)).cloned().collect(),
        allowed_imports: policy.allowed_imports.clone(),
        blocked_imports: policy.blocked_imports.clone(),
        allowed_calls: policy.allowed_calls.clone(),
        blocked_calls: policy.blocked_calls.clone(),
        read_only: policy.read_only,
        repeatable: policy.repeatable,
        tools_json: if policy.tools.is_empty() { String::new() } else { json!(policy.tools).to_string() },
    }
}

fn check_sizes(sent: &proto::Judgement) -> Result<(), String> {
    let lists = [
        ("tables", sent.tables.len()),
        ("statuses", sent.statuses.len()),
        ("helpers", sent.helpers.len()),
        ("names", sent.names.len()),
        ("allowed_imports", sent.allowed_imports.len()),
        ("blocked_imports", sent.blocked_imports.len()),
        ("allowed_calls", sent.allowed_calls.len()),
        ("blocked_calls", sent.blocked_calls.len()),
    ];
    if let Some((name, count)) = lists.into_iter().find(|(_, count)| *count > ENTRIES_MAX) {
        return Err(format!("the judgement's `{name}` have {count} entries; {ENTRIES_MAX} is the limit"));
    }
    if sent.tools_json.len() > TOOLS_BYTES_MAX {
        return Err(format!("the judgement's `tools_json` is larger than {TOOLS_BYTES_MAX} bytes"));
    }
    let columns: usize = sent.tables.iter().map(|table| table.columns.len()).sum();
    if columns > COLUMNS_MAX {
        return Err(format!("the judgement's tables have {columns} columns; {COLUMNS_MAX} is the limit"));
    }
    Ok(())
}

/// The tables whose shape was sent, and those that were only named.
fn tables(sent: Vec<proto::Table>, named: &[String]) -> Result<Vec<Table>, String> {
    let mut tables = sent.into_iter().map(table_from).collect::<Result<Vec<_>, _>>()?;
    for name in named {
        if !tables.iter().any(|table| table.name == *name) {
            tables.push(Table { name: name.clone(), ..Table::default() });
        }
    }
    Ok(tables)
}

fn table_from(sent: proto::Table) -> Result<Table, String> {
    Ok(Table {
        columns: sent.columns.into_iter().map(column_from).collect::<Result<_, _>>()?,
        name: sent.name,
        key: sent.key,
        append_only: sent.append_only,
        read_only: sent.read_only,
        hidden: sent.hidden,
    })
}

fn column_from(sent: proto::Column) -> Result<Column, String> {
    let column_type =
        TYPES.iter().find(|(name, _)| *name == sent.r#type).map(|(_, column_type)| *column_type);
    let wrong = || {
        let shown: String = sent.r#type.chars().filter(|c| !c.is_control()).take(40).collect();
        format!("`{shown}` is no type of a column; write text, integer, real, boolean, timestamp or json")
    };
    Ok(Column {
        column_type: column_type.ok_or_else(wrong)?,
        name: sent.name,
        nullable: sent.nullable,
        hidden: sent.hidden,
    })
}

fn table_of(table: &Table) -> proto::Table {
    let column = |column: &Column| proto::Column {
        name: column.name.clone(),
        r#type: type_name(column.column_type).to_owned(),
        nullable: column.nullable,
        hidden: column.hidden,
    };
    proto::Table {
        name: table.name.clone(),
        columns: table.columns.iter().map(column).collect(),
        key: table.key.clone(),
        append_only: table.append_only,
        read_only: table.read_only,
        hidden: table.hidden,
    }
}

const TYPES: [(&str, ColumnType); 8] = [
    ("text", ColumnType::Text),
    ("integer", ColumnType::Integer),
    ("real", ColumnType::Real),
    ("boolean", ColumnType::Boolean),
    ("timestamp", ColumnType::Timestamp),
    ("json", ColumnType::Json),
    ("decimal", ColumnType::Decimal),
    ("any", ColumnType::Any),
];

fn type_name(column_type: ColumnType) -> &'static str {
    TYPES.iter().find(|(_, known)| *known == column_type).map_or("json", |(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const BUY: &str =
        "item = stock_tbl.get(Query().id == 'A')\nanswer_text = item['name']\nSTATUS = 'success'\n";

    fn schema() -> Schema {
        let column = |name: &str| Column {
            name: name.to_owned(),
            column_type: ColumnType::Text,
            nullable: false,
            hidden: false,
        };
        let columns = vec![column("id"), column("name")];
        Schema { tables: vec![Table { name: "stock".to_owned(), columns, ..Table::default() }] }
    }

    fn sent(code: &str, judged_by: JudgedBy) -> proto::Job {
        let verdict = verify(BUY, &judged_by.policy, &judged_by.schema);
        let mut job = Job::new(verdict.into_verified().unwrap(), Profile::Core);
        job.judged_by = Some(Arc::new(judged_by));
        let judgement = Some(judgement(&job));
        proto::Job {
            code: code.to_owned(),
            judgement,
            tables: vec!["stock".to_owned()],
            ..proto::Job::default()
        }
    }

    fn rules() -> JudgedBy {
        JudgedBy { policy: Policy::for_contract(Contract::Ask), schema: schema() }
    }

    #[test]
    fn a_plan_that_the_caller_accepted_is_accepted_again() {
        let verdict = judge(&sent(BUY, rules()), Contract::Ask, (Profile::Core, &[]), &Map::new()).unwrap();
        assert!(verdict.is_accepted(), "{:?}", verdict.findings);
    }

    #[test]
    fn a_plan_that_calls_a_tool_is_judged_by_the_tools_of_its_caller() {
        let verb = ordain_types::Verb { reads: true, ..ordain_types::Verb::default() };
        let verbs = [("look".to_owned(), verb)].into();
        let mut rules = rules();
        rules.policy.tools = vec![ordain_types::Tool { name: "mail".to_owned(), verbs, tables: None }];
        rules.policy.names.push("tools".to_owned());
        for (verb, is_accepted) in [("look", true), ("send", false)] {
            let code = format!("{BUY}tools.mail.{verb}()\n");
            let job = sent(&code, rules.clone());
            let verdict = judge(&job, Contract::Ask, (Profile::Core, &[]), &Map::new()).unwrap();
            assert_eq!(verdict.is_accepted(), is_accepted, "{:?}", verdict.findings);
        }
        let mut job = sent(BUY, rules);
        job.judgement.as_mut().unwrap().tools_json = "nonsense".to_owned();
        assert!(
            judge(&job, Contract::Ask, (Profile::Core, &[]), &Map::new()).unwrap_err().contains("tools_json")
        );
    }

    #[test]
    fn a_plan_that_was_changed_on_its_way_is_judged_by_what_it_is_now() {
        let code = BUY.replace("'name'", "'nmae'");
        let verdict = judge(&sent(&code, rules()), Contract::Ask, (Profile::Core, &[]), &Map::new()).unwrap();
        assert!(!verdict.is_accepted());
    }

    #[test]
    fn an_import_that_the_profile_lacks_is_refused_whatever_the_caller_says() {
        let job = proto::Job { code: "import pandas".to_owned(), ..proto::Job::default() };
        assert!(!judge(&job, Contract::Exec, (Profile::Core, &[]), &Map::new()).unwrap().is_accepted());
        assert!(judge(&job, Contract::Exec, (Profile::Data, &[]), &Map::new()).unwrap().is_accepted());
    }

    #[test]
    fn a_judgement_has_limits_too() {
        let names = vec!["x".to_owned(); ENTRIES_MAX + 1];
        let judgement = Some(proto::Judgement { names, ..proto::Judgement::default() });
        let job = proto::Job { judgement, ..proto::Job::default() };
        let problem = judge(&job, Contract::Exec, (Profile::Core, &[]), &Map::new()).unwrap_err();
        assert!(problem.contains("`names`"), "{problem}");
    }
}
