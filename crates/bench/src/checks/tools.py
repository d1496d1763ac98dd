"""The same checks by another tool, from the file to the verdicts: what whole runs are measured against.

Usage: python3 tools.py TOOL FILE, with the checks as a JSON list of {"kind", "params"} on standard input.
Prints the verdicts in their order, `true` where a check passes.
"""

import json
import sys


def expectations(path, checks):
    """Great Expectations on a pandas frame."""
    import great_expectations as gx
    import great_expectations.expectations as gxe
    import pandas

    def expectation(kind, given):
        column = given.get("column") or given.get("columns", [None])[0]
        low, high = given.get("min"), given.get("max")
        match kind:
            case "not_null":
                return gxe.ExpectColumnValuesToNotBeNull(column=column)
            case "unique":
                return gxe.ExpectColumnValuesToBeUnique(column=column)
            case "range":
                return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=low, max_value=high)
            case "in_set":
                return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=given["values"])
            case "length":
                return gxe.ExpectColumnValueLengthsToBeBetween(column=column, min_value=low, max_value=high)
            case "regex":
                return gxe.ExpectColumnValuesToMatchRegex(column=column, regex=given["pattern"])
            case "two_columns":
                return gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A=given["left"], column_B=given["right"], or_equal=True)
            case "row_count":
                return gxe.ExpectTableRowCountToBeBetween(min_value=low, max_value=high)
            case "monotonic":
                return gxe.ExpectColumnValuesToBeIncreasing(column=column)
        figures = {
            "mean": gxe.ExpectColumnMeanToBeBetween,
            "max": gxe.ExpectColumnMaxToBeBetween,
            "distinct_count": gxe.ExpectColumnUniqueValueCountToBeBetween,
        }
        return figures[given["function"]](column=column, min_value=low, max_value=high)

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("files").add_dataframe_asset("orders")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": pandas.read_csv(path)})
    asked = [expectation(check["kind"], check["params"]) for check in checks]
    for number, one in enumerate(asked):
        one.meta = {"number": number}
    results = batch.validate(gx.ExpectationSuite(name="orders", expectations=asked), result_format="BASIC").results
    raised = [result.exception_info for result in results if result.exception_info and result.exception_info.get("raised_exception")]
    assert not raised, raised
    verdicts = {result.expectation_config.meta["number"]: result.success for result in results}
    return [verdicts[number] for number in range(len(checks))]


def pandera(path, checks):
    """pandera on a pandas frame, all failures gathered."""
    import pandas
    import pandera.pandas as pa

    columns, of_table, told = {}, [], {}

    def between(figure, given):
        low, high = given.get("min"), given.get("max")
        return (low is None or low <= figure) and (high is None or figure <= high)

    def column(name):
        return columns.setdefault(name, {"checks": [], "nullable": True, "unique": False})

    for number, check in enumerate(checks):
        kind, given, name = check["kind"], check["params"], f"C{number}"
        low, high = given.get("min"), given.get("max")
        by_value = {
            "range": lambda: pa.Check.in_range(low, high, name=name),
            "in_set": lambda: pa.Check.isin(given["values"], name=name),
            "length": lambda: pa.Check.str_length(low, high, name=name),
            "regex": lambda: pa.Check.str_matches(given["pattern"], name=name),
            "monotonic": lambda: pa.Check(lambda values: values.is_monotonic_increasing, name=name),
        }
        told[number] = name
        if kind == "not_null":
            column(given["columns"][0])["nullable"] = False
            told[number] = (given["columns"][0], "not_nullable")
        elif kind == "unique":
            column(given["columns"][0])["unique"] = True
            told[number] = (given["columns"][0], "field_uniqueness")
        elif kind in by_value:
            column(given["column"])["checks"].append(by_value[kind]())
        elif kind == "two_columns":
            of_table.append(pa.Check(lambda rows, given=given: rows[given["left"]] >= rows[given["right"]], name=name))
        elif kind == "row_count":
            of_table.append(pa.Check(lambda rows, given=given: between(len(rows), given), name=name))
        else:
            figure = {"mean": "mean", "max": "max", "distinct_count": "nunique"}[given["function"]]
            column(given["column"])["checks"].append(
                pa.Check(lambda values, given=given, figure=figure: between(getattr(values, figure)(), given), name=name)
            )
    schema = pa.DataFrameSchema({name: pa.Column(**one) for name, one in columns.items()}, checks=of_table)
    failed = set()
    try:
        schema.validate(pandas.read_csv(path), lazy=True)
    except pa.errors.SchemaErrors as errors:
        for error in errors.schema_errors:
            named = error.check.name if isinstance(error.check, pa.Check) else error.check
            failed |= {named, (getattr(error.schema, "name", None), named)}
    return [told[number] not in failed for number in range(len(checks))]


def duckdb(path, checks):
    """DuckDB alone, with the memory of a cell and a folder on disk. The table is kept beside the file, and read once."""
    import pathlib

    import duckdb

    kept = pathlib.Path(f"{path}.duckdb")
    is_kept = kept.exists()
    config = {"memory_limit": "512MiB", "temp_directory": f"{path}.scratch", "preserve_insertion_order": "true"}
    connection = duckdb.connect(str(kept), config=config)
    # It would print how far it is among the verdicts.
    connection.execute("SET enable_progress_bar = false")
    if not is_kept:
        connection.execute("CREATE TABLE orders AS SELECT * FROM read_csv($path)", {"path": str(path)})

    def failing(kind, given):
        column, columns = given.get("column"), ", ".join(given.get("columns", []))
        low, high = given.get("min"), given.get("max")
        match kind:
            case "not_null":
                return f"SELECT count(*) FROM orders WHERE {columns} IS NULL"
            case "range":
                return f"SELECT count(*) FROM orders WHERE {column} NOT BETWEEN {low} AND {high}"
            case "in_set":
                return f"SELECT count(*) FROM orders WHERE {column} NOT IN ({', '.join(map(repr, given['values']))})"
            case "two_columns":
                return f"SELECT count(*) FROM orders WHERE NOT {given['left']} >= {given['right']}"
            case "unique":
                return f"SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY {columns} HAVING count(*) > 1)"
            case "aggregate":
                return f"SELECT CASE WHEN count(DISTINCT {column}) BETWEEN {low} AND {high} THEN 0 ELSE 1 END FROM orders"
        # Rows that are alike in what orders them stay in the file's order.
        order = ", ".join([*([given["order_by"]] if "order_by" in given else []), "rowid"])
        return f"SELECT count(*) FROM (SELECT {column} < lag({column}) OVER (ORDER BY {order}) AS falls FROM orders) WHERE falls"

    return [connection.execute(failing(check["kind"], check["params"])).fetchone()[0] == 0 for check in checks]


tool, path = sys.argv[1:]
print(json.dumps({"gx": expectations, "pandera": pandera, "duckdb": duckdb}[tool](path, json.load(sys.stdin))))
