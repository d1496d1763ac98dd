# name: close_wire
# class: channel
# tries: close the wire and run on
# expected: the host drops the cell soon; it names neither a crash nor success
# outcome: no_result,protocol_error
# after: deadline-within-500ms,next-cell-clean,no-leftover-process
# oracle: host
import os, time
os.closerange(3, 256)
time.sleep(60)
