# name: input_links
# class: state
# tries: replace the input file and its folder by links, and write through them
# expected: the cell has a copy; the original stays as it is
# outcome: ok
# after: data-unchanged,no-artifact-outside,next-cell-clean,writes-complete
# oracle: both
import os
try: path = str(files["input.csv"])
except NameError: path = "data/input.csv"
folder = os.path.dirname(path) or "."
for label, act in (
    ("append", lambda: open(path, "a").write("SG004,forged,1\n")),
    ("replace", lambda: (os.rename(path, path + ".old"), os.symlink("/etc/ld.so.cache", path))),
    ("write through", lambda: open(path, "r+b").write(b"TAMPERED")),
    ("folder", lambda: (os.rename(folder, folder + ".old"), os.symlink("/usr/lib", folder))),
    ("write in folder", lambda: open(os.path.join(folder, "attack"), "w")),
):
    try: act(); print("ESCAPE" if label in ("write through", "write in folder") else "INFO", label)
    except OSError as e: print("CONTAINED", label, e.strerror)
