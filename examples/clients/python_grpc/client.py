"""Runs a Python file on an Ordain executor over mutual TLS, with input files, and saves what it leaves.

Make the two generated modules first:

    python -m grpc_tools.protoc -I proto --python_out=. --grpc_python_out=. ordain/executor/v1/executor.proto
"""

import argparse
import json
import pathlib
import sys

import grpc

from ordain.executor.v1 import executor_pb2 as messages
from ordain.executor.v1 import executor_pb2_grpc as services

PIECE = 256 * 1024


def connect(address, ca, certificate, key):
    """A channel to the executor. Without a certificate of ours, an executor with a client CA refuses us."""
    if ca is None:
        return grpc.insecure_channel(address)
    credentials = grpc.ssl_channel_credentials(
        root_certificates=ca.read_bytes(),
        private_key=key.read_bytes() if key else None,
        certificate_chain=certificate.read_bytes() if certificate else None,
    )
    return grpc.secure_channel(address, credentials)


def requests(code, profile, files, answers):
    """The job, its files piece by piece, the word to go, and then an answer for each call of the code."""
    job = messages.Job(code=code, profile=profile, limits=messages.Limits(wall_ms=30_000))
    yield messages.RunRequest(start=job)
    for path in files:
        with path.open("rb") as content:
            piece = content.read(PIECE)
            yield messages.RunRequest(file=messages.FileChunk(name=path.name, data=piece))
            while piece := content.read(PIECE):
                yield messages.RunRequest(file=messages.FileChunk(name=path.name, data=piece))
    yield messages.RunRequest(go=messages.Go())
    yield from answers


def run(stub, code, profile, files, out):
    """Runs the code and returns its result. Output is passed on as it comes, artifacts are saved in `out`."""
    result, begun = None, set()
    # This code calls no host, so there are no answers to give.
    for event in stub.Run(requests(code, profile, files, answers=[]), timeout=60):
        kind = event.WhichOneof("event")
        if kind == "output":
            stream = sys.stdout if event.output.stream == messages.STREAM_STDOUT else sys.stderr
            stream.buffer.write(event.output.data)
            stream.flush()
        elif kind == "artifact":
            # The executor lets only plain names through: no separators, no dots alone. They come in pieces; what an
            # earlier run left under the same name is replaced.
            name = event.artifact.name
            with (out / name).open("ab" if name in begun else "wb") as artifact:
                artifact.write(event.artifact.data)
            begun.add(name)
        elif kind == "result":
            result = event.result
    return result


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("code", type=pathlib.Path)
    arguments.add_argument("--executor", default="127.0.0.1:50051")
    arguments.add_argument("--profile", default="core", help="core, data or full, where the executor offers it")
    arguments.add_argument("--file", type=pathlib.Path, action="append", default=[])
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments.add_argument("--ca", type=pathlib.Path)
    arguments.add_argument("--cert", type=pathlib.Path)
    arguments.add_argument("--key", type=pathlib.Path)
    given = arguments.parse_args()
    with connect(given.executor, given.ca, given.cert, given.key) as channel:
        stub = services.ExecutorStub(channel)
        try:
            result = run(stub, given.code.read_text(), given.profile, given.file, given.out)
        except grpc.RpcError as error:
            print(f"{error.code().name}: {error.details()}", file=sys.stderr)
            return 3
    told = {
        "cause": result.cause,
        "artifacts": [artifact.name for artifact in result.artifacts],
        "findings": [f"line {finding.line}: {finding.message}" for finding in result.findings],
    }
    print(json.dumps(told), file=sys.stderr)
    return 0 if result.cause == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
