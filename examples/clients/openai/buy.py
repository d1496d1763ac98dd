"""Buys from the sunglasses shop with the openai package, in one piece and in chunks."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("ORDAIN_URL", "http://127.0.0.1:8000") + "/v1",
    api_key=os.environ.get("ORDAIN_KEY", "none"),
)


def show(run):
    """Prints a run and the rows that it changed."""
    print("run", run["run_id"], run["state"])
    for table, rows in run["diff"].items():
        for change in rows["changed"]:
            print(" changed", table, change["key"], "->", change["after"])
        for row in rows["added"]:
            print(" added", table, row)


# In one piece: the answer is the content, the run is under `ordain`.
conversation = [{"role": "user", "content": "buy some wayfarers"}]
completion = client.chat.completions.create(model="ordain-auto", messages=conversation)
print(completion.choices[0].message.content)

# It asked how many; the conversation goes on, so the next message answers that.
conversation += [
    {"role": "assistant", "content": completion.choices[0].message.content},
    {"role": "user", "content": "2"},
]
completion = client.chat.completions.create(model="ordain-auto", messages=conversation)
print(completion.choices[0].message.content)
show(completion.model_extra["ordain"])

# In chunks: plan and code come as `reasoning_content`, then the answer, and the run with the last chunk.
chunks = client.chat.completions.create(
    model="ordain-direct",
    messages=[{"role": "user", "content": "I want to buy 1 Moon"}],
    stream=True,
    stream_options={"include_usage": True},
)
for chunk in chunks:
    for choice in chunk.choices:
        print((choice.delta.model_extra or {}).get("reasoning_content", ""), end="")
        print(choice.delta.content or "", end="")
        if choice.finish_reason:
            print()
            show(chunk.model_extra["ordain"])
    if chunk.usage:
        print("tokens", chunk.usage.total_tokens)
