# name: lang_hooks
# class: language
# tries: leave trace, profile, garbage collector, import and exception hooks behind, each of which raises
# expected: they end with the cell
# outcome: ok,error,no_result,protocol_error
# after: next-cell-clean,no-leftover-process
# oracle: host
import builtins, gc, sys, threading
def bad(*a, **k): raise RuntimeError("hook")
gc.callbacks.append(lambda *a: None)
sys.meta_path.insert(0, type("Finder", (), {"find_spec": staticmethod(bad)}))
sys.path_hooks.insert(0, bad)
sys.excepthook = sys.unraisablehook = sys.displayhook = threading.excepthook = bad
sys.addaudithook(lambda event, arguments: None)
sys.setswitchinterval(1e-6)
builtins.__import__ = bad
sys.setprofile(bad)
sys.settrace(bad)
