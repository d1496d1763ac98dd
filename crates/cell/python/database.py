# --- the cell's own database over mapped tables ----------------------------------------------------------------------

# Failing rows of a large table that are picked out.
FAILING_ROWS_MAX = 100_000
# Rows that a query may give.
QUERY_ROWS_MAX = 1_000_000
# What DuckDB may use of a cell's memory: it counts only what it keeps, and takes more while it works.
MEMORY_SHARE = 0.4
# A folder on disk for rows that do not fit into memory, in cells that have one. The supervisor watches how much lies there.
SCRATCH = "/scratch"
# Names in a statement: in double quotes, as a text, or plain.
WORDS = re.compile(r'"((?:[^"]|"")*)"|\'((?:[^\']|\'\')*)\'|(\w+)')
# How a point in time that is not there lies in a mapped file.
NO_TIME = -(1 << 63)

_database = None
_shown = {}


def database(files, memory_bytes):
    """DuckDB over the mapped tables. It opens no file but its own in the folder on disk, or else below the work folder, loads
    no extension, and does not see the program's variables."""
    global _database
    if _database is None:
        import duckdb

        _database = duckdb.connect(":memory:", config={
            "threads": "1",
            "memory_limit": f"{max(int(memory_bytes * MEMORY_SHARE), 32 << 20)}B",
            "temp_directory": SCRATCH if has_scratch() else "/work/tmp",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        })
        _database.execute("SET TimeZone = 'UTC'")
        _database.execute("SET enable_progress_bar = false")
        _database.execute("SET enable_external_access = false")
        _database.execute("SET lock_configuration = true")
        _database.execute("CREATE SCHEMA ordain_rows")
    for name, path in files.items():
        if _shown.get(name) != path:
            show_mapped(_database, name, path)
            _shown[name] = path
    return _database


def show_mapped(connection, name, path):
    """Shows a mapped table under its name, and in the schema `ordain_rows` with the places of its rows."""
    rows = show(connection, quoted(name), mapped_table(path))
    # One thread reads the rows in their order.
    connection.execute(f"CREATE OR REPLACE VIEW ordain_rows.{quoted(name)} AS SELECT *, row_number() OVER () - 1 AS ordain_row FROM ({rows})")


def show(connection, view, table):
    """Shows an Arrow table as a view, and gives the statement behind it."""
    import pyarrow

    arrays, columns = [], []
    for column, field in zip(table.columns, table.schema):
        shown = quoted(field.name)
        if pyarrow.types.is_timestamp(field.type):
            # Gaps among points in time lie there as a number.
            column = column.cast(pyarrow.timestamp("us", field.type.tz), safe=False)
            column = pyarrow.chunked_array([part.view(pyarrow.int64()) for part in column.chunks], pyarrow.int64())
            shown = f"make_timestamp(nullif({shown}, {NO_TIME})) AS {shown}"
        elif pyarrow.types.is_floating(field.type):
            shown = f"CASE WHEN isnan({shown}) THEN NULL ELSE {shown} END AS {shown}"
        arrays.append(column)
        columns.append(shown)
    connection.register(f"ordain_mapped {view}", pyarrow.table(arrays, names=table.column_names))
    rows = f"SELECT {', '.join(columns)} FROM {quoted(f'ordain_mapped {view}')}"
    connection.execute(f"CREATE OR REPLACE VIEW {view} AS {rows}")
    return rows


def has_scratch():
    return os.path.isdir(SCRATCH)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def in_parts(connection, found, rows):
    """Runs a statement for each part of a table's rows, if it compares rows with each other and has no folder on disk."""
    parts = 1 if has_scratch() else rows // PART_ROWS + 1
    for part in range(parts if "$parts" in found else 1):
        given = {"parts": parts, "part": part} if "$parts" in found else None
        yield from connection.execute(found, given).fetchall()


def counter(files, memory_bytes):
    """The functions `frame.judged` and `frame.figures`, by which built-in kinds look at tables that are too large for pandas."""

    def opened(name, columns):
        """The database, how many rows a table has, and those whose value in one of the columns cannot be read."""
        connection = database(files, memory_bytes)
        mapped = from_file(files[name])
        places = sorted({place for column in columns for place in mapped.attrs.get("misfits", {}).get(column, ())})
        return connection, mapped, places

    def unread_among(connection, rows, places):
        if not places:
            return []
        import pyarrow

        connection.register("ordain_unread", pyarrow.table({"place": places}))
        found = connection.execute(f"SELECT ordain_row FROM ({rows}) WHERE ordain_row IN (SELECT place FROM ordain_unread)")
        return sorted(place for place, in found.fetchall())

    def judged(name, found, rows, columns, unread):
        """Counts the rows that `found` marks as judged and as failing, and picks failing ones. Rows whose value cannot be read
        are judged, and `unread` says whether they fail."""
        connection, mapped, places = opened(name, columns)
        among = unread_among(connection, rows, places)
        others = "WHERE ordain_row NOT IN (SELECT place FROM ordain_unread)" if places else ""
        failing = among if unread == "fail" else []
        evaluated, failed, picked = len(among), len(failing), list(failing)
        marks = (
            "SELECT count(*) FILTER (WHERE judged), count(*) FILTER (WHERE failing), "
            f"min(ordain_row, {FAILING_ROWS_MAX}) FILTER (WHERE failing) FROM ({found}) {others}"
        )
        for some_judged, some_failing, first in in_parts(connection, marks, len(mapped)):
            evaluated, failed = evaluated + some_judged, failed + some_failing
            picked = sorted([*picked, *(first or ())])[:FAILING_ROWS_MAX]
        return {"evaluated": evaluated, "failed": failed, "rows": mapped.iloc[picked], "unread": len(failing)}

    def figures(name, found, rows, columns):
        """The figures that `found` gives of a table, and how many of its rows have a value that cannot be read."""
        connection, mapped, places = opened(name, columns)
        parts = list(in_parts(connection, found, len(mapped)))
        names = [column[0] for column in connection.description]
        counted = dict(zip(names, (sum(numbers) for numbers in zip(*parts))))
        return counted | {"unread": len(unread_among(connection, rows, places))}

    return judged, figures


# --- statements of plans ---------------------------------------------------------------------------------------------


class StatementError(ValueError):
    """A statement that `sql` was given cannot be run."""


def querier(files, tables, readings, frame, memory_bytes):
    """The function `sql`, over the tables that `frame` knows: those of mounted files, of the store, and of files that were
    looked into."""
    fixed = {}

    def sql(statement, params=None):
        """The rows that one SELECT in DuckDB's SQL gives, as a pandas DataFrame. Tables are called as in `frame`, in double
        quotes where the name is no plain word; `$name` stands for a value of `params`."""
        if not isinstance(statement, str):
            raise StatementError("sql: the statement has to be a text")
        with explained() as connection:
            check_kind(connection, statement)
            views = {}
            try:
                for name in named_in(statement):
                    show_table(connection, name, views)
                return rows_of(connection.sql(statement, params=params))
            finally:
                for view in views:
                    connection.execute(f"DROP VIEW IF EXISTS {view}")

    def names():
        """Tables by name, and those of a file by both names."""
        inner = {(name, one["name"]) for name, facts in readings.items() for one in tables_in(facts) if one.get("name")}
        return inner | {(name,) for name in (*files, *tables, *filter(is_single, readings))}

    def is_single(name):
        with contextlib.suppress(KeyError):
            return bool(table_of(readings, name, None))

    def there():
        return "the tables are: " + ", ".join(".".join(map(quoted, name)) for name in sorted(names()))

    def named_in(statement):
        """The tables whose names stand in a statement, wherever that is: DuckDB decides what each word of it means."""
        words = {(double or single or plain).lower() for double, single, plain in WORDS.findall(statement)}
        return sorted(name for name in names() if words.issuperset(map(str.lower, name)))

    def show_table(connection, name, views):
        """Shows a mounted table, or another one for this statement alone."""
        if name[0] in files and name[0] not in readings:
            database({name[0]: files[name[0]]}, memory_bytes)
            return
        view = ".".join(map(quoted, name))
        if view.lower() in map(str.lower, views):
            raise StatementError(f"sql: {view} may be one of several tables, which differ in capitals alone; use frame()")
        if len(name) == 2:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(name[0])}")
        show(connection, view, fixed.get(name) or loaded(name))
        views[view] = name

    def loaded(name):
        import pyarrow

        try:
            table = pyarrow.Table.from_pandas(frame(*name), preserve_index=False)
        except pyarrow.ArrowException as error:
            raise StatementError(f"sql: {name[-1]} cannot be read by SQL: {error.args[0]}; use frame()") from None
        # Tables of the store may change from one statement to the next.
        if name[0] in readings:
            fixed[name] = table
        return table

    @contextlib.contextmanager
    def explained():
        try:
            import duckdb
        except ImportError:
            raise StatementError("sql: this profile has no DuckDB; run the code in the profile `data`, or use frame()") from None
        try:
            yield database({}, memory_bytes)
        except duckdb.PermissionException:
            raise StatementError(f"sql: a statement opens no files; {there()}") from None
        except duckdb.CatalogException as error:
            raise StatementError(f"sql: {error.args[0].splitlines()[0]} In this program {there()}") from None
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise StatementError(f"sql: {error}") from None

    return sql


def check_kind(connection, statement):
    """Lets a single SELECT through."""
    kinds = [one.type.name for one in connection.extract_statements(statement)]
    if kinds != ["SELECT"]:
        given = f"{len(kinds)} statements" if len(kinds) != 1 else f"a statement of the kind {kinds[0]}"
        raise StatementError(f"sql: one SELECT is expected, not {given}; plans read with sql() and change nothing")


def rows_of(relation):
    """What a statement gives, with the types that pandas would have."""
    import pyarrow

    batches, rows = [], 0
    with relation.to_arrow_reader(100_000) as reader:
        names = reader.schema.names
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if twice:
            raise StatementError(f"sql: several columns of the result are called {twice[0]}; name them with AS")
        for batch in reader:
            rows += batch.num_rows
            if rows > QUERY_ROWS_MAX:
                raise StatementError(f"sql: the statement gives more than {QUERY_ROWS_MAX:,} rows; group or count them, or add LIMIT")
            batches.append(batch)
        schema = reader.schema
    table = pyarrow.Table.from_batches(batches, schema)
    # Columns that lie in Arrow's memory cannot be written to.
    return as_pandas(pyarrow.table([pandas_like(column) for column in table.columns], names=table.column_names)).copy()


def pandas_like(column):
    """A column of DuckDB in the type that a frame has for such values: one width of numbers, days as points in time."""
    import pyarrow

    kind, types = column.type, pyarrow.types
    if types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if types.is_date(kind):
        return column.cast(pyarrow.timestamp("us"))
    if types.is_floating(kind) or types.is_decimal(kind) and kind.scale:
        return column.cast(pyarrow.float64())
    if types.is_integer(kind) and kind != pyarrow.uint64() or types.is_decimal(kind):
        return whole(column)
    if types.is_interval(kind):
        return pyarrow.chunked_array([[None if one is None else interval(one) for one in column.to_pylist()]], pyarrow.duration("us"))
    return column


def whole(column):
    import pyarrow

    try:
        return column.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        raise StatementError("sql: a whole number of the result is too large; cast it to DOUBLE") from None


def interval(value):
    if value.months:
        raise StatementError("sql: the result has an interval of months, which has no fixed length; give the two dates, or a number")
    return datetime.timedelta(days=value.days, microseconds=value.nanoseconds // 1000)
