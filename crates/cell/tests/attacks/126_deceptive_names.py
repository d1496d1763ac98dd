# name: deceptive_names
# class: artifact
# tries: names with spaces at their ends, look-alike letters, combining marks, zero-width and direction characters
# expected: what deceives is refused or shown escaped; the rest keeps its name
# outcome: ok,artifact_limit
# after: artifact-names-safe,no-artifact-outside,log-escaped
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
names = (
    "report.csv ", " report.csv", "report.csv.", "report\u00a0.csv", "r\u0435port.csv", "re\u0301port.csv", "r\u00e9port.csv",
    "report\u200b.csv", "report\u2066vsc.exe\u2069", "\u202etxt.exe", "report\ufeff.csv", "report.csv\u2028", "\u3164.csv",
    "AUX", "nul.txt", "a:b", "a|b", "a?b*c", "%00.csv", "&lt;script&gt;", "<script>", "';drop table x;--", "\x7f.csv", "\x85.csv",
    "~root", "!history", "@file", "-o", "--help", ".hidden", ".ordain", "..data", "CON", "\u2215etc\u2215passwd", "\uff0e\uff0e\uff0fpasswd",
)
for name in names:
    try: open(name, "w").write("x"); print("INFO made", ascii(name))
    except (OSError, ValueError) as e: print("CONTAINED", ascii(name), e)
