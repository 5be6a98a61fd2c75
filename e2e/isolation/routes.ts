/** How each HTTP route is tried with somebody else's ids. A route that is not here fails the test with its name. */
import type { Ids } from './things.ts';

export type RouteTry = {
  /** the paths that are tried */
  readonly at: (ids: Ids) => readonly string[];
  readonly bodies?: (ids: Ids) => readonly unknown[];
  /** why nobody need be known: the answer is the same for everyone */
  readonly open?: string;
  /** the token is worth nothing afterwards */
  readonly spends?: true;
  /** numbers that change by themselves */
  readonly varies?: true;
  /** nothing of what was said stands in the answer */
  readonly wordless?: true;
  /** the contract says 403 for what is someone else's, and not what it says for what is not there */
  readonly forbidden?: true;
};

const same = (path: string) => (): readonly string[] => [path];
const SIGNED = 'the request must be signed with the secret of the application';

export const ROUTES: Readonly<Record<string, RouteTry>> = {
  'GET /health': { at: same('/health'), open: 'whether the server is up' },
  'GET /ready': { at: same('/ready'), open: 'whether the server takes work' },
  'GET /metrics': { at: same('/metrics'), varies: true },
  'GET /api/health': { at: same('/api/health'), open: 'whether the server is up' },
  'GET /api/config': { at: same('/api/config') },
  'GET /openapi.json': { at: same('/openapi.json'), open: 'the description of this API' },
  'GET /asyncapi.json': { at: same('/asyncapi.json'), open: 'the description of this API' },

  'GET /': { at: same('/'), open: 'the console, which shows nothing by itself' },
  'GET /assets/:file': { at: same('/assets/none.js'), open: 'what the console is made of' },
  'GET /v1/server': { at: same('/v1/server') },

  'POST /v1/auth/login': {
    at: same('/v1/auth/login'),
    bodies: ({ owner }) => [{ username: owner, password: 'a guess' }],
    open: 'it is how a token is come by',
  },
  'GET /v1/auth/me': { at: same('/v1/auth/me') },
  'GET /v1/domains': { at: same('/v1/domains') },
  'GET /v1/agents': { at: same('/v1/agents') },
  'GET /v1/tools': { at: same('/v1/tools') },
  'GET /v1/domains/:domain': { at: ({ session }) => [`/v1/domains/${session}`, '/v1/domains/brainstorming'] },
  'GET /v1/agents/:agent': { at: ({ session }) => [`/v1/agents/${session}`, '/v1/agents/coder'] },
  'GET /v1/health': { at: same('/v1/health') },
  'GET /v1/health/details': { at: same('/v1/health/details'), varies: true },
  'GET /v1/metrics': { at: same('/v1/metrics'), varies: true },
  'GET /v1/tool-runs': {
    at: ({ owner, session }) => [
      '/v1/tool-runs',
      `/v1/tool-runs?limit=100&owner=${owner}&conversation_id=${session}`,
    ],
  },
  'GET /v1/tool-runs/:id': {
    at: ({ approval, turn, call }) => [approval, `${turn}.${call}`].map((id) => `/v1/tool-runs/${id}`),
  },
  'GET /v1/conversations/:id/workflow-logs': {
    at: ({ session, copilot, browser }) =>
      [session, copilot, browser].map((id) => `/v1/conversations/${id}/workflow-logs`),
    wordless: true,
  },
  'GET /v1/conversations': {
    at: ({ session }) => [
      '/v1/conversations',
      '/v1/conversations?limit=100',
      `/v1/conversations?cursor=${session}`,
    ],
  },
  'POST /v1/conversations': {
    at: same('/v1/conversations'),
    bodies: ({ session }) => [{ domain_id: session }, { domain_id: 'general', agent_id: session }],
  },
  'GET /v1/conversations/:id': {
    at: ({ session, copilot, browser }) => [session, copilot, browser].map((id) => `/v1/conversations/${id}`),
  },
  'GET /v1/conversations/:id/messages': {
    at: ({ session, copilot, browser }) =>
      [session, copilot, browser].map((id) => `/v1/conversations/${id}/messages`),
  },

  'POST /api/agent/interact': {
    at: same('/api/agent/interact'),
    bodies: ({ copilot, session, task }) => [
      { query: 'yes', sessionId: session },
      { query: 'go on', sessionId: copilot, taskId: task, lastActionStatus: 'success' },
    ],
    forbidden: true,
  },
  'GET /api/session/latest': { at: same('/api/session/latest') },
  'GET /api/session': { at: () => ['/api/session', '/api/session?includeArchived=true&limit=100&offset=0'] },
  'POST /api/session': {
    at: same('/api/session'),
    bodies: ({ session, copilot }) => [{ sessionId: session }, { sessionId: copilot }],
    forbidden: true,
  },
  'POST /api/session/init': {
    at: same('/api/session/init'),
    bodies: ({ copilot }) => [{ sessionId: copilot, title: 'mine', url: 'http://elsewhere.example/' }],
    forbidden: true,
  },
  'GET /api/session/by-domain/:domain': { at: ({ site }) => [`/api/session/by-domain/${site}`] },
  'GET /api/session/:sessionId': { at: ({ copilot }) => [`/api/session/${copilot}`], forbidden: true },
  'PATCH /api/session/:sessionId': {
    at: ({ copilot }) => [`/api/session/${copilot}`],
    bodies: () => [{ title: 'mine' }],
    forbidden: true,
  },
  'GET /api/session/:sessionId/messages': {
    at: ({ copilot, session }) => [copilot, session].map((id) => `/api/session/${id}/messages`),
    forbidden: true,
  },
  'GET /api/session/:sessionId/task/active': {
    at: ({ copilot }) => [`/api/session/${copilot}/task/active`],
    forbidden: true,
  },
  'POST /api/v1/auth/login': {
    at: same('/api/v1/auth/login'),
    bodies: ({ owner }) => [{ email: owner, password: 'a guess' }],
    open: 'it is how a token is come by',
  },
  'GET /api/v1/auth/session': { at: same('/api/v1/auth/session') },
  'GET /api/v1/user/preferences': { at: same('/api/v1/user/preferences') },
  'POST /api/v1/user/preferences': {
    at: same('/api/v1/user/preferences'),
    bodies: ({ owner }) => [{ theme: 'light', id: owner, user: owner }],
  },
  'GET /api/knowledge/resolve': { at: ({ site }) => [`/api/knowledge/resolve?url=http://${site}/`] },

  'POST /api/summarize': {
    at: same('/api/summarize'),
    bodies: ({ session }) => [{ content: `Sum up ${session}. It is mine.`, title: session }],
  },

  'GET /v1/sessions': { at: ({ owner }) => ['/v1/sessions', `/v1/sessions?owner=${owner}&limit=500`] },
  'GET /v1/sessions/:id': {
    at: ({ session, browser }) => [session, browser].map((id) => `/v1/sessions/${id}`),
  },
  'GET /v1/sessions/:id/events': {
    at: ({ session, copilot, browser }) =>
      [session, copilot, browser].map((id) => `/v1/sessions/${id}/events`),
  },
  'DELETE /v1/sessions/:id': {
    at: ({ session, copilot, browser }) => [session, copilot, browser].map((id) => `/v1/sessions/${id}`),
  },
  'GET /v1/sessions/:id/frames': {
    at: ({ session, browser }) => [session, browser].map((id) => `/v1/sessions/${id}/frames`),
  },
  'GET /v1/sessions/:id/export': {
    at: ({ session, browser }) => [session, browser].map((id) => `/v1/sessions/${id}/export`),
  },
  'GET /v1/activity': { at: ({ owner }) => ['/v1/activity', `/v1/activity?owner=${owner}`] },
  // Each kind of command is a message: see `messages.ts`.
  'POST /v1/sessions/:id/commands': {
    at: ({ session }) => [`/v1/sessions/${session}/commands`],
    bodies: () => [{ type: 'turn.cancel' }],
  },
  'GET /v1/sessions/:id/grants': { at: ({ session }) => [`/v1/sessions/${session}/grants`] },
  'DELETE /v1/sessions/:id/grants/:grant': {
    at: ({ session, grant }) => [`/v1/sessions/${session}/grants/${encodeURIComponent(grant)}`],
  },
  'GET /v1/approvals': {
    at: ({ owner, session }) => ['/v1/approvals', `/v1/approvals?owner=${owner}&session=${session}`],
  },
  'POST /v1/approvals/:id': {
    at: ({ approval }) => [`/v1/approvals/${approval}`],
    bodies: ({ hash }) => [
      { answer: 'once' },
      { answer: 'always', hash },
      { answer: 'deny', reason: 'mine' },
    ],
  },

  'GET /v1/grants': { at: ({ owner }) => ['/v1/grants', `/v1/grants?owner=${owner}&limit=500`] },
  'GET /v1/admin/users': { at: same('/v1/admin/users') },
  'POST /v1/admin/users': {
    at: same('/v1/admin/users'),
    bodies: ({ owner }) => [{ name: owner, password: 'mine', role: 'admin' }],
  },
  'PATCH /v1/admin/users/:name': {
    at: ({ owner }) => [`/v1/admin/users/${owner}`],
    bodies: () => [{ password: 'mine' }, { role: 'user' }],
  },
  'DELETE /v1/admin/users/:name': { at: ({ owner }) => [`/v1/admin/users/${owner}`] },
  'POST /v1/admin/users/:name/logout': { at: ({ owner }) => [`/v1/admin/users/${owner}/logout`] },
  'POST /v1/auth/password': {
    at: same('/v1/auth/password'),
    bodies: ({ owner }) => [{ old: `${owner}-password`, new: 'mine' }],
  },
  'GET /v1/admin/doors': { at: same('/v1/admin/doors'), varies: true },
  'GET /v1/admin/mcp': { at: same('/v1/admin/mcp') },

  'POST /api/pusher/auth': {
    at: same('/api/pusher/auth'),
    bodies: ({ session, copilot, owner }) =>
      [
        `private-session-${session}`,
        `presence-session-${copilot}`,
        `private-user-${owner}`,
        `presence-user-${owner}`,
      ].map((channel_name) => ({ socket_id: '1.1', channel_name })),
    forbidden: true,
  },
  'POST /api/pusher/user-auth': {
    at: same('/api/pusher/user-auth'),
    bodies: ({ owner }) => [{ socket_id: '1.1', id: owner, user_id: owner }],
  },
  'POST /apps/:app/events': {
    at: same('/apps/app-id/events'),
    bodies: ({ session }) => [{ name: 'new_message', channel: `private-session-${session}`, data: '{}' }],
    open: SIGNED,
  },
  'POST /apps/:app/batch_events': {
    at: same('/apps/app-id/batch_events'),
    bodies: ({ session }) => [
      { batch: [{ name: 'said', channel: `private-session-${session}`, data: '{}' }] },
    ],
    open: SIGNED,
  },
  'GET /apps/:app/channels': { at: same('/apps/app-id/channels'), open: SIGNED },
  'GET /apps/:app/channels/:name': {
    at: ({ session }) => [`/apps/app-id/channels/private-session-${session}`],
    open: SIGNED,
  },
  'GET /apps/:app/channels/:name/users': {
    at: ({ session }) => [`/apps/app-id/channels/presence-session-${session}/users`],
    open: SIGNED,
  },
  'POST /apps/:app/users/:user/terminate_connections': {
    at: ({ owner }) => [`/apps/app-id/users/${owner}/terminate_connections`],
    open: SIGNED,
  },
  'POST /v1/auth/logout': { at: same('/v1/auth/logout'), spends: true },
  'POST /api/v1/auth/logout': { at: same('/api/v1/auth/logout'), spends: true },
};
