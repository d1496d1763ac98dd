# name: mislabelled_artifacts
# class: artifact
# tries: pages dressed as pictures, archives, tables and notes; formulas in other separators and encodings
# expected: every one carries a warning
# outcome: ok
# after: active-content-flagged,artifact-names-safe
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
page = b"<!DOCTYPE html><html><script>fetch('/admin')</script></html>"
for name in ("a.png", "a.jpg", "a.gif", "a.pdf", "a.xlsx", "a.zip", "a.txt", "a.csv", "a.json", "a.md", "A.HTML", "a.xhtml", "a.htm", "noending"):
    open(name, "wb").write(page)
open("bom.txt", "wb").write(b"\xef\xbb\xbf  \n" + page)
open("d.svg", "wb").write(b"<?xml version='1.0'?><svg onload='alert(1)'/>")
formulas = {"tab.tsv": b"name\tvalue\nx\t=1+1\n", "semicolon.csv": b"name;value\nx;=1+1\n", "quoted.csv": b"a,\"=cmd()\"\n", "at.csv": b"a,@SUM(1)\n", "plus.csv": b"a,+1+cmd\n", "minus.csv": b"-1+1,b\n", "space.csv": b"a, =1\n", "utf16.csv": "a,=1\n".encode("utf-16")}
for name, content in formulas.items(): open(name, "wb").write(content)
print("INFO made")
