# name: artifact_folder_swapped
# class: artifact
# tries: put a link to the host's files in the place of the artifacts folder itself
# expected: the collector follows nothing and says that the folder was replaced
# outcome: ok,artifact_limit
# after: artifacts-refused,no-host-file-content,no-artifact-outside
# oracle: host
import os, shutil
try: folder = str(artifacts)
except NameError: folder = None
if folder:
    try: os.rmdir(folder); os.symlink("/usr/lib", folder); print("MADE", folder, os.listdir(folder)[:3])
    except OSError as e: print("CONTAINED", e)
