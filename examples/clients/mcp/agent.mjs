// Buys from the sunglasses shop as an agent does: asks, lets a person approve the change, and takes it back.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

// A server's address, or a command whose stdin and stdout are spoken to, such as `ordain mcp --approve`.
const server = process.env.ORDAIN_MCP ?? "http://127.0.0.1:8000/mcp";
const [command, ...args] = server.split(" ");
const transport = server.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(server))
  : new StdioClientTransport({ command, args, env: process.env });

const client = new Client(
  { name: "agent", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: process.env.ORDAIN_MCP_MODE ?? "auto" } },
);
client.setRequestHandler("elicitation/create", async (request) => {
  console.log(request.params.message);
  return { action: "accept", content: { decision: "approve" } };
});
await client.connect(transport);

const { tools } = await client.listTools();
console.log("tools", tools.map((tool) => tool.name).join(" "));

const request = { request: "Purchase 2 Wayfarer sunglasses for customer Alice.", hold: true };
const bought = await client.callTool({ name: "ask", arguments: request });
console.log(bought.content[0].text);

const run = bought.structuredContent;
const undone = await client.callTool({ name: "run", arguments: { run: run.run_id, action: "undo" } });
console.log(run.state, "then", undone.structuredContent.state);
await client.close();
