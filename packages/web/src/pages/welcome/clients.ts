/** Connection instructions for each kind of client. */
import { listenersOf, type ServerInfo, socketAt } from './server-info.ts';
import { curl, type Snippet, wscat } from './snippet.ts';

export type Client = {
  readonly dialect: string;
  readonly name: string;
  /** who uses it, and what to configure there */
  readonly about: string;
  /** addresses to enter in the client */
  readonly addresses: readonly string[];
  /** a common pitfall */
  readonly note?: string;
  readonly snippets: readonly Snippet[];
};

const TEXT = 'count to 20';

export const clientsOf = (server: ServerInfo): readonly Client[] => [
  extension(server),
  broadcast(server),
  agentloop(server),
  conversations(server),
  copilot(server),
  ...(server.channels ? [pusher(server, server.channels)] : []),
  native(server),
];

function extension(server: ServerInfo): Client {
  const needsToken = server.auth === 'required';
  const address = socketAt(server, '/extension');
  return {
    dialect: 'extension',
    name: 'Browser extension',
    about: 'Browser extensions and C clients with browser tools. Set the WebSocket address in the options.',
    addresses: [address, ...listenersOf(server, 'extension', 'ws')],
    note: 'Allow the extension’s origin: start the server with ALLOWED_ORIGINS=chrome-extension://ID.',
    snippets: [
      wscat('Register and send a message', {
        address,
        needsToken,
        frames: [
          { type: 'client_registration', clientType: 'browser_extension', capabilities: [] },
          { type: 'chat_message', content: TEXT, sessionId: 'demo' },
        ],
      }),
    ],
  };
}

function broadcast(server: ServerInfo): Client {
  const needsToken = server.auth === 'required';
  return {
    dialect: 'broadcast',
    name: 'Chat page',
    about: 'Simple chat pages and REPLs: send a message, receive everything that happens.',
    addresses: [
      socketAt(server, needsToken ? '/broadcast' : '/ws'),
      ...listenersOf(server, 'broadcast', 'ws'),
    ],
    snippets: [
      wscat('Send a message', {
        address: socketAt(server, '/broadcast'),
        needsToken,
        frames: [{ type: 'chat', message: TEXT, session_id: 'demo' }],
      }),
    ],
  };
}

function agentloop(server: ServerInfo): Client {
  const address = socketAt(server, '/agentloop');
  const content = [{ type: 'input_text', text: TEXT }];
  return {
    dialect: 'agentloop',
    name: 'Terminal agent',
    about: 'Terminal and web front ends of a coding agent. ?session=NAME joins a session.',
    addresses: [address, ...listenersOf(server, 'agentloop', 'ws')],
    snippets: [
      wscat('Send a message to the session demo', {
        address: `${address}?session=demo`,
        needsToken: server.auth === 'required',
        frames: [
          { id: '1', type: 'user_input', payload: { input: [{ type: 'message', role: 'user', content }] } },
        ],
      }),
    ],
  };
}

function conversations(server: ServerInfo): Client {
  return {
    dialect: 'conversations',
    name: 'Conversations',
    about: 'Chat applications with logins, domains and agents: REST, and one WebSocket with ?token=…',
    addresses: [
      server.origin,
      socketAt(server, '/ws?token=…'),
      ...listenersOf(server, 'conversations', 'http'),
    ],
    note: 'Always needs a token, even in open mode.',
    snippets: [
      wscat('Send a message', {
        address: socketAt(server, '/conversations'),
        needsToken: true,
        frames: [{ type: 'send_message', conversationId: 'temp-demo', payload: { content: TEXT } }],
      }),
      curl('List conversations', {
        address: `${server.origin}/v1/conversations`,
        needsToken: true,
      }),
    ],
  };
}

function copilot({ origin }: ServerInfo): Client {
  const dom = '<label for="7">Search</label><input id="7" type="text"><button id="8">Go</button>';
  return {
    dialect: 'copilot',
    name: 'Browser copilot',
    about: 'Side panels that carry out browser actions step by step. Set the API address.',
    addresses: [origin],
    note: 'Always needs a token, even in open mode.',
    snippets: [
      curl('First step of a task', {
        address: `${origin}/api/agent/interact`,
        needsToken: true,
        body: { query: 'type tea into the search field', url: 'https://shop.example.com/', dom },
      }),
    ],
  };
}

function pusher(server: ServerInfo, { key, host }: NonNullable<ServerInfo['channels']>): Client {
  const base = {
    dialect: 'pusher',
    name: 'Pusher channels',
    about: 'pusher-js, laravel-echo and compatible clients receive the events of a session.',
  };
  if (host !== null)
    return {
      ...base,
      addresses: [host],
      note: 'An external server serves the channels (SOCKUDO_HOST): clients connect there, and this server triggers events.',
      snippets: [pusherScript(server, key, host)],
    };
  const path = `/app/${encodeURIComponent(key)}`;
  return {
    ...base,
    addresses: [
      socketAt(server, path),
      ...listenersOf(server, 'pusher', 'ws').map((listener) => `${listener}${path}`),
    ],
    snippets: [
      pusherScript(server, key, null),
      wscat('Subscribe to a public channel', {
        address: socketAt(server, `${path}?protocol=7`),
        needsToken: false,
        frames: [{ event: 'pusher:subscribe', data: { channel: 'demo' } }],
      }),
    ],
  };
}

function pusherScript({ origin }: ServerInfo, key: string, elsewhere: string | null): Snippet {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const where =
    elsewhere === null
      ? `wsHost: '${hostname}', wsPort: ${port || '80'}, wssPort: ${port || '443'}, forceTLS: ${secure},`
      : `wsHost: '${elsewhere}',`;
  const code = `const token = 'the access_token of a login';
const sessionId = 'the id of a session';
const pusher = new Pusher(${JSON.stringify(key)}, {
  cluster: 'none', enabledTransports: ['ws', 'wss'],
  ${where}
  channelAuthorization: {
    endpoint: '${origin}/api/pusher/auth',
    headers: { authorization: \`Bearer \${token}\` },
  },
});
pusher.subscribe(\`private-session-\${sessionId}\`).bind('new_message', console.log);`;
  return { title: 'With pusher-js', language: 'js', code, needsToken: false };
}

function native({ origin, auth }: ServerInfo): Client {
  const needsToken = auth === 'required';
  const session = `${origin}/v1/sessions/demo`;
  const code = `import { connect } from '@parlance/sdk';

const parlance = connect({ url: '${origin}'${needsToken ? ', token: process.env.PARLANCE_TOKEN' : ''} });
const session = parlance.session('demo');
const { seq } = await session.submit('${TEXT}');
for await (const event of session.events({ after: seq })) {
  if (event.type === 'text.delta') process.stdout.write(event.text);
  if (event.type === 'turn.ended') break;
}`;
  return {
    dialect: 'native',
    name: 'Scripts and the SDK',
    about: 'The native API: commands in, events out. This console uses it, too.',
    addresses: [origin, `${origin}/openapi.json`],
    snippets: [
      curl('Send a message', {
        address: `${session}/commands`,
        needsToken,
        body: { type: 'input.submit', parts: [{ type: 'text', text: TEXT }] },
      }),
      curl('Follow the events', { address: `${session}/events`, needsToken, stream: true }),
      { title: 'With @parlance/sdk', language: 'ts', code, needsToken },
    ],
  };
}
