import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type ExampleIds,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { InteractHeaders, InteractRequest } from './request.ts';
import { ActiveTask, CopilotError, InteractResponse, MessageHistory, wrapped } from './response-schemas.ts';
import {
  ActiveTaskQuery,
  ArchiveBody,
  CopilotSessionStatus,
  DomainPath,
  InitBody,
  KnowledgeQuery,
  ListQuery,
  LoginBody,
  MessagesQuery,
  Preferences,
  RenameBody,
  SessionPath,
  StatusQuery,
  Uuid,
} from './schemas.ts';

// Responses about sessions and accounts.

const CopilotSession = named(
  'CopilotSession',
  z.object({
    sessionId: z.string(),
    title: z.string(),
    isRenamed: z.boolean().describe('a user chose the title'),
    status: CopilotSessionStatus,
    url: z.string(),
    domain: z.string().optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    messageCount: z.number().int(),
    metadata: z.object({
      dialect: z.string(),
      initialQuery: z.string().describe('the start of the first query; empty if there is none yet'),
    }),
  }),
);
const Shown = CopilotSession.extend({ session: CopilotSession });

const SessionShown = named('CopilotSessionShown', wrapped(Shown));

const Renamed = CopilotSession.extend({ updatedAt: z.number().int().describe('milliseconds') });
const SessionRenamed = named(
  'CopilotSessionRenamed',
  wrapped(Renamed.extend({ session: Renamed })).extend({ session: Renamed }),
);
const SessionFound = named('CopilotSessionFound', wrapped(z.union([Shown, z.object({ session: z.null() })])));
const SessionPage = named(
  'CopilotSessionPage',
  wrapped(
    z.object({
      sessions: z.array(CopilotSession),
      pagination: z.object({
        total: z.number().int(),
        limit: z.number().int(),
        offset: z.number().int(),
        hasMore: z.boolean(),
      }),
    }),
  ),
);
const SessionArchived = named(
  'CopilotSessionArchived',
  wrapped(z.object({ sessionId: Uuid, status: z.literal('archived'), message: z.string() })),
);
const SessionBegun = named(
  'CopilotSessionBegun',
  wrapped(z.object({ sessionId: Uuid, created: z.boolean() })),
);

// Accounts

const Account = named(
  'CopilotAccount',
  z.object({
    user: z.object({ id: z.string(), email: z.string(), name: z.string() }),
    tenantId: z.string(),
    tenantName: z.string(),
  }),
);
const LoggedIn = named(
  'CopilotLogin',
  Account.extend({ accessToken: z.string(), expiresAt: z.iso.datetime() }),
);
const KeptPreferences = named(
  'CopilotKeptPreferences',
  z.object({ preferences: Preferences, syncedAt: z.iso.datetime().optional() }),
);
const SavedPreferences = named(
  'CopilotSavedPreferences',
  z.object({ success: z.literal(true), preferences: Preferences, syncedAt: z.iso.datetime() }),
);
const Knowledge = named(
  'CopilotKnowledge',
  z.object({
    allowed: z.literal(true),
    domain: z.string(),
    hasOrgKnowledge: z.boolean(),
    context: z.array(z.json()),
    citations: z.array(z.json()),
  }),
);

// Errors

// Examples of `/api/agent/interact`.

/** Elements are numbered so that actions can refer to them. */
const PAGE = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

const interactExamples = ({
  session,
  task,
  site,
}: ExampleIds): readonly [RequestExample, ...RequestExample[]] => [
  {
    title: 'Start a task on a page',
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE, sessionId: session },
  },
  {
    title: 'Start a task in a new session',
    first: true,
    creates: true,
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE },
  },
  { title: 'Answer a question: yes or no', body: { query: 'yes', sessionId: session } },
  {
    title: 'Report that the last action succeeded',
    body: { query: QUERY, sessionId: session, taskId: task, lastActionStatus: 'success' },
  },
  {
    title: 'Report everything that a client may report',
    probe: true,
    body: {
      query: 'click the Submit button',
      url: `https://${site}/`,
      dom: '<form><input id="1" name="q"><button id="4">Submit</button></form>',
      sessionId: session,
      interactiveTree: [{ id: 1, role: 'button', name: 'Submit', children: [] }],
      semanticNodes: [{ id: '4', tag: 'button', text: 'Submit' }],
      lastActionStatus: 'success',
      lastActionError: { message: 'no', code: 'E', action: 'click(4)', elementId: 4 },
      clientVerification: { elementFound: true, selector: '#4', urlChanged: false },
    },
  },
];

const ERRORS = {
  400: 'VALIDATION_ERROR: invalid request',
  401: 'UNAUTHORIZED: missing or invalid token',
  403: 'FORBIDDEN: the session belongs to another user',
  404: 'SESSION_NOT_FOUND',
  409: 'RESOURCE_CONFLICT: the session is busy',
  429: 'RATE_LIMIT: too many failed logins; retryAfter and Retry-After are in seconds',
} as const;

const errors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: CopilotError }]));

const tasks: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/api/agent/interact',
    summary: 'One step of a task: takes the result of the last action, returns the next action',
    security: 'token',
    examples: (ids) => interactExamples(ids),
    ids: [{ id: 'task', at: 'data.taskId' }],
    foreign: 'forbidden',
    headers: InteractHeaders,
    body: named('InteractRequest', InteractRequest),
    answers: {
      200: { description: 'The next action, or a question to the user', schema: InteractResponse },
      ...errors(400, 401, 403, 409),
    },
  },
  {
    method: 'get',
    path: '/api/session/{sessionId}/task/active',
    summary: 'The current task of a session',
    security: 'token',
    examples: ({ session }) => [{ title: 'Get the current task', params: { sessionId: session } }],
    foreign: 'forbidden',
    params: SessionPath,
    query: ActiveTaskQuery,
    answers: { 200: { description: 'The task, or null', schema: ActiveTask }, ...errors(400, 401, 403) },
  },
];

const sessions: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/session',
    summary: 'Lists the sessions of the caller whose id is a UUID, by last change, latest first',
    security: 'token',
    examples: () => [
      { title: 'List sessions' },
      { title: 'List archived sessions, too', query: { includeArchived: 'true', limit: '100', offset: '0' } },
    ],
    query: ListQuery,
    answers: { 200: { description: 'One page', schema: SessionPage }, ...errors(400, 401, 403) },
  },
  {
    method: 'post',
    path: '/api/session',
    summary: 'Archives a session',
    security: 'token',
    examples: ({ session }) => [{ title: 'Archive a session', body: { sessionId: session } }],
    foreign: 'forbidden',
    body: named('CopilotArchiveRequest', ArchiveBody),
    answers: {
      200: { description: 'Archived', schema: SessionArchived },
      ...errors(400, 401, 403, 404),
    },
  },
  {
    method: 'post',
    path: '/api/session/init',
    summary: 'Creates a session with an id chosen by the client; an existing one is unchanged',
    security: 'token',
    examples: ({ session }) => [
      {
        title: 'Start a session',
        body: { sessionId: session, title: 'A lamp', url: 'http://elsewhere.example/' },
      },
    ],
    foreign: 'forbidden',
    body: named('CopilotInitRequest', InitBody),
    answers: { 200: { description: 'The session exists', schema: SessionBegun }, ...errors(400, 401, 403) },
  },
  {
    method: 'get',
    path: '/api/session/latest',
    summary: 'The last changed session',
    security: 'token',
    examples: () => [{ title: 'Get the latest session' }],
    query: StatusQuery,
    answers: { 200: { description: 'The session', schema: CopilotSession }, ...errors(400, 401, 403, 404) },
  },
  {
    method: 'get',
    path: '/api/session/by-domain/{domain}',
    summary: 'The last changed session of a site',
    security: 'token',
    examples: ({ site }) => [{ title: 'Get the session of a site', params: { domain: site } }],
    params: DomainPath,
    query: StatusQuery,
    answers: { 200: { description: 'The session, or null', schema: SessionFound }, ...errors(400, 401, 403) },
  },
  {
    method: 'get',
    path: '/api/session/{sessionId}',
    summary: 'A session',
    security: 'token',
    examples: ({ session }) => [{ title: 'Get a session', params: { sessionId: session } }],
    foreign: 'forbidden',
    params: SessionPath,
    answers: { 200: { description: 'The session', schema: SessionShown }, ...errors(400, 401, 403, 404) },
  },
  {
    method: 'patch',
    path: '/api/session/{sessionId}',
    summary: 'Renames a session',
    security: 'token',
    examples: ({ session }) => [
      { title: 'Rename a session', params: { sessionId: session }, body: { title: 'A lamp' } },
    ],
    foreign: 'forbidden',
    params: SessionPath,
    body: named('CopilotRenameRequest', RenameBody),
    answers: { 200: { description: 'The session', schema: SessionRenamed }, ...errors(400, 401, 403, 404) },
  },
  {
    method: 'get',
    path: '/api/session/{sessionId}/messages',
    summary: 'The latest messages, oldest first; empty for an unknown session',
    security: 'token',
    examples: ({ session }) => [{ title: 'List messages', params: { sessionId: session } }],
    foreign: 'forbidden',
    params: SessionPath,
    query: MessagesQuery,
    answers: { 200: { description: 'The messages', schema: MessageHistory }, ...errors(400, 401, 403) },
  },
];

const accounts: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/api/v1/auth/login',
    summary: 'A token for a name and a password; it works in every dialect',
    security: 'nobody',
    examples: ({ owner }) => [{ title: 'Log in', body: { email: owner, password: 'a guess' } }],
    body: named('CopilotLoginRequest', LoginBody),
    answers: {
      200: { description: 'The token', schema: LoggedIn },
      ...errors(400, 429),
      401: { description: 'INVALID_CREDENTIALS', schema: CopilotError },
    },
  },
  {
    method: 'get',
    path: '/api/v1/auth/session',
    summary: 'The user of the token',
    security: 'token',
    examples: () => [{ title: 'Who am I?' }],
    answers: { 200: { description: 'The account', schema: Account }, ...errors(401) },
  },
  {
    method: 'post',
    path: '/api/v1/auth/logout',
    summary: 'Revokes the token and closes its connections',
    security: 'token',
    examples: () => [{ title: 'Log out: ends the token of this client' }],
    revokesToken: true,
    answers: { 204: { description: 'The token is revoked' }, ...errors(401) },
  },
  {
    method: 'get',
    path: '/api/v1/user/preferences',
    summary: 'The preferences of the user',
    security: 'token',
    examples: () => [{ title: 'Get user preferences' }],
    answers: { 200: { description: 'The preferences', schema: KeptPreferences }, ...errors(401) },
  },
  {
    method: 'post',
    path: '/api/v1/user/preferences',
    summary: 'Stores preferences of the user',
    security: 'token',
    examples: ({ owner }) => [
      { title: 'Set the light theme', body: { theme: 'light' } },
      {
        title: 'Set the theme of another user',
        probe: true,
        body: { theme: 'light', id: owner, user: owner },
      },
    ],
    body: named('CopilotPreferences', Preferences),
    answers: { 200: { description: 'Stored', schema: SavedPreferences }, ...errors(400, 401) },
  },
  {
    method: 'get',
    path: '/api/knowledge/resolve',
    summary: 'Knowledge of a site: always empty, there is no knowledge base',
    security: 'token',
    examples: ({ site }) => [{ title: 'Get knowledge of a site', query: { url: `http://${site}/` } }],
    query: KnowledgeQuery,
    answers: { 200: { description: 'Empty lists', schema: Knowledge }, ...errors(400, 401) },
  },
];

export const description: Description = {
  title: 'Browser copilot',
  summary:
    'Side panels that execute browser actions step by step, over REST. Messages are pushed to the channel private-session-<id>.',
  note: 'Always needs a token, even in open mode.',
  needsToken: true,
  endpoints: [...tasks, ...sessions, ...accounts],
};
