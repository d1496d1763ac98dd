"""Judges a text by a schema: `validate.py json|xml SCHEMA TEXT`. Prints every complaint; the exit code says whether
there was one."""

import json
import sys

kind, schema_path, text_path = sys.argv[1:]
complaints = []
if kind == "json":
    import jsonschema

    schema = json.load(open(schema_path, encoding="utf-8"))
    text = json.load(open(text_path, encoding="utf-8"))
    judge = jsonschema.validators.validator_for(schema)
    judge.check_schema(schema)
    complaints = [f"{error.json_path}: {error.message[:300]}" for error in judge(schema).iter_errors(text)]
else:
    from lxml import etree

    schema = etree.XMLSchema(etree.parse(schema_path))
    try:
        if not schema.validate(etree.parse(text_path)):
            complaints = [str(error) for error in schema.error_log]
    except etree.XMLSyntaxError as error:
        complaints = [str(error)]
print("\n".join(complaints))
sys.exit(1 if complaints else 0)
