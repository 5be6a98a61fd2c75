import {
  Credentials,
  ListQuery,
  MessagesQuery,
  NewConversation,
} from '../../dialects/conversations/schemas.ts';
import {
  Agents,
  Conversation,
  Conversations,
  Detail,
  Domains,
  Me,
  Messages,
  Token,
  Tools,
} from '../answers/conversations.ts';
import { type Answers, named, type Section } from '../endpoint.ts';

const ERRORS = {
  401: 'No token, a bad one, or the wrong password',
  403: 'The role lacks the permission',
  404: 'There is no such thing, or it is someone else’s',
  422: 'What was sent does not fit; the text names the field',
  429: 'Too many failed logins; Retry-After says for how many seconds',
} as const;

const errors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: Detail }]));

export const conversations: Section = {
  tag: 'conversations',
  description:
    'Multi-agent applications with logins. The conversation itself goes over a WebSocket at /ws?token=….',
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
      summary: 'The agents there are',
      security: 'caller',
      answers: { 200: { description: 'All of them', schema: Agents }, ...errors(401) },
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
  ],
};
