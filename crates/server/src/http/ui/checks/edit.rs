//! Rules are changed, added and suggested: tried first, and saved as they were shown.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_checks::catalogue::Kind;
use ordain_checks::file::{CheckFiles, read_record};
use ordain_checks::report::PastResult;
use ordain_checks::suggest::Suggestion;
use ordain_checks::{Check, CheckResult, Checks, FileChange, Threshold, add_checks};
use ordain_store::EntryNote;
use ordain_ui::Place;
use ordain_ui::checks::{Form, Preview};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::http::body::Query;
use crate::http::caller::{Admin, Caller};
use crate::http::checks::{find, look, read, served};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::http::ui::visit::{Sent, Turned, Visit};

/// A change that was shown and waits to be saved.
#[derive(Debug)]
pub(crate) struct Draft {
    change: FileChange,
    /// The check, if it is about one.
    check_id: Option<String>,
}

/// The form as browsers send it.
#[derive(Debug, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    table: String,
    name: String,
    rule: String,
    filter: String,
    severity: String,
    warn_if: String,
    fail_if: String,
    owner: String,
    tags: String,
    #[serde(default)]
    enabled: String,
}

/// The form of a check.
pub(crate) async fn form(visit: Visit<Admin>, Path(check): Path<String>) -> Result<Response, Turned> {
    let service = &visit.service;
    let entry = look(service, move |checks| find(read(checks)?, &check)).await?;
    show(&visit, &form_of(&entry.check), None).await
}

/// Tries a changed check, and shows what would be saved.
pub(crate) async fn tried(Path(id): Path<String>, sent: Sent<Admin, Typed>) -> Result<Response, Turned> {
    let Sent { visit, form: typed } = &sent;
    let service = &visit.service;
    let of = id.clone();
    let (check, last) = look(service, move |checks| {
        let check = find(read(checks)?, &of)?.check;
        Ok((check, last_of(checks, &of)?))
    })
    .await?;
    let form = typed.form(Some(id), check.kind.name(), Vec::new());
    let preview = match changes(&check, typed) {
        Ok(fields) => Preview { last, ..try_fields(service, &visit.caller, &check, fields).await? },
        Err(problem) => Preview { problems: vec![problem], ..Preview::default() },
    };
    show(visit, &form, Some(preview)).await
}

/// The form of a new check.
pub(crate) async fn new_form(visit: Visit<Admin>, query: Query<OfTable>) -> Result<Response, Turned> {
    let service = &visit.service;
    let tables = table_names(service).await?;
    let table = query.table.clone().or_else(|| tables.first().cloned()).unwrap_or_default();
    let form = Form {
        tables,
        table,
        kind: Kind::Hint.name().to_owned(),
        severity: "medium".to_owned(),
        enabled: true,
        ..Form::default()
    };
    show(&visit, &form, None).await
}

/// Tries a new check, and shows how it was understood and what would be saved.
pub(crate) async fn new_tried(sent: Sent<Admin, Typed>) -> Result<Response, Turned> {
    let Sent { visit, form: typed } = &sent;
    let service = &visit.service;
    let form = typed.form(None, Kind::Hint.name(), table_names(service).await?);
    let files = look(service, read).await?;
    let preview = match new_check(&files, typed) {
        Ok(check) => try_new(service, &visit.caller, check).await?,
        Err(problem) => Preview { problems: vec![problem], ..Preview::default() },
    };
    show(visit, &form, Some(preview)).await
}

async fn show(visit: &Visit<Admin>, form: &Form, preview: Option<Preview>) -> Result<Response, Turned> {
    let content = ordain_ui::checks::edit(form, preview.as_ref(), &visit.viewer);
    let title = if form.check_id.is_some() { "Edit a rule" } else { "Add a rule" };
    visit.page(Place::Checks, title, &content).await
}

/// Which change.
#[derive(Debug, Deserialize)]
pub(crate) struct Which {
    draft: String,
}

/// Saves a change exactly as it was shown.
pub(crate) async fn save(sent: Sent<Admin, Which>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let Some(draft) = service.inner.drafts.take(&sent.visit.caller.id, &sent.form.draft) else {
        // A second click, or a page that was open for long: the grid shows what there is.
        return Ok(Redirect::to("/checks?done=draft_gone").into_response());
    };
    let Draft { change, check_id } = draft;
    let note = EntryNote::by(&sent.visit.caller.id, "ui");
    served(service)?.save(&change, check_id.as_deref(), note).await?;
    let place = check_id.map_or_else(String::new, |id| format!("/{}", ordain_ui::text::in_path(&id)));
    Ok(Redirect::to(&format!("/checks{place}?done=saved")).into_response())
}

/// Of which table.
#[derive(Debug, Deserialize)]
pub(crate) struct OfTable {
    table: Option<String>,
}

/// Rules that a table suggests.
pub(crate) async fn suggestions(visit: Visit<Admin>, query: Query<OfTable>) -> Result<Response, Turned> {
    let service = &visit.service;
    let tables = table_names(service).await?;
    let found = match &query.table {
        Some(table) => Some(suggested(service, &visit.caller, table).await?),
        None => None,
    };
    let table = query.table.as_deref().unwrap_or_default();
    let content = ordain_ui::checks::suggestions(table, &tables, found.as_deref(), &visit.viewer);
    visit.page(Place::Checks, "Suggest rules", &content).await
}

/// Shows the change of the file that adds suggested rules.
pub(crate) async fn suggestions_chosen(sent: Sent<Admin, Vec<(String, String)>>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let fields = |wanted: &'static str| {
        sent.form.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value)
    };
    let table = fields("table").next().cloned().unwrap_or_default();
    let chosen: Vec<&String> = fields("add").collect();
    let found = suggested(service, &sent.visit.caller, &table).await?;
    let is_chosen = |one: &Suggestion| chosen.contains(&&one.check.check_id);
    let added: Vec<Check> = found.into_iter().filter(is_chosen).map(|one| one.check).collect();
    let preview = if added.is_empty() {
        Preview { problems: vec!["No rule is chosen.".to_owned()], ..Preview::default() }
    } else {
        let change = look(service, move |checks| Ok(add_checks(&checks.workspace().root, &added)?)).await?;
        drafted(service, &sent.visit.caller, change, None)?
    };
    let content = ordain_ui::checks::confirm(&preview, &sent.visit.viewer);
    sent.visit.page(Place::Checks, "Add suggested rules", &content).await
}

/// What a table suggests, without what is there already.
async fn suggested(service: &Service, caller: &Caller, table: &str) -> Result<Vec<Suggestion>, Problem> {
    let _cell = service.inner.rates.cell(caller, &service.inner.options)?;
    let mut found = served(service)?.suggest(table).await?;
    let files = look(service, read).await?;
    found.retain(|one| files.entries.iter().all(|entry| entry.check.check_id != one.check.check_id));
    Ok(found)
}

async fn table_names(service: &Service) -> Result<Vec<String>, Problem> {
    look(service, |checks| Ok(checks.table_names()?.into_iter().collect())).await
}

fn last_of(checks: &Checks, id: &str) -> Result<Option<PastResult>, Problem> {
    Ok(checks.history()?.get(id).and_then(|past| past.last()).map(|past| past.result.clone()))
}

/// Tries changed fields of a check. The person who saves a rule in words has seen how it was understood; that reading is
/// kept with the rule.
async fn try_fields(
    service: &Service,
    caller: &Caller,
    check: &Check,
    fields: Map<String, Value>,
) -> Result<Preview, Problem> {
    let _cell = service.inner.rates.cell(caller, &service.inner.options)?;
    let (planner, note) = (&service.inner.planner, EntryNote::by(&caller.id, "ui"));
    let tried = served(service)?.propose_change(&check.check_id, fields, planner, &note).await?;
    drafted(service, caller, tried.change, tried.result)
}

async fn try_new(service: &Service, caller: &Caller, check: Check) -> Result<Preview, Problem> {
    let _cell = service.inner.rates.cell(caller, &service.inner.options)?;
    let (planner, note) = (&service.inner.planner, EntryNote::by(&caller.id, "ui"));
    let tried = served(service)?.propose(check, planner, &note).await?;
    drafted(service, caller, tried.change, tried.result)
}

/// A change as a page shows it. One that can be saved is kept until it is.
fn drafted(
    service: &Service,
    caller: &Caller,
    change: FileChange,
    result: Option<CheckResult>,
) -> Result<Preview, Problem> {
    let problems: Vec<String> = change.files.problems.iter().map(described).collect();
    let mut preview = Preview {
        file: change.file.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        result,
        problems,
        ..Preview::default()
    };
    preview.problems.extend(change.unread.as_ref().map(|reason| {
        format!("The rule is not understood, so it cannot be saved as one that runs: {reason}")
    }));
    if preview.problems.is_empty() && preview.before != preview.after {
        let check_id = preview.result.as_ref().map(|result| result.check_id.clone());
        preview.draft = Some(service.inner.drafts.leave(&caller.id, Draft { change, check_id })?);
    }
    Ok(preview)
}

fn described(problem: &ordain_checks::file::Problem) -> String {
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{problem}{hint}")
}

/// A new check of what was typed, with an id that is free.
fn new_check(files: &CheckFiles, typed: &Typed) -> Result<Check, String> {
    let mut record = json!({ "check_id": files.free_id(), "check_name": typed.name.trim(),
        "target_table": [typed.table.trim()], "kind": Kind::Hint, "calculation_hint": typed.rule.trim() });
    for (name, value) in changes(&record_of(&record)?, typed)? {
        record[name] = value;
    }
    record_of(&record)
}

fn record_of(record: &Value) -> Result<Check, String> {
    read_record(record).map_err(|problem| problem.message)
}

/// The fields in which the form differs from the check.
fn changes(check: &Check, typed: &Typed) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    let mut set = |name: &str, was: &str, typed: &str| {
        if typed.trim() != was.trim() {
            let value = if typed.trim().is_empty() { Value::Null } else { json!(typed.trim()) };
            fields.insert(name.to_owned(), value);
        }
    };
    let was = form_of(check);
    for (name, was, typed) in [
        ("check_name", &was.name, &typed.name),
        ("filter", &was.filter, &typed.filter),
        ("severity", &was.severity, &typed.severity),
        ("warn_if", &was.warn_if, &typed.warn_if),
        ("fail_if", &was.fail_if, &typed.fail_if),
        ("owner", &was.owner, &typed.owner),
    ] {
        set(name, was, typed);
    }
    if check.calculation_hint.is_some() {
        set("calculation_hint", &was.rule, &typed.rule.replace("\r\n", "\n"));
    } else {
        let params: Value = serde_json::from_str(&typed.rule)
            .map_err(|error| format!("The parameters are not a JSON record: {error}"))?;
        if params != json!(check.params) {
            fields.insert("params".to_owned(), params);
        }
    }
    let tags: Vec<&str> = typed.tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
    if tags != check.tags {
        fields.insert("tags".to_owned(), json!(tags));
    }
    if check.enabled == typed.enabled.is_empty() {
        fields.insert("enabled".to_owned(), json!(!check.enabled));
    }
    Ok(fields)
}

impl Typed {
    /// The form as it was typed.
    fn form(&self, check_id: Option<String>, kind: &str, tables: Vec<String>) -> Form {
        Form {
            check_id,
            tables,
            table: self.table.clone(),
            kind: kind.to_owned(),
            name: self.name.clone(),
            rule: self.rule.clone(),
            filter: self.filter.clone(),
            severity: self.severity.clone(),
            warn_if: self.warn_if.clone(),
            fail_if: self.fail_if.clone(),
            owner: self.owner.clone(),
            tags: self.tags.clone(),
            enabled: !self.enabled.is_empty(),
        }
    }
}

/// A check as the form shows it.
fn form_of(check: &Check) -> Form {
    let params = || serde_json::to_string_pretty(&check.params).unwrap_or_default();
    Form {
        check_id: Some(check.check_id.clone()),
        tables: Vec::new(),
        table: check.target_table.join(", "),
        kind: check.kind.name().to_owned(),
        name: check.check_name.clone(),
        rule: check.calculation_hint.clone().unwrap_or_else(params),
        filter: check.filter.clone().unwrap_or_default(),
        severity: check.severity.name().to_owned(),
        warn_if: threshold(check.warn_if),
        fail_if: threshold(check.fail_if),
        owner: check.owner.clone().unwrap_or_default(),
        tags: check.tags.join(", "),
        enabled: check.enabled,
    }
}

/// A threshold as the files have it.
fn threshold(threshold: Option<Threshold>) -> String {
    let Threshold { count, percent } = threshold.unwrap_or_default();
    let count = count.map(|count| format!("failed > {count}"));
    let percent = percent.map(|percent| format!("failed_pct > {percent}"));
    count.into_iter().chain(percent).collect::<Vec<_>>().join(" or ")
}
