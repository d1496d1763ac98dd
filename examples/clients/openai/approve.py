"""Holds a purchase for approval, looks at it, and approves it in the next message."""

import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("ORDAIN_URL", "http://127.0.0.1:8000") + "/v1",
    api_key=os.environ.get("ORDAIN_KEY", "none"),
)

# `hold` makes this one change wait; `[approval] mode = "hold"` in ordain.toml makes every change wait.
conversation = [{"role": "user", "content": "Purchase 3 Wayfarer sunglasses for customer Alice."}]
held = client.chat.completions.create(
    model="ordain-auto", messages=conversation, extra_body={"hold": True}
)
print(held.choices[0].message.content)

run = held.model_extra["ordain"]["run_id"]
conversation += [
    {"role": "assistant", "content": held.choices[0].message.content},
    {"role": "user", "content": f"approve {run}"},
]
done = client.chat.completions.create(model="ordain-auto", messages=conversation)
print(done.choices[0].message.content)
