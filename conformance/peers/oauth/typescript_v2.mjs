// The official TypeScript client, version 2, with its own sign-in:
//
//   node typescript_v2.mjs URL TOOL DOCUMENT REDIRECT [switch]
//
// It signs in when asked to, lists the tools, calls one and prints what came of
// it as JSON. DOCUMENT is the address of the client's metadata, empty for a
// client that registers. With "switch" somebody else signs in between the first
// round and the second, in the same program.
import { auth, Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, tool, document, redirect, then] = process.argv.slice(2);

// What a program keeps for the person who uses it. The browser is sent back at
// once, and where to is read from the reply.
class Person {
  redirectUrl = redirect;
  clientMetadataUrl = document || undefined;
  clientMetadata = {
    client_name: 'oauth',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  kept = {};
  state = () => crypto.randomUUID();
  clientInformation = () => this.kept.client;
  saveClientInformation = (client) => void (this.kept.client = client);
  tokens = () => this.kept.tokens;
  saveTokens = (tokens) => void (this.kept.tokens = tokens);
  codeVerifier = () => this.kept.verifier;
  saveCodeVerifier = (verifier) => void (this.kept.verifier = verifier);
  discoveryState = () => this.kept.discovery;
  saveDiscoveryState = (discovery) => void (this.kept.discovery = discovery);
  redirectToAuthorization = async (address) => {
    const reply = await fetch(address, { redirect: 'manual' });
    this.callback = new URL(reply.headers.get('location')).searchParams;
  };
  // What came with the browser, once.
  takeCallback() {
    const callback = this.callback;
    this.callback = undefined;
    return callback;
  }
}

const person = new Person();

async function changePeople() {
  const other = new Person();
  await auth(other, { serverUrl: url, scope: 'mcp offline_access' });
  const callback = other.takeCallback();
  await auth(other, { serverUrl: url, authorizationCode: callback.get('code'), iss: callback.get('iss') });
  person.kept = other.kept;
}

async function connect() {
  const client = new Client(
    { name: 'oauth', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if ('color' in params.requestedSchema.properties) return { action: 'accept', content: { color: 'blue' } };
    if (then === 'switch') await changePeople();
    return { action: 'accept', content: { name: 'Alice' } };
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: person });
  return { client, transport };
}

// Tries again after a sign-in that the client left to the program.
async function signedIn(transport, attempt) {
  try {
    return await attempt();
  } catch (error) {
    const callback = person.takeCallback();
    if (!(error instanceof UnauthorizedError) || !callback) throw error;
    await transport().finishAuth(callback);
    return attempt();
  }
}

let session;
await signedIn(
  () => session.transport,
  async () => {
    session = await connect();
    await session.client.connect(session.transport);
  },
);
const report = { tools: (await session.client.listTools()).tools.map((listed) => listed.name) };
try {
  const result = await signedIn(
    () => session.transport,
    () => session.client.callTool({ name: tool, arguments: {} }),
  );
  report.text = result.content.map((block) => block.text).join(' ');
  report.isError = result.isError ?? false;
} catch (error) {
  report.error = error.message;
}
await session.client.close();
console.log(JSON.stringify(report));
