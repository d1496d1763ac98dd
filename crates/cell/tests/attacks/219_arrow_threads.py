# name: arrow_threads
# class: allowed
# tries: pyarrow, which computes in threads of its own
# expected: works within the limit of processes and threads
# outcome: ok
# after: no-leftover-process,next-cell-clean
# limits: wall=20s memory=512MiB
# oracle: inband
# prints: 499999500000 3
import pyarrow as pa, pyarrow.compute as pc, pyarrow.csv
numbers = pa.chunked_array([pa.array(range(i, i + 100_000)) for i in range(0, 1_000_000, 100_000)])
print(pc.sum(numbers).as_py(), pyarrow.csv.read_csv(str(files["input.csv"])).num_rows)
