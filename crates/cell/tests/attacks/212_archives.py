# name: archives
# class: allowed
# tries: zip, tar and gzip files in the work folder and among the artifacts
# expected: works
# outcome: ok
# after: artifacts-refused,artifact-names-safe,active-content-flagged
# oracle: inband
# prints: b'hello' b'hello' ['a.txt']
import gzip, tarfile, zipfile
with zipfile.ZipFile(artifacts / "a.zip", "w", zipfile.ZIP_DEFLATED) as z: z.writestr("a.txt", "hello")
with zipfile.ZipFile(artifacts / "a.zip") as z: first = z.read("a.txt"); z.extractall("unpacked")
with tarfile.open("a.tar.gz", "w:gz") as t: t.add("unpacked/a.txt", "a.txt")
print(first, gzip.decompress(gzip.compress(b"hello")), tarfile.open("a.tar.gz").getnames())
