// The official TypeScript client, version 1:
//
//   node typescript_v1.mjs URL REVISION TOOL...
//
// It lists the tools, calls those named, and prints what came of it as JSON.
// This client knows the handshake alone, so the revision changes nothing.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const [url, , ...names] = process.argv.slice(2);

const client = new Client(
  { name: 'interop', version: '1.0.0' },
  { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
);
client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
  action: 'accept',
  content: 'color' in params.requestedSchema.properties ? { color: 'blue' } : { name: 'Alice' },
}));
client.setRequestHandler(CreateMessageRequestSchema, () => ({
  role: 'assistant',
  content: { type: 'text', text: 'Hi' },
  model: 'none',
}));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///a' }] }));

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const report = { tools: (await client.listTools()).tools.map((tool) => tool.name), calls: {} };
for (const name of names) {
  try {
    const result = await client.callTool({ name, arguments: {} });
    const text = (result.content ?? []).map((block) => block.text).join(' ');
    report.calls[name] = { text, isError: result.isError ?? false };
  } catch (error) {
    report.calls[name] = { error: error.message };
  }
}
await client.close();
console.log(JSON.stringify(report));
