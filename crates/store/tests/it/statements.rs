//! Ordinary statements mean the same to PostgreSQL as they are written and as they are rendered after the judgement.

use std::fmt::Write as _;

use ordain_store::{Intent, Store};
use ordain_testkit::postgres::Server;
use serde_json::{Value, json};

use crate::world::{World, begin};

/// How many there must be at least.
const STATEMENTS: usize = 300;

const ORDERS: &str = r#"[
  {"order_id": 1, "customer": "Ada", "city": "Bern", "amount": 80.5, "quantity": 2, "day": "2026-01-05", "paid": true},
  {"order_id": 2, "customer": "Ben", "city": "Basel", "amount": 20.0, "quantity": 1, "day": "2026-01-09", "paid": false},
  {"order_id": 3, "customer": "Ada", "city": "Bern", "amount": 42.25, "quantity": 5, "day": "2026-02-11", "paid": true},
  {"order_id": 4, "customer": "Cy", "city": null, "amount": 0.0, "quantity": 0, "day": "2026-03-30", "paid": true},
  {"order_id": 5, "customer": "Dée O'Neil", "city": "Zug", "amount": 310.0, "quantity": 7, "day": "2026-03-31", "paid": false}
]"#;

/// Expressions over one order. Each is asked for, filtered by, grouped by and sorted by.
const EXPRESSIONS: &[&str] = &[
    "amount",
    "amount * quantity",
    "amount / nullif(quantity, 0)",
    "- amount",
    "- -quantity",
    "quantity - -1",
    "amount + 1e3",
    "abs(amount - 100)",
    "round(amount::numeric, 1)",
    "coalesce(city, 'nowhere')",
    "upper(customer) || ' (' || lower(coalesce(city, '')) || ')'",
    "length(customer)",
    "substring(customer from 1 for 2)",
    "substring(customer, 2)",
    "trim(both ' ' from customer)",
    "position('a' in customer)",
    "overlay(customer placing 'xx' from 1 for 1)",
    "replace(customer, 'A', 'Ä')",
    "left(customer, 1)",
    "lpad(customer, 5, '*')",
    "split_part(customer, ' ', 1)",
    "CASE WHEN amount > 50 THEN 'large' WHEN amount > 0 THEN 'small' ELSE 'none' END",
    "CASE customer WHEN 'Ada' THEN 1 ELSE 2 END",
    "CAST(amount AS integer)",
    "CAST(order_id AS text) || '!'",
    "day::date",
    "day::date + 1",
    "day::date + interval '1 day'",
    "extract(month from day::date)",
    "date_trunc('month', day::timestamp)",
    "to_char(day::date, 'YYYY-MM')",
    "date_part('dow', day::date)",
    "day::date - DATE '2026-01-01'",
    "age(DATE '2026-06-01', day::date)",
    "paid AND amount > 10",
    "NOT paid",
    "paid IS TRUE",
    "city IS NULL",
    "city IS DISTINCT FROM 'Bern'",
    "amount BETWEEN 10 AND 50",
    "customer IN ('Ada', 'Cy')",
    "customer LIKE 'A%'",
    "customer NOT LIKE '%a'",
    "customer ILIKE 'ada'",
    "customer ~ '^[AB]'",
    "quantity % 2 = 0",
    "greatest(amount, 50)",
    "ARRAY[quantity, 1]",
    "(ARRAY[quantity, 1])[1]",
    "quantity = ANY (ARRAY[1, 2])",
    "jsonb_build_object('a', quantity, 'b', city)",
    "jsonb_build_object('a', quantity) ->> 'a'",
    "('[1, 2]'::jsonb -> 0)::text",
    "make_date(2026, 1, quantity::int + 1)",
    "md5(customer)",
    "sign(amount - 50)",
    "power(quantity, 2)",
    "(SELECT count(*) FROM orders AS inside WHERE inside.city = orders.city)",
    "EXISTS (SELECT 1 FROM orders AS inside WHERE inside.amount > orders.amount)",
];

/// Aggregates, each over all orders, over groups, and as a window.
const AGGREGATES: &[&str] = &[
    "count(*)",
    "count(city)",
    "count(DISTINCT customer)",
    "sum(amount)",
    "avg(quantity)",
    "min(day)",
    "max(amount)",
    "string_agg(customer, ', ' ORDER BY order_id)",
    "array_agg(order_id ORDER BY order_id DESC)",
    "bool_or(paid)",
    "count(*) FILTER (WHERE paid)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)",
    "json_agg(quantity ORDER BY order_id)",
];

const WINDOWS: &[&str] = &[
    "row_number() OVER (ORDER BY order_id)",
    "rank() OVER (PARTITION BY city ORDER BY amount DESC)",
    "sum(amount) OVER (ORDER BY order_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "avg(amount) OVER (ORDER BY order_id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "lag(amount) OVER (ORDER BY order_id)",
    "lead(amount, 1, 0) OVER (PARTITION BY customer ORDER BY order_id)",
    "first_value(customer) OVER (PARTITION BY city ORDER BY order_id)",
    "ntile(2) OVER (ORDER BY amount)",
    "sum(sum(amount)) OVER ()",
    "dense_rank() OVER w",
];

/// Whole statements.
const WHOLE: &[&str] = &[
    "SELECT * FROM orders ORDER BY order_id",
    "SELECT o.* FROM orders o ORDER BY 1 LIMIT 2 OFFSET 1",
    "SELECT DISTINCT city FROM orders ORDER BY city NULLS FIRST",
    "SELECT DISTINCT ON (customer) customer, amount FROM orders ORDER BY customer, amount DESC",
    "WITH totals(who, total) AS (SELECT customer, sum(amount) FROM orders GROUP BY customer) SELECT who, total FROM totals ORDER BY total DESC",
    "WITH a AS (SELECT * FROM orders WHERE paid), b AS (SELECT customer, count(*) AS n FROM a GROUP BY 1) SELECT b.customer, b.n FROM b ORDER BY 1",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) AS s FROM n",
    "WITH RECURSIVE days AS (SELECT DATE '2026-01-01' AS d UNION ALL SELECT (d + 7)::date FROM days WHERE d < DATE '2026-02-01') SELECT d FROM days ORDER BY d",
    "WITH m AS MATERIALIZED (SELECT max(amount) AS top FROM orders) SELECT o.customer FROM orders o JOIN m ON o.amount = m.top",
    "SELECT customer FROM orders UNION SELECT city FROM orders ORDER BY 1",
    "SELECT customer FROM orders UNION ALL SELECT 'Zoe' ORDER BY 1",
    "SELECT order_id FROM orders EXCEPT SELECT 1 ORDER BY 1",
    "SELECT order_id FROM orders INTERSECT SELECT 2 ORDER BY 1",
    "(SELECT order_id FROM orders ORDER BY amount LIMIT 1) UNION (SELECT order_id FROM orders ORDER BY amount DESC LIMIT 1) ORDER BY 1",
    "SELECT a.order_id, b.order_id AS other FROM orders a CROSS JOIN orders b ORDER BY 1, 2 LIMIT 7",
    "SELECT a.order_id, b.amount FROM orders a LEFT JOIN orders b ON b.order_id = a.order_id + 1 ORDER BY 1",
    "SELECT count(*) AS n FROM orders a JOIN orders b USING (customer)",
    "SELECT a.order_id FROM orders a FULL OUTER JOIN orders b ON a.order_id = b.order_id ORDER BY 1",
    "SELECT o.customer, x.top FROM orders o, LATERAL (SELECT max(i.amount) AS top FROM orders i WHERE i.customer = o.customer) AS x ORDER BY o.order_id",
    "SELECT s.n FROM generate_series(1, 4) AS s(n) ORDER BY s.n DESC",
    "SELECT n FROM generate_series(1, 3) AS n ORDER BY n",
    "SELECT e.value FROM jsonb_array_elements_text('[\"a\", \"b\"]'::jsonb) WITH ORDINALITY AS e(value, place) ORDER BY e.place",
    "SELECT u.v FROM unnest(ARRAY[3, 1, 2]) AS u(v) ORDER BY u.v",
    "SELECT j.key, j.value FROM jsonb_each_text('{\"a\": 1, \"b\": 2}'::jsonb) AS j ORDER BY j.key",
    "SELECT city, count(*) AS n FROM orders GROUP BY ROLLUP (city) ORDER BY city NULLS LAST",
    "SELECT city, paid, count(*) AS n FROM orders GROUP BY GROUPING SETS ((city), (paid), ()) ORDER BY 1, 2, 3",
    "SELECT city, paid, sum(amount) AS s FROM orders GROUP BY CUBE (city, paid) ORDER BY 1, 2, 3",
    "SELECT city, sum(amount) AS s FROM orders GROUP BY city HAVING sum(amount) > 20 ORDER BY s DESC",
    "SELECT customer, amount FROM orders WHERE (customer, amount) IN (SELECT customer, max(amount) FROM orders GROUP BY customer) ORDER BY 1",
    "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, t) ORDER BY n",
    "VALUES (1, 2), (3, 4)",
    "SELECT 1 AS one, 'it''s' AS t, NULL AS nothing, TRUE AS yes, 1.50 AS d",
    "SELECT order_id FROM orders FETCH FIRST 2 ROWS ONLY",
    "SELECT \"order_id\", orders.\"customer\" FROM orders WHERE \"city\" = 'Bern' ORDER BY 1",
    "SELECT count(*) AS n FROM orders WHERE day >= '2026-02-01' AND day < '2026-04-01'",
    "SELECT sum(CASE WHEN paid THEN amount ELSE 0 END) AS got, sum(CASE WHEN NOT paid THEN amount END) AS due FROM orders",
    "SELECT TIMESTAMP '2026-01-01 10:00' AT TIME ZONE 'UTC' AS t",
    "SELECT avg(amount)::numeric(10, 2) AS mean FROM orders",
];

fn statements() -> Vec<String> {
    let mut all: Vec<String> = WHOLE.iter().map(|sql| (*sql).to_owned()).collect();
    for expression in EXPRESSIONS {
        all.push(format!("SELECT order_id, {expression} AS x FROM orders ORDER BY order_id"));
        all.push(format!("SELECT count(*) AS n FROM orders WHERE ({expression}) IS NOT NULL"));
        all.push(format!("SELECT order_id FROM orders ORDER BY md5(({expression})::text), order_id"));
        all.push(format!("WITH t AS (SELECT order_id, {expression} AS x FROM orders) SELECT t.x, t.order_id FROM t WHERE t.order_id > 1 ORDER BY 2"));
    }
    for aggregate in AGGREGATES {
        all.push(format!("SELECT {aggregate} AS x FROM orders"));
        all.push(format!(
            "SELECT customer, {aggregate} AS x FROM orders GROUP BY customer ORDER BY customer"
        ));
    }
    for window in WINDOWS {
        let over = if window.ends_with(" w") { " WINDOW w AS (ORDER BY city)" } else { "" };
        let group = if window.contains("sum(sum") { " GROUP BY customer" } else { "" };
        let what = if group.is_empty() { "order_id" } else { "customer" };
        all.push(format!("SELECT {what}, {window} AS x FROM orders{group}{over} ORDER BY 1"));
    }
    all
}

/// The rows as PostgreSQL gives them for the statement as it is written.
fn raw(url: &str, sql: &str) -> String {
    let visible = "order_id, customer, city, amount, quantity, day, paid";
    let mut wrapped = String::new();
    let _ = write!(
        wrapped,
        "SET search_path = pg_catalog; SET TIME ZONE 'UTC'; SET IntervalStyle = 'iso_8601'; WITH orders AS NOT MATERIALIZED (SELECT doc_id, {visible} FROM public.orders) \
         SELECT coalesce(json_agg(r), '[]') FROM ({sql}\n) AS r"
    );
    Server::shared().psql(url, &wrapped)
}

async fn shop(world: &World) -> Store {
    world.with_table("orders", "order_id", ORDERS).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ordinary_statements_give_the_same_rows_raw_and_rendered() {
    let world = World::postgres();
    let store = shop(&world).await;
    let statements = statements();
    assert!(statements.len() >= STATEMENTS, "{}", statements.len());
    let url = world.url.as_ref().unwrap();
    let mut transaction = begin(&store, Intent::Read).await;
    let mut different = Vec::new();
    for sql in &statements {
        let judged = transaction.call("query", json!({"sql": sql, "params": null})).await;
        let printed = raw(url, sql);
        let raw: Option<Value> = serde_json::from_str(&printed).ok();
        match (judged, raw) {
            (Ok(reply), Some(raw)) if same(&reply["rows"], &raw) => {}
            (judged, raw) => {
                different.push(format!("{sql}\n  judged {judged:?}\n  raw {raw:?} {printed:.300}"));
            }
        }
    }
    assert!(different.is_empty(), "{} of {}:\n{}", different.len(), statements.len(), different.join("\n"));
}

/// Numbers are compared by value: the store gives whole reals their point back.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|right| same(value, right)))
        }
        _ => left == right,
    }
}

/// Ways to call a function without a parenthesis behind its name, and other reaches past the tables.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attribute_notation_and_catalogs_are_refused() {
    let world = World::postgres();
    let store = shop(&world).await;
    let mut transaction = begin(&store, Intent::Read).await;
    for sql in [
        "SELECT (('select to_tsvector(''simple'', secret_sha256) from ordain.keys'::text).ts_stat).word AS w",
        "SELECT ('server_version'::text).current_setting AS s",
        "SELECT x.current_setting AS s FROM unnest(ARRAY['server_version']) AS x",
        "SELECT x.ts_stat AS s FROM unnest(ARRAY['select 1']) AS x",
        "SELECT x.ts_stat, y.ts_stat FROM unnest(ARRAY['select 1']) AS x, (SELECT 1 AS ts_stat) AS y",
        "SELECT string_to_array.ts_stat FROM regexp_split_to_table('select 1', ',') AS string_to_array",
        "SELECT (x).pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x",
        "SELECT (SELECT 'server_version'::text).current_setting",
        "SELECT (ARRAY['server_version'])[1].current_setting AS s",
        "SELECT CASE WHEN true THEN (customer).current_setting END FROM orders",
        "SELECT orders.pg_typeof FROM orders",
        "SELECT * FROM orders o, LATERAL (SELECT ((o.customer).current_setting)) AS x(y)",
        "SELECT ('orders'::regclass)::text",
        "SELECT 'orders'::pg_catalog.text",
        "SELECT CAST('public.orders' AS regclass)",
        "SELECT regclass 'orders'",
        "SELECT to_regclass('orders')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_catalog.pg_sleep(1)",
        "SELECT public.f(1)",
        "SELECT \"now\"()",
        "SELECT current_user",
        "SELECT user",
        "SELECT current_schema",
        "SELECT current_catalog",
        "SELECT current_setting('x')",
        "SELECT 1 OPERATOR(pg_catalog.+) 1",
        "SELECT * FROM ordain.keys",
        "SELECT * FROM pg_roles",
        "SELECT * FROM information_schema.columns",
        "SELECT * FROM public.orders",
        "WITH pg_class AS (SELECT 1) SELECT * FROM pg_class",
        "SELECT * FROM (WITH hidden AS (SELECT 1) SELECT * FROM hidden) AS x, unlisted",
        "SELECT * FROM ts_stat('select 1')",
        "SELECT * FROM dblink('x', 'y') AS t(a int)",
        "SELECT * FROM json_to_record('{}') AS t(a regclass)",
        "SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b text)",
        "SELECT * FROM orders TABLESAMPLE SYSTEM (10)",
        "TABLE orders",
        "SELECT xmlelement(name a)",
        "SELECT 'a' COLLATE \"en_US\"",
        "SELECT lo_get(1)",
        "SELECT public.orders.customer FROM orders",
        "SELECT * FROM orders FOR SHARE",
        "SELECT nextval('x')",
        "EXPLAIN SELECT 1",
        "SHOW server_version",
        "SET search_path = public",
        "DO 'x'",
        "COPY orders TO STDOUT",
        "SELECT * INTO x FROM orders",
        "WITH x AS (UPDATE orders SET amount = 1 RETURNING *) SELECT * FROM x",
    ] {
        let result = transaction.call("query", json!({"sql": sql, "params": null})).await;
        match result {
            Err(ordain_store::StoreError::Query { .. }) => {}
            other => panic!("{sql}: {other:?}"),
        }
    }
}
