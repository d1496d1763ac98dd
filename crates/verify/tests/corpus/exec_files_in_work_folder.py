import os
import shutil
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
for index in range(3):
    (folder / f"{index}.txt").write_text(str(index))
with open("joined.txt", "w") as out:
    for path in sorted(folder.glob("*.txt")):
        out.write(path.read_text())
print(os.path.getsize("joined.txt"), os.environ.get("HOME", ""))
shutil.rmtree(folder)
