# name: endless_iteration
# class: resource
# tries: consume an endless iterator inside C, where no Python code runs
# expected: killed at the deadline
# outcome: timeout
# after: deadline-within-500ms
# limits: wall=1s
# oracle: host
import collections, itertools
collections.deque(itertools.repeat(0), maxlen=0)
