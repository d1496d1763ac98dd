# name: deep_data
# class: language
# tries: overflow the C stack through deep data: literals, JSON, pickle, comparison, copying and deallocation
# expected: an exception, or a crash of the cell alone
# outcome: ok,crash,memory_limit
# after: no-core-file,next-cell-clean,no-leftover-process
# limits: wall=5s
# oracle: host
import ast, copy, json, pickle, sys
sys.setrecursionlimit(1 << 30)
deep = []
for i in range(300_000): deep = [deep]
for label, act in (
    ("json out", lambda: json.dumps(deep)), ("json in", lambda: json.loads("[" * 300_000)), ("repr", lambda: repr(deep)), ("compare", lambda: deep == copy.copy(deep)),
    ("pickle", lambda: pickle.dumps(deep)), ("literal", lambda: ast.literal_eval("-" * 100_000 + "1")), ("copy", lambda: copy.deepcopy(deep)),
):
    print("INFO", label, flush=True)
    try: act()
    except (RecursionError, MemoryError, ValueError, SyntaxError) as e: print("CONTAINED", label, type(e).__name__, flush=True)
