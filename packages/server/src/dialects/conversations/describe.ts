import { type Answers, type Description, named } from '../shared/description.ts';
import { inbound } from './describe-inbound.ts';
import { outbound } from './describe-outbound.ts';
import {
  Agent,
  Agents,
  Conversation,
  Conversations,
  Detail,
  Domain,
  Domains,
  Figures,
  HealthDetails,
  Me,
  Messages,
  ServerHealth,
  Token,
  ToolRun,
  ToolRuns,
  Tools,
  WorkflowLogs,
} from './response-schemas.ts';
import {
  AgentsQuery,
  Credentials,
  ListQuery,
  MessagesQuery,
  NewConversation,
  ToolRunsQuery,
  WorkflowLogsQuery,
} from './schemas.ts';

const ERRORS = {
  401: 'No token, a bad one, or the wrong password',
  403: 'The role lacks the permission',
  404: 'There is no such thing, or it is someone else’s',
  422: 'What was sent does not fit; the text names the field',
  429: 'Too many failed logins; Retry-After says for how many seconds',
} as const;

const errors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: Detail }]));

export const description: Description = {
  title: 'Conversations',
  summary:
    'Multi-agent applications with logins. The conversation itself goes over a WebSocket at /ws?token=….',
  socket: {
    address: '/conversations',
    alsoAt: '`/ws` with a token',
    connect: ({ session }) => `/conversations?session=${session}`,
    nameField: 'type',
  },
  messages: { in: inbound, out: outbound },
  endpoints: [
    {
      method: 'post',
      path: '/v1/auth/login',
      summary: 'A token for a name and a password; it works in every dialect',
      security: 'nobody',
      body: named('Credentials', Credentials),
      answers: { 200: { description: 'The token', schema: Token }, ...errors(401, 422, 429) },
    },
    {
      method: 'post',
      path: '/v1/auth/logout',
      summary: 'Revokes the token: whatever is connected with it is closed',
      security: 'token',
      answers: { 204: { description: 'It is good for nothing from now on' }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/auth/me',
      summary: 'Who the token belongs to',
      security: 'token',
      answers: { 200: { description: 'The caller', schema: Me }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/domains',
      summary: 'The domains there are',
      security: 'caller',
      answers: { 200: { description: 'All of them', schema: Domains }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/agents',
      summary: 'The agents there are, or those of a domain',
      security: 'caller',
      query: AgentsQuery,
      answers: { 200: { description: 'All of them', schema: Agents }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/agents/{agent}',
      summary: 'An agent',
      security: 'caller',
      answers: { 200: { description: 'The agent', schema: Agent }, ...errors(401, 404) },
    },
    {
      method: 'get',
      path: '/v1/domains/{domain}',
      summary: 'A domain',
      security: 'caller',
      answers: { 200: { description: 'The domain', schema: Domain }, ...errors(401, 404) },
    },
    {
      method: 'get',
      path: '/v1/tools',
      summary: 'The tools there are',
      security: 'caller',
      answers: { 200: { description: 'All of them', schema: Tools }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/conversations',
      summary: 'Conversations, the one that changed last first, without their messages',
      security: 'caller',
      query: ListQuery,
      answers: {
        200: {
          description: 'A page of them',
          schema: Conversations,
          headers: { 'x-next-cursor': 'the `cursor` of the next page, where there is one' },
        },
        ...errors(401, 403, 422),
      },
    },
    {
      method: 'post',
      path: '/v1/conversations',
      summary: 'Begins a conversation',
      security: 'caller',
      body: named('NewConversation', NewConversation),
      answers: {
        201: { description: 'The conversation', schema: Conversation },
        ...errors(401, 403, 404, 422),
      },
    },
    {
      method: 'get',
      path: '/v1/conversations/{id}',
      summary: 'A conversation with its latest 1,000 messages',
      security: 'caller',
      answers: { 200: { description: 'The conversation', schema: Conversation }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/conversations/{id}/messages',
      summary: 'The latest messages, oldest first',
      security: 'caller',
      query: MessagesQuery,
      answers: { 200: { description: 'The messages', schema: Messages }, ...errors(401, 403, 404, 422) },
    },
    {
      method: 'get',
      path: '/v1/conversations/{id}/workflow-logs',
      summary: 'The latest workflow frames, oldest first',
      security: 'caller',
      query: WorkflowLogsQuery,
      answers: { 200: { description: 'The frames', schema: WorkflowLogs }, ...errors(401, 403, 404, 422) },
    },
    {
      method: 'get',
      path: '/v1/tool-runs',
      summary: 'The latest calls of tools in the conversations that changed last, newest first',
      security: 'caller',
      query: ToolRunsQuery,
      answers: { 200: { description: 'The calls', schema: ToolRuns }, ...errors(401, 403, 422) },
    },
    {
      method: 'get',
      path: '/v1/tool-runs/{id}',
      summary: 'A call of a tool',
      security: 'caller',
      answers: { 200: { description: 'The call', schema: ToolRun }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/health',
      summary: 'Whether the server can serve',
      security: 'caller',
      answers: { 200: { description: 'The state', schema: ServerHealth }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/health/details',
      summary: 'The state of the server, and how it is set up',
      security: 'caller',
      answers: { 200: { description: 'The state', schema: HealthDetails }, ...errors(401, 403) },
    },
    {
      method: 'get',
      path: '/v1/metrics',
      summary: 'The counters and gauges of /metrics as JSON; by label where they have one',
      security: 'caller',
      answers: { 200: { description: 'The figures', schema: Figures }, ...errors(401, 403) },
    },
  ],
};
