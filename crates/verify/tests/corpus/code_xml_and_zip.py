import io
import xml.etree.ElementTree as ElementTree
import zipfile

names = []
with zipfile.ZipFile(files["archive.zip"]) as archive:
    for member in archive.namelist():
        if member.endswith(".xml"):
            root = ElementTree.parse(io.BytesIO(archive.read(member))).getroot()
            names.append((member, root.tag, len(list(root))))
print(names)
