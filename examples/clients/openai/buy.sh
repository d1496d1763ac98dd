#!/bin/sh
# Asks, buys and takes the purchase back, with nothing but curl.
set -eu
url="${ORDAIN_URL:-http://127.0.0.1:8000}"
key="Authorization: Bearer ${ORDAIN_KEY:-none}"
json="Content-Type: application/json"

# A chat completion, in one piece. The run and its diff are under "ordain".
curl -sS --fail-with-body "$url/v1/chat/completions" -H "$key" -H "$json" -D headers.txt -d '{
  "model": "ordain-auto",
  "messages": [{"role": "user", "content": "I want to buy 2 Moon sunglasses"}]
}'
echo

# The run's id is in a header, too.
run=$(sed -n 's/^x-ordain-run-id: *\([0-9a-z]*\).*/\1/p' headers.txt)
echo "run $run"

# The same API in chunks.
curl -sS --fail-with-body -N "$url/v1/chat/completions" -H "$key" -H "$json" -d '{
  "model": "ordain-auto",
  "stream": true,
  "messages": [{"role": "user", "content": "How much is the Moon?"}]
}'

# Thought, code and observation.
curl -sS --fail-with-body "$url/chat" -H "$key" -H "$json" -d '{"message": "Is the Shield in stock?"}'
echo

# Take the purchase back.
curl -sS --fail-with-body -X POST "$url/v1/runs/$run/undo" -H "$key"
echo
