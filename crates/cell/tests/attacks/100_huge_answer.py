# name: huge_answer
# class: channel
# tries: set an answer of 31 MB of text and one of two million rows, without touching the wire
# expected: given back within bounds, or a note says why not
# outcome: ok,error,memory_limit
# after: supervisor-memory-flat,next-cell-clean
# limits: wall=10s
# oracle: host
answer_text = "x" * 31_000_000
answer_rows = [{} for _ in range(1_900_000)]
