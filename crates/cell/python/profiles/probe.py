# Says which Python this is, as one line of JSON. It runs under whatever `python3` turns out to be, however old,
# so it keeps to the syntax and the modules that every version since 2.7 has.
import json
import os
import sys


def facts():
    told = {
        "version": list(sys.version_info[:3]),
        "implementation": getattr(getattr(sys, "implementation", None), "name", "unknown"),
        "launcher": sys.executable or "",
        "executable": os.path.realpath(sys.executable) if sys.executable else "",
    }
    if sys.version_info < (3, 10):
        return told
    import importlib.util
    import platform
    import sysconfig

    paths = sysconfig.get_paths()
    told.update(
        base_prefix=os.path.realpath(sys.base_prefix),
        stdlib=os.path.realpath(paths["stdlib"]),
        platstdlib=os.path.realpath(sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix})),
        platlib=os.path.realpath(paths["platlib"]),
        abi_tag="cp%d%d%s" % (sys.version_info[0], sys.version_info[1], getattr(sys, "abiflags", "")),
        platform=sysconfig.get_platform(),
        libc="".join(platform.libc_ver()[:1]) or "musl",
        has_pip=importlib.util.find_spec("pip") is not None,
    )
    return told


sys.stdout.write(json.dumps(facts()) + "\n")
