"""Buys from the sunglasses shop with LangChain, in one piece and in chunks."""

import os

from langchain_openai import ChatOpenAI

shop = ChatOpenAI(
    model="ordain-auto",
    base_url=os.environ.get("ORDAIN_URL", "http://127.0.0.1:8000") + "/v1",
    api_key=os.environ.get("ORDAIN_KEY", "none"),
    # LangChain keeps only the fields it knows, so the run's id is read from a header.
    include_response_headers=True,
)

answer = shop.invoke("I want to buy 2 Moon sunglasses")
print(answer.content)
print("run", answer.response_metadata["headers"]["x-ordain-run-id"])
print("tokens", answer.usage_metadata["total_tokens"])

for chunk in shop.stream([("human", "How much is the Moon?")]):
    print(chunk.content, end="")
print()
