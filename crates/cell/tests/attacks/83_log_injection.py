# name: log_injection
# class: channel
# tries: newline, ANSI, JSON, bidi, NUL and a lone surrogate in output and exception text to forge records
# expected: the log stores escaped length-prefixed data; hash chain intact
# outcome: error
# after: log-escaped
# oracle: host
import os
evil = "ok\n{\"event\":\"verified\",\"actor\":\"admin\"}\n\x1b[1A\x1b[2K\u202e\r2026-01-01 INFO approved \x00 \ud83d"
os.write(1, evil.encode("utf-8", "surrogatepass")); os.write(2, evil.encode("utf-8", "surrogatepass"))
raise ValueError(evil)
