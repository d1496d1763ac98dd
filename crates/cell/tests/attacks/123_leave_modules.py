# name: leave_modules
# class: state
# tries: leave .pth files, sitecustomize, bytecode and shadowing modules where a later start would load them
# expected: nothing outside the cell's own folder can be written, and that goes with it
# outcome: ok
# after: next-cell-clean,no-artifact-outside
# oracle: both
import os, site, sys
names = ("x.pth", "sitecustomize.py", "usercustomize.py", "json.py", "__pycache__/json.cpython-311.pyc", "pandas.py")
folders = {p for p in sys.path if p and os.path.isdir(p)} | {os.path.dirname(os.__file__), "/usr/lib/python3/dist-packages"}
try: folders |= set(site.getsitepackages())
except Exception: pass
for folder in folders:
    for name in names:
        path = os.path.join(folder, name)
        if os.path.realpath(path).startswith("/work"): continue
        try: open(path, "a").write("raise SystemExit\n"); print("ESCAPE", path)
        except OSError as e: print("CONTAINED", path, e.strerror)
for name in ("json.py", "sitecustomize.py", "pandas.py", "builtins.py"):
    open(name, "w").write("raise SystemExit('shadowed')\n")
for name in (".bashrc", ".profile", ".pythonrc", ".pdbrc", ".config/matplotlib/matplotlibrc"):
    path = os.path.expanduser("~/" + name); os.makedirs(os.path.dirname(path), exist_ok=True); open(path, "w").write("x")
