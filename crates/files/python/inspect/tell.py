# --- what each file holds, told one by one ---------------------------------------------------------------------------

import ordain  # noqa: E402

for name in names:  # noqa: F821 - given by the host
    DECLARED = settings["declared"].get(name, {})  # noqa: F821
    ordain.call("file.begin", name=name)
    ordain.call("file.facts", name=name, facts=plain_facts(facts_of(name, files[name])))  # noqa: F821
