# --- columns and arrays on disk --------------------------------------------------------------------------------------


def arrow_facts(table_of, rows, schema, columns_total):
    """Facts of an Arrow table from its schema and a first piece."""
    names = schema.names[:COLUMNS_MAX]
    try:
        piece = table_of(names)
        columns = [piece.column(at).to_pylist() for at in range(len(names))]
    except Exception as error:
        raise Problem(f"its rows cannot be read: {short(error, 120)}")
    facts = table_facts(None, list(schema.names), rows, columns, columns_total=columns_total, table={"exact": True})
    for column in facts["columns"]:
        column["stored_as"] = short(schema.field(column["name"]).type) if column["name"] in schema.names else None
        column |= ordain_reading.as_stored(column, column["stored_as"])
    return facts


def parquet_facts(path):
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
        metadata = file.metadata
        schema = file.schema_arrow
    except Exception as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")

    def first(names):
        if not metadata.num_rows:
            return schema.empty_table().select(names)
        import pyarrow

        size = max(1, CELLS_MAX // max(1, len(names)))
        batch = next(file.iter_batches(batch_size=size, columns=names))
        return pyarrow.Table.from_batches([batch]).select(names)

    facts = {"row_groups": metadata.num_row_groups, "written_by": short(metadata.created_by or "")}
    facts["tables"] = [arrow_facts(first, metadata.num_rows, schema, len(schema.names))]
    return facts


def feather_facts(path):
    import pyarrow
    import pyarrow.ipc as ipc

    start = head_of(path, 6)
    try:
        # As a buffer: of a file Arrow reads the end in a thread of its own, which the limits may not allow.
        source = pyarrow.BufferReader(pyarrow.memory_map(str(path)).read_buffer())
        if start[:4] == b"FEA1":
            import pyarrow.feather as feather

            table = feather.read_table(path)
        elif start[:6] == b"ARROW1":
            table = ipc.open_file(source).read_all()
        else:
            table = ipc.open_stream(source).read_all()
    except Exception as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    return {"tables": [arrow_facts(table.select, table.num_rows, table.schema, table.num_columns)]}


def npy_facts(path):
    import numpy

    try:
        array = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if ("pickle" in str(error).lower() or "Python objects" in str(error)) and head_of(path, 6) == b"\x93NUMPY":
            raise Problem("it holds pickled Python objects, which are never loaded", "save plain arrays")
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    except Exception as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    return {"arrays": [array_facts("", array)]}


def array_facts(name, array):
    facts = {"name": name, "shape": list(array.shape), "type": str(array.dtype)}
    if array.size and array.dtype.kind in "iufb":
        flat = array.reshape(-1)[:1_000_000]
        facts |= {"min": sample(flat.min()), "max": sample(flat.max()), "mean": sample(round(float(flat.mean()), 6))}
    return facts


def npz_facts(path):
    import numpy

    refuse_bomb(path)
    arrays = []
    with numpy.load(path, allow_pickle=False) as file:
        for name in file.files[:MEMBERS_MAX]:
            try:
                arrays.append(array_facts(name, file[name]))
            except ValueError:
                arrays.append({"name": name, "note": "pickled Python objects, which are never loaded"})
    return {"arrays": arrays, "arrays_total": len(file.files)}


def hdf5_facts(path):
    if not has_hdf5_signature(path):
        raise Problem("it is damaged, or not what its name says: it has no HDF5 signature")
    import h5py

    arrays, groups = [], []

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            facts = {"name": name, "shape": list(item.shape or ()), "type": str(item.dtype)}
            facts |= attributes_facts(item.attrs)
            if item.dtype.names:
                facts["columns"] = [short(column) for column in item.dtype.names[:COLUMNS_MAX]]
            arrays.append(facts)
        else:
            groups.append(short(name))
        return len(arrays) >= 200 or None

    try:
        with h5py.File(path, "r") as file:
            attributes = attributes_facts(file.attrs)
            file.visititems(visit)
            keys = [name for name in file if "pandas_type" in file[name].attrs]
            tables = [] if keys else hdf5_tables(file, arrays)
    except Exception as error:
        raise Problem(f"it is damaged: {short(error, 120)}")
    return {"arrays": arrays, "groups": groups[:100]} | attributes | ({"pandas_keys": keys[:50], "note": "pandas wrote it; `pd.read_hdf` in code reads it"} if keys else {}) | ({"tables": tables} if tables else {})


def hdf5_tables(file, arrays):
    """Arrays of records, and several arrays of one length in one group, as tables."""
    groups = {}
    for array in arrays:
        if len(array["shape"]) == 1 and array["shape"][0] and array.get("columns"):
            groups[array["name"], "records"] = [array["name"]]
        elif len(array["shape"]) == 1:
            groups.setdefault((array["name"].rpartition("/")[0], array["shape"][0]), []).append(array["name"])
    tables = []
    for (name, kind), names in groups.items():
        if kind != "records" and len(names) < 2 or len(tables) >= TABLES_MAX:
            continue
        if sum(file[one].size * max(1, len(file[one].dtype.names or ())) for one in names) > CELLS_MAX:
            continue
        try:
            frame = ordain_reading.hdf5_table(file.filename, names)
        except Exception:
            # What is no plain array is told as an array alone.
            continue
        columns = [frame[column].tolist() for column in frame.columns]
        tables.append(table_facts(name or None, list(frame.columns), len(frame), columns, table={"exact": True}) | {"arrays": names})
    return tables


def has_hdf5_signature(path):
    with open(path, "rb") as file:
        for offset in (0, 512, 1024, 2048):
            file.seek(offset)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return True
    return False


def attributes_facts(attributes):
    """Attributes as bounded plain data."""
    found = {}
    for name in list(attributes)[:20]:
        try:
            value = attributes[name]
            found[short(name)] = sample(value.decode() if isinstance(value, bytes) else value)
        except Exception:
            found[short(name)] = None
    return {"attributes": found} if found else {}


def netcdf_facts(path):
    import netCDF4

    try:
        data = netCDF4.Dataset(str(path))
    except Exception as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    arrays = []
    for name, variable in list(data.variables.items())[:200]:
        facts = {"name": name, "dimensions": list(variable.dimensions), "shape": list(variable.shape), "type": str(variable.dtype)}
        facts |= attributes_facts({key: variable.getncattr(key) for key in variable.ncattrs()[:20]})
        arrays.append(facts)
    facts = {"dimensions": {name: len(size) for name, size in data.dimensions.items()}, "arrays": arrays}
    return facts | attributes_facts({key: data.getncattr(key) for key in data.ncattrs()[:20]})


def sqlite_facts(path):
    import sqlite3

    if head_of(path, 16) != b"SQLite format 3\0":
        raise Problem("it is damaged, or not what its name says: it is no SQLite database")
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    stop_at = time.monotonic() + SECONDS_MAX
    connection.set_progress_handler(lambda: time.monotonic() > stop_at, 100_000)
    quoted = lambda name: '"' + name.replace('"', '""') + '"'  # noqa: E731
    tables = []
    try:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")]
        for name in names[:TABLES_MAX]:
            rows = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]
            found = connection.execute(f"SELECT * FROM {quoted(name)}")
            columns = [column[0] for column in found.description]
            looked = found.fetchmany(max(1, CELLS_MAX // len(columns)))
            values = [[row[at] for row in looked] for at in range(min(len(columns), COLUMNS_MAX))]
            tables.append(table_facts(name, columns, rows, values, table={"exact": True}))
    except sqlite3.Error as error:
        if not tables:
            raise Problem(f"it is damaged: {short(error, 120)}")
        return {"tables": tables, "note": f"not all of it could be read: {short(error, 120)}"}
    finally:
        connection.close()
    return {"tables": tables, "tables_total": len(names)}
