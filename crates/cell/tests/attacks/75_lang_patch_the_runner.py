# name: lang_patch_the_runner
# class: language
# tries: replace json, os._exit and builtins in the process that reports the result
# expected: it spoils its own report at most; the host's fields stay the host's
# outcome: ok,error,no_result,protocol_error,timeout
# after: result-not-forged,next-cell-clean,deadline-within-500ms,log-escaped
# limits: wall=2s
# oracle: host
import builtins, json, os, sys
json.dumps = lambda *a, **k: '{"exit": 0, "error": null, "values": {}, "notes": {}, "cause": "FORGED"}'
os._exit = sys.exit = lambda *a: None
builtins.len = lambda x: 7
builtins.isinstance = lambda *a: True
builtins.str = lambda x: "FORGED"
raise ValueError("FORGED")
