// The official TypeScript client, version 2:
//
//   node typescript_v2.mjs URL REVISION TOOL...
//
// It lists the tools, calls those named, and prints what came of it as JSON. An
// empty revision leaves the choice to the client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, revision, ...names] = process.argv.slice(2);

const modes = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' };
const client = new Client(
  { name: 'interop', version: '1.0.0' },
  {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    ...(revision && { versionNegotiation: { mode: modes[revision] } }),
  },
);
client.setRequestHandler('elicitation/create', ({ params }) => ({
  action: 'accept',
  content: 'color' in params.requestedSchema.properties ? { color: 'blue' } : { name: 'Alice' },
}));
client.setRequestHandler('sampling/createMessage', () => ({
  role: 'assistant',
  content: { type: 'text', text: 'Hi' },
  model: 'none',
}));
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }));

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
