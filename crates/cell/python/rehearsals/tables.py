# What a check does with a mapped table: opens it, compares a column, counts and picks rows. The table is our own,
# because no file of a user's is read outside a cell.
import io
import pandas as pd
import pyarrow as pa
texts = pa.array(['a', 'b', None], pa.large_string())
table = pa.table({'number': [1, 2, 3], 'share': [0.5, 1.5, float('nan')], 'text': texts})
target = io.BytesIO()
with pa.ipc.new_file(target, table.schema) as writer:
    writer.write_table(table)
table = pa.ipc.open_file(pa.py_buffer(target.getvalue())).read_all()
rows = table.to_pandas(split_blocks=True, use_threads=False).copy(deep=False)
for name in ('number', 'share'):
    values = rows[name]
    judged = values.notna()
    failing = judged & ~((values >= 1) & (values <= 2))
    found = {'evaluated': int(judged.sum()), 'failed': int(failing.sum()), 'failed_rows': rows[failing]}
found = rows['text'].isna().sum(), rows['text'].isin(['a']).sum(), rows.duplicated(subset=['number'], keep=False).sum()
