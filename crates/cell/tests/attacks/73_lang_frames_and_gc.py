# name: lang_frames_and_gc
# class: language
# tries: walk frames, closures and the garbage collector to what the runner holds, and look for secrets there
# expected: the runner holds nothing that the program may not have
# outcome: ok
# after: no-host-file-content,result-not-forged
# oracle: both
import gc, sys
needle = "ATTACK-" + "CANARY-"
frame, depth = sys._getframe(), 0
while frame is not None:
    for key, value in list(frame.f_globals.items()) + list(frame.f_locals.items()):
        if isinstance(value, str) and needle in value and value is not needle: print("ESCAPE", key)
    frame, depth = frame.f_back, depth + 1
hits = 0
for thing in gc.get_objects():
    if isinstance(thing, dict):
        for key, value in list(thing.items()):
            if isinstance(value, (str, bytes)) and value is not needle and (needle if isinstance(value, str) else needle.encode()) in value: hits += 1
print("ESCAPE" if hits else "CONTAINED", hits, "frames", depth)
