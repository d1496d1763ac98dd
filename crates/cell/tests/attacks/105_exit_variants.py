# name: exit_variants
# class: channel
# tries: end with hostile exit values: objects whose conversion raises, prints or never ends
# expected: a normal end of the program's own making, never a success that it did not have
# outcome: error,timeout,no_result
# after: next-cell-clean,deadline-within-500ms,log-escaped
# limits: wall=1s
# oracle: host
import sys
class Evil(int):
    def __and__(self, other): raise SystemExit(self)
    __rand__ = __int__ = __index__ = __str__ = __repr__ = __format__ = lambda self, *a: sys.exit(self)
class Stop(SystemExit):
    @property
    def code(self): raise Stop(Evil(0))
raise Stop(Evil(0))
