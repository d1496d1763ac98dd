# name: temporary_files
# class: allowed
# tries: write to /tmp, use tempfile in all its forms, rename and remove
# expected: works
# outcome: ok
# after: next-cell-clean,no-artifact-outside
# oracle: inband
# prints: hello hello [] True
import os, pathlib, shutil, tempfile
path = pathlib.Path("/tmp/note.txt"); path.write_text("hello"); path.rename("/tmp/moved.txt")
with tempfile.NamedTemporaryFile("w+") as f, tempfile.TemporaryDirectory() as folder:
    f.write("hello"); f.seek(0); second = f.read()
    shutil.copy("/tmp/moved.txt", folder); inside = os.listdir(folder) == ["moved.txt"]
print(pathlib.Path("/tmp/moved.txt").read_text(), second, [p for p in os.listdir("/tmp") if p.startswith("tmp")], inside)
