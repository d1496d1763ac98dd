# --- the cell's own database over mapped tables ----------------------------------------------------------------------

# Failing rows of a large table that are picked out.
FAILING_ROWS_MAX = 100_000
# Rows that a query may give.
QUERY_ROWS_MAX = 1_000_000
# What DuckDB may use of a cell's memory: it counts only what it keeps, and takes more while it works.
MEMORY_SHARE = 0.4
# A folder on disk for rows that do not fit into memory, in cells that have one. The supervisor watches how much lies there.
SCRATCH = "/scratch"
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
        _database.execute("SET enable_external_access = false")
        _database.execute("SET lock_configuration = true")
        _database.execute("CREATE SCHEMA ordain_rows")
    for name, path in files.items():
        if _shown.get(name) != path:
            show(_database, name, path)
            _shown[name] = path
    return _database


def show(connection, name, path):
    """Shows a mapped table under its name, and in the schema `ordain_rows` with the places of its rows."""
    import pyarrow

    table = pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()
    arrays, columns = [], []
    for column, field in zip(table.columns, table.schema):
        shown = quoted(field.name)
        if pyarrow.types.is_timestamp(field.type):
            # Gaps among points in time lie there as a number.
            column = pyarrow.chunked_array([part.view(pyarrow.int64()) for part in column.chunks], pyarrow.int64())
            shown = f"make_timestamp(nullif({shown}, {NO_TIME})) AS {shown}"
        elif pyarrow.types.is_floating(field.type):
            shown = f"CASE WHEN isnan({shown}) THEN NULL ELSE {shown} END AS {shown}"
        arrays.append(column)
        columns.append(shown)
    connection.register(f"ordain_mapped {name}", pyarrow.table(arrays, names=table.column_names))
    rows = f"SELECT {', '.join(columns)} FROM {quoted(f'ordain_mapped {name}')}"
    connection.execute(f"CREATE OR REPLACE VIEW {quoted(name)} AS {rows}")
    # One thread reads the rows in their order.
    connection.execute(f"CREATE OR REPLACE VIEW ordain_rows.{quoted(name)} AS SELECT *, row_number() OVER () - 1 AS ordain_row FROM ({rows})")


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
    """The functions `frame.judged` and `frame.figures`, by which built-in kinds look at tables that are too large for pandas,
    and `sql`."""

    def opened(name, columns):
        """The database, how many rows a table has, and those whose value in one of the columns cannot be read."""
        connection = database(files, memory_bytes)
        mapped = from_file(files[name])
        places = sorted({place for column in columns for place in mapped.attrs["misfits"].get(column, ())})
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
