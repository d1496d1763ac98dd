# name: two_hundred_megabytes
# class: allowed
# tries: work with 200 MB of data within a limit of 512 MiB
# expected: works
# outcome: ok
# after: none
# limits: wall=20s memory=512MiB
# oracle: inband
# prints: 200000000 25000000
import numpy as np
data = np.ones(25_000_000)
print(data.nbytes, int(data.sum()))
