"""A small S3-compatible server that takes a request only if botocore, Amazon's own client, would sign it the same way.

The key's id is `JUDGED`, its secret comes as the only argument. Objects are kept in memory.
"""

import hashlib
import http.server
import sys
import urllib.parse

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode

OBJECTS = {}
MUST_BE_SIGNED = ["host", "x-amz-content-sha256", "x-amz-date"]


def fault(method, path, headers, body):
    """What is wrong with a request; nothing if it is signed as it should be."""
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    key_id, date, region, service, end = parts.get("Credential", "////").split("/")
    if scheme != "AWS4-HMAC-SHA256" or (key_id, service, end) != ("JUDGED", "s3", "aws4_request"):
        return "InvalidAccessKeyId"
    signed = parts.get("SignedHeaders", "").split(";")
    token = headers.get("x-amz-security-token")
    needed = MUST_BE_SIGNED + (["x-amz-security-token"] if token else [])
    if signed != sorted(signed) or not set(needed) <= set(signed):
        return "AccessDenied: a header is not signed"
    time = headers["x-amz-date"]
    if not time.startswith(date) or headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch"
    # Whatever form the path came in, the signature is over the one form that Amazon names.
    path, _, query = path.partition("?")
    path = percent_encode(urllib.parse.unquote_to_bytes(path), safe="/~")
    url = f"http://{headers['host']}{path}" + (f"?{query}" if query else "")
    request = AWSRequest(method, url, {name: headers[name] for name in signed}, body)
    request.context["timestamp"] = time
    auth = S3SigV4Auth(Credentials("JUDGED", sys.argv[1], token), "s3", region)
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return None if signature == parts.get("Signature") else "SignatureDoesNotMatch"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def judged(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        wrong = fault(self.command, self.path, headers, body)
        key = urllib.parse.unquote(self.path)
        if wrong:
            self.answer(403, f"<Error><Code>{wrong}</Code></Error>".encode())
        elif self.command == "PUT":
            OBJECTS[key] = body
            self.answer(200, b"")
        elif self.command == "DELETE":
            OBJECTS.pop(key, None)
            self.answer(204, b"")
        elif key in OBJECTS:
            self.answer(200, OBJECTS[key])
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_GET = do_PUT = do_DELETE = judged

    def answer(self, status, body):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on {server.server_address[0]}:{server.server_address[1]}", flush=True)
server.serve_forever()
