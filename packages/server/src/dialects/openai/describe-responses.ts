import { z } from 'zod';
import { type Endpoint, type Examples, named, type RequestExample } from '../shared/description.ts';
import { ConversationCreate, ConversationUpdate } from './conversations.ts';
import { errors, SESSION } from './describe-errors.ts';
import { PageQuery } from './responses/list.ts';
import {
  ConversationDeleted,
  ConversationView,
  ItemList,
  ResponseDeleted,
  ResponseView,
} from './responses/response-schemas.ts';
import { ResponseRequest } from './responses/schemas.ts';
import { StreamQuery } from './responses/stored.ts';
import { RequestHeaders } from './schemas.ts';

const STREAM = {
  description: '',
  type: 'text/event-stream',
  schema: z.string().describe('`response.created` to `response.completed`, numbered'),
} as const;

const STREAMED: RequestExample = {
  title: 'Stream a response',
  stream: true,
  creates: true,
  body: { model: 'parlance', input: 'count to 20', stream: true },
};

const examples: Examples<RequestExample> = (ids) => [
  STREAMED,
  {
    title: 'In a conversation',
    creates: true,
    body: { model: 'parlance', input: 'count to 3', conversation: ids.session },
  },
  {
    title: 'With a history and results',
    creates: true,
    body: {
      model: 'parlance',
      store: false,
      input: [
        { role: 'user', content: 'count to 20' },
        { type: 'function_call', call_id: ids.call, name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: ids.call, output: 'sunny' },
        { role: 'user', content: 'count to 3' },
      ],
    },
  },
  { probe: true, body: { model: 'parlance', input: 'hello', previous_response_id: ids.response } },
  {
    probe: true,
    body: {
      model: 'parlance',
      previous_response_id: ids.response,
      input: [{ type: 'mcp_approval_response', approval_request_id: ids.approval, approve: true }],
    },
  },
];

const stored: Examples<RequestExample> = ({ response }) => [{ params: { id: response } }];

export const responseEndpoints = (base: string): Endpoint[] => [
  {
    method: 'post',
    path: `${base}/responses`,
    summary: 'Responses: the answer to an input, whole, as a stream, or in the background',
    security: 'caller',
    headers: RequestHeaders,
    body: named('OpenaiResponseRequest', ResponseRequest),
    examples: base === '/v1' ? () => [STREAMED] : examples,
    answers: {
      200: [
        {
          description: 'The response, whole or as server-sent events',
          schema: ResponseView,
          headers: SESSION,
        },
        STREAM,
      ],
      ...errors(400, 401, 402, 403, 404, 409, 413, 422, 429, 502, 503),
    },
  },
  {
    method: 'get',
    path: `${base}/responses/{id}`,
    summary: 'A stored response, whole, or its events after a number',
    security: 'caller',
    query: StreamQuery,
    examples: stored,
    answers: {
      200: [{ description: 'The response', schema: ResponseView, headers: SESSION }, STREAM],
      ...errors(400, 401, 404),
    },
  },
  {
    method: 'delete',
    path: `${base}/responses/{id}`,
    summary: 'Deletes a stored response; its session stays',
    security: 'caller',
    examples: stored,
    answers: { 200: { description: 'Deleted', schema: ResponseDeleted }, ...errors(401, 404) },
  },
  {
    method: 'post',
    path: `${base}/responses/{id}/cancel`,
    summary: 'Cancels a response that is not complete',
    security: 'caller',
    examples: stored,
    answers: { 200: { description: 'The response', schema: ResponseView }, ...errors(401, 404) },
  },
  {
    method: 'get',
    path: `${base}/responses/{id}/input_items`,
    summary: 'The input of a stored response',
    security: 'caller',
    query: PageQuery,
    examples: stored,
    answers: { 200: { description: 'A page', schema: ItemList }, ...errors(400, 401, 404) },
  },
];

const CONVERSATION = '/openai/v1/conversations/{id}';
const existing: Examples<RequestExample> = ({ session }) => [{ params: { id: session } }];

export const conversationEndpoints: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/openai/v1/conversations',
    summary: 'Creates a conversation: a session',
    security: 'caller',
    body: named('OpenaiConversationRequest', ConversationCreate),
    examples: () => [{ creates: true, body: { metadata: { topic: 'numbers' } } }],
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(400, 401, 413) },
  },
  {
    method: 'get',
    path: CONVERSATION,
    summary: 'A conversation',
    security: 'caller',
    examples: existing,
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(401, 404) },
  },
  {
    method: 'post',
    path: CONVERSATION,
    summary: 'Replaces the metadata of a conversation',
    security: 'caller',
    body: ConversationUpdate,
    examples: ({ session }) => [{ params: { id: session }, body: { metadata: { topic: 'letters' } } }],
    answers: { 200: { description: 'The conversation', schema: ConversationView }, ...errors(400, 401, 404) },
  },
  {
    method: 'delete',
    path: CONVERSATION,
    summary: 'Archives the session of a conversation',
    security: 'caller',
    examples: existing,
    answers: { 200: { description: 'Deleted', schema: ConversationDeleted }, ...errors(401, 404) },
  },
  {
    method: 'get',
    path: `${CONVERSATION}/items`,
    summary: 'The messages of a conversation',
    security: 'caller',
    query: PageQuery,
    examples: existing,
    answers: { 200: { description: 'A page', schema: ItemList }, ...errors(400, 401, 404) },
  },
];
