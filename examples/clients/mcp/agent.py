"""Buys from the sunglasses shop as an agent does: asks, lets a person approve the change, and takes it back."""

import asyncio
import os
import shlex

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

# A server's address, or a command whose stdin and stdout are spoken to, such as `ordain mcp --approve`.
SERVER = os.environ.get("ORDAIN_MCP", "http://127.0.0.1:8000/mcp")


async def approve(_context, question):
    """Shows the change and approves it. A real agent asks its person here."""
    print(question.message)
    return ElicitResult(action="accept", content={"decision": "approve"})


async def progress(_done, _total, message):
    """Shows how far the call is."""
    print("stage:", message)


async def main():
    """Lists the tools, asks, buys, runs code that leaves a file, and undoes the purchase."""
    server = SERVER
    if not server.startswith("http"):
        command, *arguments = shlex.split(server)
        server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    mode = os.environ.get("ORDAIN_MCP_MODE", "auto")
    async with Client(server, elicitation_callback=approve, mode=mode) as client:
        print("revision", client.protocol_version)
        print("tools", [tool.name for tool in (await client.list_tools()).tools])

        answer = await client.call_tool("ask", {"request": "Do you have Moon sunglasses?"}, progress_callback=progress)
        print(answer.content[0].text)

        request = {"request": "Purchase 2 Wayfarer sunglasses for customer Alice.", "hold": True}
        bought = await client.call_tool("ask", request)
        print(bought.content[0].text)
        run = bought.structured_content

        code = "(artifacts / 'note.txt').write_text('from a cell'); print(6 * 7)"
        ran = await client.call_tool("exec", {"code": code})
        print(ran.content[0].text)
        file = await client.read_resource(ran.content[1].uri)
        print("file:", file.contents[0].text)

        if run["state"] == "committed":
            undone = await client.call_tool("run", {"run": run["run_id"], "action": "undo"})
            print(run["state"], "then", undone.structured_content["state"])

        wrong = await client.call_tool("ask", {"request": "x", "colour": "red"})
        print("error" if wrong.is_error else "?", wrong.content[0].text.splitlines()[0])


asyncio.run(main())
