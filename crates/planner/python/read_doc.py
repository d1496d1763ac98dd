def read_doc(path):
    """The text of a document of Word 97 to 2003: its pieces, in the order in which the table of pieces names them."""
    import io
    import re
    from struct import unpack_from

    from xlrd.compdoc import CompDoc

    compound = CompDoc(path.read_bytes(), logfile=io.StringIO())
    document = compound.get_named_stream("WordDocument")
    if document is None or unpack_from("<HH", document)[0] != 0xA5EC or unpack_from("<HH", document)[1] < 193:
        raise ValueError("it is no document of Word 97 to 2003")
    flags = unpack_from("<H", document, 10)[0]
    if flags & 0x100:
        raise ValueError("it is encrypted")
    table = compound.get_named_stream("1Table" if flags & 0x200 else "0Table")
    at = unpack_from("<I", document, 0x1A2)[0]
    # Descriptions of changed formats come before the table of pieces.
    while table[at] == 1:
        at += 3 + unpack_from("<H", table, at + 1)[0]
    count = (unpack_from("<I", table, at + 1)[0] - 4) // 12
    places = unpack_from(f"<{count + 1}I", table, at + 5)
    pieces = []
    for number in range(count):
        offset = unpack_from("<I", table, at + 5 + 4 * (count + 1) + 8 * number + 2)[0]
        length = places[number + 1] - places[number]
        if offset & 0x40000000:
            start = (offset & 0x3FFFFFFF) // 2
            pieces.append(document[start : start + length].decode("cp1252", "replace"))
        else:
            pieces.append(document[offset : offset + 2 * length].decode("utf-16-le", "replace"))
    text = "".join(pieces)
    # A field has an instruction and a result, and only the result is shown; a cell and a row end with the same sign.
    text = re.sub("\x13[^\x13\x14\x15]*\x14?", "", text).replace("\x07\x07", "\n").replace("\x07", "\t")
    text = re.sub("[\r\x0b\x0c]", "\n", text)
    return re.sub("[\x00-\x08\x0e-\x1f]", "", text)
