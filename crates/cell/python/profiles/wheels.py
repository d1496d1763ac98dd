"""Tells what the wheels of a folder are: name, version, SHA-256, and the modules that each makes importable.

Nothing of a wheel is run. The answer is one line of JSON.
"""

import hashlib
import json
import pathlib
import sys
import zipfile


def modules(names):
    found = set()
    for name in names:
        parts = name.split("/")
        if parts[0].endswith(".data") and len(parts) > 2 and parts[1] in ("purelib", "platlib"):
            parts = parts[2:]
        top = parts[0] if len(parts) > 1 else parts[0].split(".")[0]
        is_module = parts[-1].endswith((".py", ".so"))
        if is_module and top.isidentifier():
            found.add(top)
    return sorted(found)


wheels = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
    name, version = path.name.split("-")[:2]
    with zipfile.ZipFile(path) as archive:
        inside = modules(archive.namelist())
    wheels.append({"name": name, "version": version, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "modules": inside})
print(json.dumps(wheels))
