//! Judges a plan's SQL for PostgreSQL as a tree.
//!
//! The statement is parsed, every part of the tree must be of a kind that is known here to read nothing but the tables
//! that plans may see, and the tree is rendered again. What is rendered must parse to the same tree; only then is it
//! sent. So the database runs what was judged, and a slip of parser or rendering refuses a statement instead of letting
//! one through.
//!
//! PostgreSQL calls functions in more ways than one: `f(x)`, `(x).f` and, for a row of a table, `t.f`. The first must
//! be on the list, and the second is refused. The third takes the whole row: of a table or a subquery that is a record,
//! and `pg_catalog` (the whole search path) has no harmful function of a record; of a function in FROM it is the value
//! itself, so that there only the columns are let through that the function is known to have.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Expr, Function, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, GroupByExpr, Ident, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, TableAlias, TableFactor, UnaryOperator, Visit,
    Visitor, visit_expressions_mut,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::{functions, refused};
use crate::error::StoreError;

/// Nested parts of a statement; the parser's own limit.
const DEPTH_MAX: usize = 100;

/// Words that are functions without a parenthesis and tell about the server.
const SETTING_WORDS: [&str; 8] = [
    "current_catalog",
    "current_role",
    "current_schema",
    "current_user",
    "session_user",
    "system_user",
    "user",
    "current_database",
];

/// Judges a statement and gives back the text that may be sent. `tables` are the names that it may read.
pub(super) fn judged(sql: &str, tables: &HashSet<&str>) -> Result<String, StoreError> {
    let mut statement = parsed(sql)?;
    // `- -5` would be rendered as the beginning of a comment.
    let _ = visit_expressions_mut(&mut statement, |expr| {
        if let Expr::UnaryOp { expr: inner, .. } = expr
            && matches!(**inner, Expr::UnaryOp { .. })
        {
            let bare = std::mem::replace(
                inner,
                Box::new(Expr::Wildcard(sqlparser::ast::helpers::attached_token::AttachedToken::empty())),
            );
            **inner = Expr::Nested(bare);
        }
        ControlFlow::<()>::Continue(())
    });
    let Statement::Query(query) = &statement else {
        return Err(refused("it is not a SELECT", Some("`db.query` reads; write through the tables")));
    };
    let mut names = Names::default();
    let _ = query.visit(&mut names);
    let mut judge = Judge { tables, names: &names };
    if let ControlFlow::Break(reason) = query.visit(&mut judge) {
        return Err(refused(
            reason,
            Some("`db.query` reads the tables that plans may see, with usual functions"),
        ));
    }
    let rendered = statement.to_string();
    if parsed(&rendered)? != statement {
        let hint = "write it more plainly, with parentheses around signs and casts";
        return Err(refused("it could not be written down again without doubt", Some(hint)));
    }
    Ok(rendered)
}

pub(super) fn parsed(sql: &str) -> Result<Statement, StoreError> {
    let dialect = PostgreSqlDialect {};
    let statements = Parser::new(&dialect)
        .with_recursion_limit(DEPTH_MAX)
        .try_with_sql(sql)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| refused(format!("it is not understood: {error}"), None))?;
    match <[Statement; 1]>::try_from(statements) {
        Ok([statement]) => Ok(statement),
        Err(_) => Err(refused("it is not one statement", None)),
    }
}

/// The name as PostgreSQL compares it.
fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The one part of a name without a schema.
fn single(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [part] => part.as_ident(),
        _ => None,
    }
}

/// Names that the statement itself gives.
#[derive(Debug, Default)]
struct Names {
    /// Common table expressions.
    queries: HashSet<String>,
    /// Names that mean a row: tables and their aliases.
    rows: HashSet<String>,
    /// The same for functions in FROM, with the columns that each has.
    function_rows: HashMap<String, HashSet<String>>,
}

impl Names {
    fn function(&mut self, name: &ObjectName, alias: Option<&TableAlias>) {
        let Some(function) = single(name).map(folded) else { return };
        let row = alias.map_or_else(|| function.clone(), |alias| folded(&alias.name));
        let named = alias.into_iter().flat_map(|alias| &alias.columns).map(|column| folded(&column.name));
        let columns = [row.clone(), "ordinality".to_owned(), "key".to_owned(), "value".to_owned()];
        let columns: HashSet<String> = columns.into_iter().chain(named).collect();
        let known = self.function_rows.entry(row).or_insert_with(|| columns.clone());
        // The same name may be given twice, in different places: only what holds for both is let through.
        known.retain(|column| columns.contains(column));
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for part in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.queries.insert(folded(&part.alias.name));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias, args: Some(_), .. }
            | TableFactor::Function { name, alias, .. } => {
                self.function(name, alias.as_ref());
            }
            TableFactor::UNNEST { alias, .. } => {
                self.function(&ObjectName::from(vec![Ident::new("unnest")]), alias.as_ref());
            }
            TableFactor::Table { name, alias, .. } => {
                let name = alias.as_ref().map(|alias| &alias.name).or_else(|| single(name));
                self.rows.extend(name.map(folded));
            }
            other => self.rows.extend(alias_of(other).map(|alias| folded(&alias.name))),
        }
        ControlFlow::Continue(())
    }
}

fn alias_of(factor: &TableFactor) -> Option<&TableAlias> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

/// Breaks off at the first part that is not known to be harmless, with the reason.
struct Judge<'a> {
    tables: &'a HashSet<&'a str>,
    names: &'a Names,
}

type Judged = ControlFlow<String>;

const FINE: Judged = ControlFlow::Continue(());

fn no(reason: impl Into<String>) -> Judged {
    ControlFlow::Break(reason.into())
}

impl Visitor for Judge<'_> {
    type Break = String;

    fn pre_visit_ident(&mut self, ident: &Ident) -> Judged {
        let name = ident.value.to_lowercase();
        if name.starts_with("pg_") {
            return no(format!(
                "it names `{}`, which is the database's own",
                crate::relation::shortened(&name)
            ));
        }
        if ident.quote_style.is_none() && SETTING_WORDS.contains(&name.as_str()) {
            return no(format!("it asks for `{name}`, which is a setting of the database"));
        }
        FINE
    }

    fn pre_visit_statement(&mut self, _: &Statement) -> Judged {
        // The outermost one is not visited, so that this one is inside a query.
        no("it has a statement within that is not a SELECT")
    }

    fn pre_visit_query(&mut self, query: &Query) -> Judged {
        let is_plain = query.locks.is_empty()
            && query.for_clause.is_none()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty();
        if !is_plain {
            return no("it locks rows or has a part that a SELECT does not have");
        }
        for part in query.with.iter().flat_map(|with| &with.cte_tables) {
            plain_alias(&part.alias)?;
            if part.from.is_some() {
                return no("a list entry of WITH is not understood");
            }
        }
        body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Judged {
        let is_plain = select.into.is_none()
            && select.optimizer_hints.is_empty()
            && select.select_modifiers.is_none()
            && select.top.is_none()
            && select.exclude.is_none()
            && select.lateral_views.is_empty()
            && select.prewhere.is_none()
            && select.connect_by.is_empty()
            && select.cluster_by.is_empty()
            && select.distribute_by.is_empty()
            && select.sort_by.is_empty()
            && select.qualify.is_none()
            && select.value_table_mode.is_none();
        if !is_plain {
            return no("it would write, or has a part that PostgreSQL does not have");
        }
        if !matches!(&select.group_by, GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty()) {
            return no("its GROUP BY is not understood");
        }
        select.projection.iter().try_for_each(item)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Judged {
        if let Some(alias) = alias_of(factor) {
            plain_alias(alias)?;
        }
        match factor {
            TableFactor::Table {
                name,
                args,
                with_hints,
                version,
                partitions,
                json_path,
                sample,
                index_hints,
                ..
            } => {
                let is_plain = with_hints.is_empty()
                    && version.is_none()
                    && partitions.is_empty()
                    && json_path.is_none()
                    && sample.is_none()
                    && index_hints.is_empty();
                match args {
                    _ if !is_plain => no("a table of it has a part that is not understood"),
                    Some(args) if args.settings.is_none() => called(name),
                    Some(_) => no("a function of it is not understood"),
                    None => self.table(name),
                }
            }
            TableFactor::Function { name, .. } => called(name),
            TableFactor::Derived { sample: None, .. }
            | TableFactor::UNNEST { with_offset: false, .. }
            | TableFactor::NestedJoin { .. } => FINE,
            _ => no("it reads from something that is neither a table nor a subquery"),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Judged {
        match expr {
            Expr::CompoundIdentifier(parts) => self.column(parts),
            Expr::CompoundFieldAccess { access_chain, .. } => {
                if access_chain.iter().all(|access| matches!(access, AccessExpr::Subscript(_))) {
                    FINE
                } else {
                    no("it takes a part of a value by a point, which may call a function")
                }
            }
            Expr::BinaryOp {
                op: BinaryOperator::PGCustomBinaryOperator(_) | BinaryOperator::Custom(_),
                ..
            } => no("it names an operator of its own"),
            Expr::UnaryOp { op, .. } => match op {
                UnaryOperator::Plus
                | UnaryOperator::Minus
                | UnaryOperator::Not
                | UnaryOperator::BitwiseNot
                | UnaryOperator::PGAbs => FINE,
                _ => no("an operator before a value is not understood"),
            },
            Expr::Cast { data_type, format: None, .. } => plain_type(data_type),
            Expr::TypedString(typed) => plain_type(&typed.data_type),
            Expr::Function(function) => plain_call(function),
            Expr::Collate { collation, .. } => match single(collation) {
                Some(name) if ["C", "POSIX"].contains(&name.value.as_str()) => FINE,
                _ => no("it names a collation other than \"C\""),
            },
            Expr::Identifier(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::BinaryOp { .. }
            | Expr::Like { .. }
            | Expr::ILike { .. }
            | Expr::SimilarTo { .. }
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. }
            | Expr::AtTimeZone { .. }
            | Expr::Extract { .. }
            | Expr::Ceil { .. }
            | Expr::Floor { .. }
            | Expr::Position { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. }
            | Expr::Overlay { .. }
            | Expr::Nested(_)
            | Expr::Value(_)
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::GroupingSets(_)
            | Expr::Cube(_)
            | Expr::Rollup(_)
            | Expr::Tuple(_)
            | Expr::Array(_)
            | Expr::Interval(_)
            | Expr::Wildcard(_)
            | Expr::QualifiedWildcard(..) => FINE,
            other => no(format!("`{}` is not understood", crate::relation::shortened(&other.to_string()))),
        }
    }
}

impl Judge<'_> {
    /// A table must be one that plans may see, or a list entry of WITH.
    fn table(&self, name: &ObjectName) -> Judged {
        let Some(ident) = single(name) else {
            return no(format!("it names a schema: `{}`", crate::relation::shortened(&name.to_string())));
        };
        let own = folded(ident);
        if self.tables.contains(own.as_str()) || self.names.queries.contains(&own) {
            return FINE;
        }
        no(format!("there is no table `{}`", crate::relation::shortened(&own)))
    }

    /// `table.column`: the first part must stand for rows.
    fn column(&self, parts: &[Ident]) -> Judged {
        let [rows, column] = parts else { return no("it names a column with a schema") };
        let named = folded(rows);
        match self.names.function_rows.get(&named) {
            Some(columns) if columns.contains(&folded(column)) => FINE,
            Some(_) => no(format!("`{column}` is not a column that `{rows}` is known to have")),
            None if self.names.rows.contains(&named) => FINE,
            None => no(format!("`{}` is not a table of it", crate::relation::shortened(&named))),
        }
    }
}

/// What a query is made of.
fn body(expr: &SetExpr) -> Judged {
    match expr {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => FINE,
        SetExpr::SetOperation { left, right, .. } => {
            body(left)?;
            body(right)
        }
        _ => no("it has a part that is not a SELECT"),
    }
}

fn item(item: &SelectItem) -> Judged {
    match item {
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _) => {
            no("it takes a value apart, which may call a function")
        }
        SelectItem::ExprWithAliases { .. } => no("a result has several names"),
        _ => FINE,
    }
}

fn plain_alias(alias: &TableAlias) -> Judged {
    if alias.columns.iter().any(|column| column.data_type.is_some()) || alias.at.is_some() {
        return no("a table's other name gives types to its columns");
    }
    FINE
}

fn plain_call(function: &Function) -> Judged {
    let Function { name, parameters, args, uses_odbc_syntax, null_treatment, .. } = function;
    called(name)?;
    if !matches!(parameters, FunctionArguments::None) || *uses_odbc_syntax || null_treatment.is_some() {
        return no(format!("the call of `{name}` is not understood"));
    }
    let FunctionArguments::List(list) = args else { return FINE };
    let is_ordering = |clause: &FunctionArgumentClause| matches!(clause, FunctionArgumentClause::OrderBy(_));
    let is_plain = |arg: &sqlparser::ast::FunctionArg| {
        use sqlparser::ast::FunctionArg::{ExprNamed, Named, Unnamed};
        let (Named { arg, .. } | ExprNamed { arg, .. } | Unnamed(arg)) = arg;
        !matches!(arg, FunctionArgExpr::WildcardWithOptions(_))
    };
    if list.clauses.iter().all(is_ordering) && list.args.iter().all(is_plain) {
        return FINE;
    }
    no(format!("the arguments of `{name}` are not understood"))
}

/// A function must be on the list, by its bare name: with a schema or in quotes it may be another one.
fn called(name: &ObjectName) -> Judged {
    match single(name) {
        Some(ident) if ident.quote_style.is_none() && functions::is_allowed(&ident.value) => FINE,
        _ => {
            no(format!("the function `{}` may not be called", crate::relation::shortened(&name.to_string())))
        }
    }
}

/// Types without effects. Others read catalogs (`regclass`) or have input functions of their own.
fn plain_type(data_type: &DataType) -> Judged {
    use sqlparser::ast::ArrayElemTypeDef;
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => plain_type(element),
        DataType::Character(_)
        | DataType::Char(_)
        | DataType::CharacterVarying(_)
        | DataType::Varchar(_)
        | DataType::Text
        | DataType::Uuid
        | DataType::Bytea
        | DataType::Numeric(_)
        | DataType::Decimal(_)
        | DataType::Dec(_)
        | DataType::Float(_)
        | DataType::Float4
        | DataType::Float8
        | DataType::Real
        | DataType::Double(_)
        | DataType::DoublePrecision
        | DataType::SmallInt(_)
        | DataType::Int2(_)
        | DataType::Int(_)
        | DataType::Int4(_)
        | DataType::Int8(_)
        | DataType::Integer(_)
        | DataType::BigInt(_)
        | DataType::Boolean
        | DataType::Bool
        | DataType::Date
        | DataType::Time(..)
        | DataType::Timestamp(..)
        | DataType::Interval { .. }
        | DataType::JSON
        | DataType::JSONB => FINE,
        other => {
            no(format!("the type `{}` may not be named", crate::relation::shortened(&other.to_string())))
        }
    }
}
