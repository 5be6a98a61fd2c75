import {
  AgentRef,
  Ask,
  Command,
  ContextUse,
  DirectCall,
  FaultData,
  HistoryItem,
  Part,
  Usage,
} from '@parlance/protocol';
import * as api from '@parlance/protocol/api';
import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type ExampleIds,
  named,
  type RequestExample,
} from '../kit/description.ts';

// Names of the schemas in the documents.

const FIELDS = { Ask, AgentRef, Fault: FaultData, Part, Usage, ContextUse, DirectCall, HistoryItem };
// Parameters are described one by one, and streams as text.
for (const [name, schema] of Object.entries({ ...FIELDS, ...api }))
  if (!/^Snapshot$|(?:Query|Headers)$/.test(name)) named(name, schema);

const ERRORS = {
  400: 'Invalid request; the message names the field',
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  404: 'Not found, or it belongs to another user',
  409: 'Not possible in the current state',
  429: 'Rate limited; Retry-After is in seconds',
  502: 'The model API is unreachable',
} as const;

const errors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: api.NativeError }]));

// Links to a session for people without an account.

const shares: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/sessions/{id}/shares',
    summary: 'The links to this session',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: {
      200: { description: 'In order of creation', schema: api.ShareList },
      ...errors(401, 403, 404),
    },
  },
  {
    method: 'post',
    path: '/v1/sessions/{id}/shares',
    summary: 'Creates a read-only link to this session as it is now, for everyone who has the link',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: {
      201: { description: '`path` is the link; it is not shown again', schema: api.MadeShare },
      ...errors(400, 401, 403, 404),
    },
  },
  {
    method: 'delete',
    path: '/v1/sessions/{id}/shares/{share}',
    summary: 'Revokes a link',
    security: 'caller',
    examples: ({ session, key }) => [{ params: { id: session, share: key } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/shared/{token}',
    summary: 'The page behind a link: the messages, without input and output of tools',
    security: 'nobody',
    examples: ({ key }) => [{ params: { token: key } }],
    answers: {
      200: { description: 'The messages', type: 'text/html', schema: z.string() },
      404: {
        description: 'Unknown, revoked, or its session was archived',
        type: 'text/html',
        schema: z.string(),
      },
    },
  },
];

// Endpoints that change the setup while the server runs.

const setup: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/admin/settings',
    summary:
      'The settings that can be changed while the server runs, without secrets; for admins, in part for the local user in open mode',
    security: 'token',
    answers: { 200: { description: 'The settings', schema: api.Settings }, ...errors(401, 403) },
  },
  {
    method: 'patch',
    path: '/v1/admin/settings',
    summary:
      'Changes stored settings and applies them at once, on every node. Flags, environment and config file take precedence',
    security: 'token',
    examples: () => [{ body: { version: 0, values: { allowedOrigins: ['https://chat.example.com'] } } }],
    body: api.SettingsChange,
    answers: {
      200: { description: 'Stored and in use', schema: api.Settings },
      ...errors(400, 401, 403, 409),
    },
  },
  {
    method: 'post',
    path: '/v1/admin/models',
    summary: 'Lists the models of a model API, to test a key and a base URL before storing them',
    security: 'token',
    examples: () => [{ body: { provider: 'google', address: 'http://127.0.0.1:9' } }],
    body: api.ModelQuestion,
    answers: { 200: { description: 'The models', schema: api.ModelListing }, ...errors(400, 401, 403, 502) },
  },
  {
    method: 'get',
    path: '/v1/admin/agents',
    summary: 'Agents with their instructions, and the tools that an agent can have',
    security: 'token',
    answers: { 200: { description: 'The agents and tools', schema: api.AgentSetup }, ...errors(401, 403) },
  },
  {
    method: 'post',
    path: '/v1/admin/mcp/{name}/restart',
    summary: 'Stops an MCP server and starts it again; for admins, and for the local user in open mode',
    security: 'token',
    examples: () => [{ params: { name: 'files' } }],
    answers: { 204: { description: 'Restarted; the start may still fail' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/v1/admin/origins',
    summary: 'Browser origins that were refused recently, latest first; for admins',
    security: 'token',
    changing: true,
    answers: { 200: { description: 'The origins', schema: api.RefusedOriginList }, ...errors(401, 403) },
  },
  {
    method: 'get',
    path: '/v1/server/models',
    summary: 'The models of all providers that have a key or an address, the one in use first',
    security: 'caller',
    answers: { 200: { description: 'The models', schema: api.ModelList }, ...errors(401, 403) },
  },
];

// Pairing of browser extensions.

const pairings: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/v1/pairings',
    summary: 'Requests the pairing of a browser extension. The request must have the origin of an extension',
    security: 'nobody',
    examples: () => [{ body: { name: 'Parlance on my laptop' } }],
    body: api.NewPairing,
    answers: {
      201: {
        description: 'The code that a user approves, and the token that becomes valid then',
        schema: api.MadePairingRequest,
      },
      ...errors(400, 403, 429),
    },
  },
  {
    method: 'get',
    path: '/v1/pairings/own',
    summary: 'The state of the pairing that the token belongs to, including before it is approved',
    security: 'token',
    answers: {
      200: { description: 'Waiting or approved', schema: api.OwnPairing },
      ...errors(401, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/own',
    summary: 'Ends the pairing of the calling extension',
    security: 'token',
    answers: { 204: { description: 'The token is revoked' }, ...errors(401, 404, 429) },
  },
  {
    method: 'get',
    path: '/v1/pairings',
    summary: 'The caller’s paired extensions; in open mode also those waiting for approval',
    security: 'caller',
    answers: {
      200: { description: 'In order of approval', schema: api.PairingList },
      ...errors(401, 403, 429),
    },
  },
  {
    method: 'post',
    path: '/v1/pairings/find',
    summary: 'The pairing request with this code',
    security: 'caller',
    examples: ({ code }) => [{ body: { code } }],
    body: api.PairingCode,
    answers: {
      200: { description: 'It waits', schema: api.PairingRequest },
      ...errors(400, 401, 403, 404, 429),
    },
  },
  {
    method: 'post',
    path: '/v1/pairings/answer',
    summary:
      'Approves or denies the pairing request with this code. An approved extension acts as the caller',
    security: 'caller',
    examples: ({ code }) => [{ body: { code, allow: true } }],
    body: api.PairingAnswer,
    answers: {
      200: { description: 'Paired', schema: api.Pairing },
      204: { description: 'Denied' },
      ...errors(400, 401, 403, 404, 429),
    },
  },
  {
    method: 'delete',
    path: '/v1/pairings/{id}',
    summary:
      'Revokes a paired extension of the caller, or of any user for admins, and closes its connections',
    security: 'caller',
    examples: ({ pairing }) => [{ params: { id: pairing } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404, 429) },
  },
];

// API keys.

const keys: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/keys',
    summary: 'The caller’s API keys',
    security: 'token',
    answers: {
      200: { description: 'In order of creation', schema: api.ApiKeyList },
      ...errors(401, 403),
    },
  },
  {
    method: 'post',
    path: '/v1/keys',
    summary: 'Creates an API key that acts as the caller. Needs a login: a key cannot create keys',
    security: 'token',
    examples: () => [
      { body: { name: 'laptop', role: 'user', dialects: ['native'] } },
      { body: { name: 'everything', role: 'admin' }, probe: true },
    ],
    body: api.NewApiKey,
    answers: {
      201: { description: '`key` is the secret; it is not shown again', schema: api.MadeApiKey },
      ...errors(400, 401, 403),
    },
  },
  {
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revokes an API key of the caller, or of any user for admins, and closes its connections',
    security: 'token',
    examples: ({ key }) => [{ params: { id: key } }],
    answers: { 204: { description: 'Revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'get',
    path: '/v1/admin/keys',
    summary: 'The API keys of all users; for admins',
    security: 'token',
    answers: {
      200: { description: 'In order of creation', schema: api.ApiKeyList },
      ...errors(401, 403),
    },
  },
];

// Administration endpoints.

const admin: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/admin/users',
    summary: 'Lists the users; for admins',
    security: 'token',
    answers: { 200: { description: 'The users, by name', schema: api.UserList }, ...errors(401, 403) },
  },
  {
    method: 'post',
    path: '/v1/admin/users',
    summary: 'Adds a user; for admins',
    security: 'token',
    examples: ({ owner }) => [{ body: { name: owner, password: 'a password', role: 'admin' } }],
    body: api.NewUser,
    answers: { 201: { description: 'The user', schema: api.User }, ...errors(400, 401, 403) },
  },
  {
    method: 'patch',
    path: '/v1/admin/users/{name}',
    summary:
      'Changes the role or password of a user and revokes their tokens; for admins. The last admin cannot be demoted',
    security: 'token',
    examples: ({ owner: name }) => [
      { params: { name }, body: { password: 'a password' } },
      { params: { name }, body: { role: 'user' } },
    ],
    body: api.UserChange,
    answers: { 200: { description: 'The user', schema: api.User }, ...errors(400, 401, 403, 404) },
  },
  {
    method: 'delete',
    path: '/v1/admin/users/{name}',
    summary: 'Removes a user and revokes their tokens; for admins. The last admin cannot be removed',
    security: 'token',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'Removed' }, ...errors(401, 403, 404) },
  },
  {
    method: 'post',
    path: '/v1/admin/users/{name}/logout',
    summary: 'Revokes all tokens of a user and closes their connections; for admins',
    security: 'token',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'The tokens are revoked' }, ...errors(401, 403, 404) },
  },
  {
    method: 'post',
    path: '/v1/auth/password',
    summary: 'Changes the password of the caller and revokes earlier tokens',
    security: 'token',
    examples: ({ owner }) => [{ body: { old: `${owner}-password`, new: 'a password' } }],
    body: api.NewPassword,
    answers: {
      200: { description: 'Changed; a new token', schema: api.Token },
      ...errors(400, 401, 403, 429),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/nodes',
    summary: 'The nodes that serve together, with the sessions that each drives; for admins',
    security: 'token',
    changing: true,
    answers: {
      200: { description: 'In the order of their start; one without DATABASE_URL', schema: api.NodeList },
      ...errors(401, 403),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/listeners',
    summary: 'The listeners with their socket counts',
    security: 'caller',
    changing: true,
    answers: {
      200: { description: 'The listeners, the default one first', schema: api.ListenerList },
      ...errors(401, 403),
    },
  },
  {
    method: 'get',
    path: '/v1/admin/mcp',
    summary: 'The configured MCP servers and their state',
    security: 'caller',
    answers: { 200: { description: 'The servers', schema: api.McpServerList }, ...errors(401, 403) },
  },
  {
    method: 'get',
    path: '/v1/grants',
    summary: 'The standing grants in all sessions of the caller',
    security: 'caller',
    examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
    query: api.PageQuery,
    answers: {
      200: { description: 'The grants of one page of sessions', schema: api.StandingGrants },
      ...errors(400, 401, 403),
    },
  },
];

const prices: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/v1/prices',
    summary: 'Prices of models in US dollars per million tokens, as an admin has set them',
    security: 'caller',
    answers: { 200: { description: 'By the name of the model', schema: api.Prices }, ...errors(401) },
  },
  {
    method: 'post',
    path: '/v1/admin/prices',
    summary: 'Sets or removes the price of a model; for admins',
    security: 'token',
    examples: () => [{ body: { model: 'gpt-5', price: { input: 1.25, output: 10, cached: 0.125 } } }],
    body: api.NewPrice,
    answers: { 200: { description: 'All prices', schema: api.Prices }, ...errors(400, 401, 403) },
  },
];

const SDK_SCRIPT = {
  title: 'With @parlance/sdk',
  language: 'ts',
  code: `import { connect } from '@parlance/sdk';

const parlance = connect({ url: '{{origin}}', token: process.env.PARLANCE_TOKEN });
const session = parlance.session('demo');
const { seq } = await session.submit('count to 20');
for await (const event of session.events({ after: seq })) {
  if (event.type === 'text.delta') process.stdout.write(event.text);
  if (event.type === 'turn.ended') break;
}`,
} as const;

export const description: Description = {
  title: 'Scripts and the SDK',
  summary: 'The native API: commands in, events out. The console uses it, too.',
  scripts: [SDK_SCRIPT],
  commands: {
    path: '/v1/sessions/{id}/commands',
    ids: {
      'approval.requested': [
        { id: 'approval', at: 'approval' },
        { id: 'call', at: 'call' },
        { id: 'hash', at: 'hash' },
      ],
      'call.requested': [{ id: 'call', at: 'call' }],
    },
  },
  endpoints: [
    {
      method: 'get',
      path: '/v1/sessions',
      summary: 'Lists sessions by last change, latest first',
      security: 'caller',
      examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
      query: api.SessionsQuery,
      answers: { 200: { description: 'One page', schema: api.SessionPage }, ...errors(400, 401, 403) },
    },
    {
      method: 'get',
      path: '/v1/search',
      summary: 'Searches the messages of the caller’s sessions, latest first',
      security: 'caller',
      examples: () => [{ query: { q: 'count' } }],
      query: api.SearchQuery,
      answers: { 200: { description: 'One page', schema: api.FoundPage }, ...errors(400, 401, 403) },
    },
    {
      method: 'get',
      path: '/v1/tags',
      summary: 'The tags of the caller’s sessions, and how many have them',
      security: 'caller',
      answers: { 200: { description: 'The tags', schema: api.TagList }, ...errors(401, 403) },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}',
      summary: 'A session and its current state',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The session', schema: api.SessionDetails }, ...errors(401, 403, 404) },
    },
    {
      method: 'delete',
      path: '/v1/sessions/{id}',
      summary: 'Permanently deletes a session and its events',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 204: { description: 'Deleted' }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/frames',
      summary: 'A live stream of the frames on the sockets attached to a session',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: {
        200: {
          description: '`attached`, then one `frame` each; `missed` if the reader was too slow',
          type: 'text/event-stream',
          schema: z.string(),
        },
        ...errors(401, 403, 404),
      },
    },
    {
      method: 'get',
      path: '/v1/server',
      summary: 'The server, its models and agents, and the caller',
      security: 'caller',
      answers: { 200: { description: 'About the server', schema: api.About }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/dialects',
      summary: 'The served dialects: addresses, messages with examples, and first steps',
      security: 'caller',
      answers: { 200: { description: 'The served dialects', schema: api.DialectList }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/activity',
      summary: 'A live stream of the events of all sessions of the caller',
      security: 'caller',
      examples: ({ owner }) => [{}, { query: { owner } }],
      answers: {
        200: {
          description:
            '`ready`, then the events, with `session.attached` when a client attaches or detaches, and `settings.changed` when `/v1/server` may have changed; `missed` if the reader was too slow',
          type: 'text/event-stream',
          schema: z.string(),
        },
        ...errors(401, 403),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/export',
      summary: 'A session as a file: JSON lines, readable by parlance import, or a document',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      query: api.ExportQuery,
      answers: {
        200: {
          description:
            'A header with the number of events, then one line per event; with `format`, Markdown or an HTML page',
          type: 'application/x-ndjson',
          schema: z.string(),
        },
        ...errors(401, 403, 404),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/events',
      summary: 'Events after a position; as a stream, followed by live events',
      security: 'caller',
      examples: ({ session }) => [
        { title: 'Follow the events', first: true, stream: true, params: { id: session } },
      ],
      query: api.EventsQuery,
      headers: z.object({
        'last-event-id': z.string().optional().describe('overrides `after`'),
      }),
      answers: {
        200: [
          { description: 'A page of events, or a stream of server-sent events', schema: api.EventPage },
          {
            description: '',
            type: 'text/event-stream',
            schema: z
              .string()
              .describe(
                'events, then `snapshot`, then live events; `reset` first if the position no longer exists',
              ),
          },
        ],
        ...errors(400, 401, 403, 404),
      },
    },
    {
      method: 'post',
      path: '/v1/sessions/{id}/commands',
      summary: 'Sends a command to a session; `session.create` and `input.submit` create a missing session',
      security: 'caller',
      examples: (ids) => commandExamples(ids),
      headers: api.CommandHeaders,
      body: named('Command', Command),
      answers: {
        200: { description: 'Executed and durable', schema: api.Receipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/grants',
      summary: 'The standing grants of a session',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The grants', schema: api.GrantList }, ...errors(401, 403, 404) },
    },
    {
      method: 'delete',
      path: '/v1/sessions/{id}/grants/{grant}',
      summary: 'Revokes a standing grant',
      security: 'caller',
      examples: ({ session, grant }) => [{ params: { id: session, grant } }],
      answers: { 200: { description: 'Revoked', schema: api.GrantRevoked }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/approvals',
      summary: 'Lists pending approvals that the caller may answer, by last change of their session',
      security: 'caller',
      examples: ({ owner, session }) => [{}, { query: { owner, session } }],
      query: api.PageQuery,
      answers: { 200: { description: 'One page', schema: api.ApprovalList }, ...errors(400, 401, 403) },
    },
    {
      method: 'post',
      path: '/v1/approvals/{id}',
      summary: 'Answers an approval; the first answer wins',
      security: 'caller',
      examples: ({ approval, hash }) => [
        { params: { id: approval }, body: { answer: 'once' } },
        { params: { id: approval }, body: { answer: 'always', hash } },
        { params: { id: approval }, body: { answer: 'deny', reason: 'Not this file.' } },
      ],
      body: api.AnswerApproval,
      answers: {
        200: { description: 'Answered', schema: api.ApprovalReceipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    ...shares,
    ...prices,
    ...keys,
    ...pairings,
    ...admin,
    ...setup,
  ],
};

// Examples of commands: at least one of each type.

/** The title and the fields of the command. */
type Example = readonly [title: string, fields?: object];

const text = (words: string) => [{ type: 'text', text: words }];

const COMMANDS: Readonly<Record<Command['type'], (ids: ExampleIds) => readonly Example[]>> = {
  'input.submit': () => [
    ['Send a message', { parts: text('count to 20') }],
    ['Ask for a command that needs approval', { parts: text('run touch hello.txt') }],
    ['Interrupt the running turn', { parts: text('count to 3'), mode: 'supersede' }],
    ['Let the model continue without a new message', { parts: [], continues: true }],
    [
      'Call a tool by name, without the model',
      { parts: text(''), call: { tool: 'echo', input: { value: 'Hello' } } },
    ],
  ],
  'session.create': () => [
    ['Create the session', { title: 'Playground' }],
    [
      'Import a conversation',
      {
        history: [
          { type: 'user', parts: text('What is 2 + 2?') },
          { type: 'call', call: 'call_1', tool: 'calculate', input: { expression: '2 + 2' } },
          { type: 'result', call: 'call_1', parts: text('4') },
          { type: 'text', text: 'It is 4.' },
        ],
      },
    ],
  ],
  'turn.cancel': ({ turn }) => [
    ['Stop the turn'],
    ['Stop one turn, or cancel its waiting message', { turn }],
  ],
  'approval.answer': ({ approval, hash }) => [
    ['Approve once', { answer: 'once' }],
    ['Approve always, exactly what was shown', { answer: 'always', approval, hash }],
    ['Deny with a reason', { answer: 'deny', approval, reason: 'Not this file.' }],
    ['Deny and end the turn', { answer: 'deny', approval, exit: true }],
  ],
  'approval.explain': ({ approval }) => [
    ['Ask for an explanation'],
    ['Ask for an explanation of one approval', { approval }],
  ],
  'call.answer': ({ call }) => [
    ['Return the result of a deferred call', { call, parts: text('It is done.') }],
  ],
  'session.rename': () => [['Rename the session', { title: 'Counting' }]],
  'session.configure': () => [
    ['Let edits run without approval', { approval: 'auto-edit' }],
    ['Use the model of the agent', { approval: 'suggest', model: null }],
  ],
  'session.archive': () => [['Archive the session']],
  'session.unarchive': () => [['Restore the session from the archive']],
  'session.pin': () => [['Pin the session'], ['Unpin the session', { pinned: false }]],
  'session.tag': () => [['Set the tags', { tags: ['counting', 'work'] }]],
  'session.label': () => [['Set a label', { labels: { topic: 'counting' } }]],
  'grant.revoke': ({ grant }) => [['Revoke a standing grant', { grant }]],
  'context.compact': () => [['Compact the context']],
  'session.clear': () => [['Clear the context']],
};

const CREATING: ReadonlySet<string> = new Set<Command['type']>(['session.create', 'input.submit']);

function commandExamples(ids: ExampleIds): readonly [RequestExample, ...RequestExample[]] {
  const params = { id: ids.session };
  const [first, ...others] = Object.entries(COMMANDS).flatMap(([type, examples]) =>
    examples(ids).map(
      ([title, fields], index): RequestExample => ({
        title,
        params,
        body: { type, ...fields },
        ...(CREATING.has(type) && { creates: true }),
        ...(type === 'input.submit' && index === 0 && { first: true }),
      }),
    ),
  );
  if (!first) throw new Error('there are no commands');
  return [first, ...others];
}
