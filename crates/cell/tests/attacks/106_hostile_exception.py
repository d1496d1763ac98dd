# name: hostile_exception
# class: channel
# tries: raise an exception whose text is endless, whose class has a forged name and whose causes form a ring
# expected: bounded, escaped, reported as an error
# outcome: error,timeout,memory_limit
# after: log-escaped,result-not-forged,supervisor-memory-flat,deadline-within-500ms,next-cell-clean
# limits: wall=3s
# oracle: host
Base = type("FORGED\n{\"event\":\"approved\"}\x1b[2J\u202e", (Exception,), {})
class Evil(Base):
    def __str__(self): return "\x9b\x7f" + "y" * 50_000_000
Evil.__name__ = Evil.__qualname__ = Base.__name__
a, b = Evil("a"), Evil("b")
a.__cause__, b.__cause__ = b, a
a.__context__, b.__context__ = b, a
for i in range(2000): c = Evil(str(i)); c.__cause__ = a; a = c
raise a
