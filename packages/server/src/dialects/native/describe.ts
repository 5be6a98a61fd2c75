import { Command } from '@parlance/protocol';
import { z } from 'zod';
import { type Description, named } from '../shared/description.ts';
import { DialectList } from '../shared/dialect-list.ts';
import { commandExamples } from './command-examples.ts';
import { admin } from './describe-admin.ts';
import { keys } from './describe-keys.ts';
import { pairings } from './describe-pairings.ts';
import { setup } from './describe-setup.ts';
import { shares } from './describe-shares.ts';
import { nativeErrors as errors } from './described-errors.ts';
import { FoundMessages, TagList } from './library-schemas.ts';
import { pricesDescribed } from './prices.ts';
import {
  About,
  ApprovalList,
  ApprovalReceipt,
  CommandReceipt,
  EventPage,
  GrantList,
  GrantRevoked,
  SessionList,
  SessionView,
} from './response-schemas.ts';
import {
  Answer,
  CommandHeaders,
  EventsQuery,
  ExportQuery,
  PageQuery,
  SearchQuery,
  SessionsQuery,
} from './schemas.ts';

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
      query: SessionsQuery,
      answers: { 200: { description: 'One page', schema: SessionList }, ...errors(400, 401, 403) },
    },
    {
      method: 'get',
      path: '/v1/search',
      summary: 'Searches the messages of the caller’s sessions, latest first',
      security: 'caller',
      examples: () => [{ query: { q: 'count' } }],
      query: SearchQuery,
      answers: { 200: { description: 'One page', schema: FoundMessages }, ...errors(400, 401, 403) },
    },
    {
      method: 'get',
      path: '/v1/tags',
      summary: 'The tags of the caller’s sessions, and how many have them',
      security: 'caller',
      answers: { 200: { description: 'The tags', schema: TagList }, ...errors(401, 403) },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}',
      summary: 'A session and its current state',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The session', schema: SessionView }, ...errors(401, 403, 404) },
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
      answers: { 200: { description: 'About the server', schema: About }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/dialects',
      summary: 'The served dialects: addresses, messages with examples, and first steps',
      security: 'caller',
      answers: { 200: { description: 'The served dialects', schema: DialectList }, ...errors(401) },
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
      query: ExportQuery,
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
      query: EventsQuery,
      headers: z.object({
        'last-event-id': z.string().optional().describe('overrides `after`'),
      }),
      answers: {
        200: [
          { description: 'A page of events, or a stream of server-sent events', schema: EventPage },
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
      headers: CommandHeaders,
      body: named('Command', Command),
      answers: {
        200: { description: 'Executed and durable', schema: CommandReceipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/grants',
      summary: 'The standing grants of a session',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The grants', schema: GrantList }, ...errors(401, 403, 404) },
    },
    {
      method: 'delete',
      path: '/v1/sessions/{id}/grants/{grant}',
      summary: 'Revokes a standing grant',
      security: 'caller',
      examples: ({ session, grant }) => [{ params: { id: session, grant } }],
      answers: { 200: { description: 'Revoked', schema: GrantRevoked }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/approvals',
      summary: 'Lists pending approvals that the caller may answer, by last change of their session',
      security: 'caller',
      examples: ({ owner, session }) => [{}, { query: { owner, session } }],
      query: PageQuery,
      answers: { 200: { description: 'One page', schema: ApprovalList }, ...errors(400, 401, 403) },
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
      body: named('ApprovalAnswer', Answer),
      answers: {
        200: { description: 'Answered', schema: ApprovalReceipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    ...shares,
    ...pricesDescribed,
    ...keys,
    ...pairings,
    ...admin,
    ...setup,
  ],
};
