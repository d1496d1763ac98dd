# name: text
# class: allowed
# tries: print text in many alphabets, with emoji and without a locale, to stdout and stderr
# expected: arrives as UTF-8
# outcome: ok
# after: log-escaped
# oracle: inband
# prints: Größe 漢字 العربية 😀 é
import sys, unicodedata
print("Größe 漢字 العربية 😀", unicodedata.normalize("NFC", "e\u0301"))
print("Fehler: ü", file=sys.stderr)
sys.stdout.buffer.write("bytes too\n".encode())
