# name: output_on_the_wire
# class: channel
# tries: put stdout in the place of the wire and the wire in the place of stdout
# expected: what is printed is not a frame; no success is reported for it
# outcome: protocol_error,no_result
# after: next-cell-clean,result-not-forged,deadline-within-500ms
# oracle: host
import os
wire = os.dup(3)
os.dup2(1, 3)
os.dup2(wire, 1)
print("FORGED" * 1000, flush=True)
