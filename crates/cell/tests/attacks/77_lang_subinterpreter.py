# name: lang_subinterpreter
# class: language
# tries: run code in a sub-interpreter, which has modules and hooks of its own
# expected: another interpreter in the same cell gains nothing
# outcome: ok,crash,error
# after: no-leftover-process,next-cell-clean,no-host-file-content
# oracle: both
try: import _xxsubinterpreters as interpreters
except ImportError:
    try: import _interpreters as interpreters
    except ImportError: interpreters = None
code = '''
import os
for path in ("/tmp/attack-canary/secret.txt", "/etc/shadow"):
    try: open(path); print("ESCAPE", path)
    except OSError as e: print("CONTAINED", path)
print("ESCAPE" if os.system("id") == 0 else "CONTAINED", "spawn")
'''
if interpreters:
    inner = interpreters.create()
    print("INFO", interpreters.run_string(inner, code))
else: print("INFO there are none here")
