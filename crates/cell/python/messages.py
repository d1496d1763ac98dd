# --- mails, mailboxes and calendars: records that are written as text ------------------------------------------------

MESSAGE_KINDS = {"eml": "messages", "mbox": "messages", "ics": "events"}
EVENT_FIELDS = {"SUMMARY": "summary", "DTSTART": "start", "DTEND": "end", "LOCATION": "location", "ORGANIZER": "organizer", "RRULE": "repeats"}


def message_records(path, kind):
    """The messages of a mail or mailbox, or the events of a calendar, as records with the same fields."""
    data = bytes_of(path)
    if kind == "ics":
        return events_of(data.decode("utf-8-sig", "replace"))
    if kind == "eml":
        record = mail_record(data, None)
        # A text without any header of a mail is none.
        return [record] if any(record[name] for name in ("sender", "recipient", "subject", "date")) else []
    # A message of a mailbox begins with a line of its own, after an empty one.
    parts = re.split(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From ([^ \r\n]*)[^\n]*\n", data)
    return [mail_record(part, sender.decode("utf-8", "replace")) for sender, part in zip(parts[1::2], parts[2::2])]


def mail_record(data, sender):
    import email
    import email.policy

    message = email.message_from_bytes(data, policy=email.policy.default)
    sent = getattr(message["date"], "datetime", None)
    return {
        "sender": str(message["from"] or sender or "") or None,
        "recipient": str(message["to"] or "") or None,
        "subject": str(message["subject"] or "") or None,
        "date": str(sent) if sent else None,
        "attachments": sum(1 for _ in message.iter_attachments()),
    }


def events_of(text):
    """Points in time stay as they are written; `zone` says which clock they are of."""
    records, record = [], None
    # A line that begins with a blank goes on with the one before it.
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        name, _, value = line.partition(":")
        name, *params = name.split(";")
        if line.strip() == "BEGIN:VEVENT":
            record = dict.fromkeys((*EVENT_FIELDS.values(), "zone"))
        elif line.strip() == "END:VEVENT" and record is not None:
            records.append(record)
            record = None
        elif record is not None and (field := EVENT_FIELDS.get(name.upper())):
            if field == "start":
                zone = next((param[5:] for param in params if param.upper().startswith("TZID=")), None)
                record["zone"] = "UTC" if value.strip().endswith("Z") else zone
            record[field] = written_time(value.strip()) if field in ("start", "end") else re.sub(r"\\([,;\\])", r"\1", value).strip() or None
    return records


def written_time(text):
    parts = re.fullmatch(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?", text)
    if not parts:
        return text or None
    day = "-".join(parts.groups()[:3])
    return f"{day} {parts[4]}:{parts[5]}:{parts[6]}" if parts[4] else day
