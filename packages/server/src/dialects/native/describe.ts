import { Command } from '@parlance/protocol';
import { z } from 'zod';
import { type Description, named } from '../shared/description.ts';
import { DialectList } from '../shared/dialect-list.ts';
import { commandExamples } from './command-examples.ts';
import { admin } from './describe-admin.ts';
import { nativeErrors as errors } from './described-errors.ts';
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
import { Answer, CommandHeaders, EventsQuery, PageQuery, SessionsQuery } from './schemas.ts';

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
      summary: 'Sessions, the one that changed last first',
      security: 'caller',
      examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
      query: SessionsQuery,
      answers: { 200: { description: 'A page of them', schema: SessionList }, ...errors(400, 401, 403) },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}',
      summary: 'A session, and what goes on in it',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The session', schema: SessionView }, ...errors(401, 403, 404) },
    },
    {
      method: 'delete',
      path: '/v1/sessions/{id}',
      summary: 'Removes a session and its events for good',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 204: { description: 'It is gone' }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/frames',
      summary: 'What passes on the sockets that are attached to a session, as it passes',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: {
        200: {
          description: '`attached`, then a `frame` each; `missed` where the reader was too slow',
          type: 'text/event-stream',
          schema: z.string(),
        },
        ...errors(401, 403, 404),
      },
    },
    {
      method: 'get',
      path: '/v1/server',
      summary: 'What the server is, what answers in it, and who is asking',
      security: 'caller',
      answers: { 200: { description: 'About the server', schema: About }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/dialects',
      summary: 'How clients speak to the server: addresses, messages with examples, and first steps',
      security: 'caller',
      answers: { 200: { description: 'The dialects that are served', schema: DialectList }, ...errors(401) },
    },
    {
      method: 'get',
      path: '/v1/activity',
      summary: 'The events of all sessions of the caller, as they happen',
      security: 'caller',
      examples: ({ owner }) => [{}, { query: { owner } }],
      answers: {
        200: {
          description:
            '`ready`, then an event per event, and `session.attached` where somebody comes or leaves; `missed` where the reader was too slow',
          type: 'text/event-stream',
          schema: z.string(),
        },
        ...errors(401, 403),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/export',
      summary: 'A session as lines of JSON, which parlance import takes',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: {
        200: {
          description: 'A header, then a line per event; the header says how many',
          type: 'application/x-ndjson',
          schema: z.string(),
        },
        ...errors(401, 403, 404),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/events',
      summary: 'What has happened after a position; as a stream, also what happens',
      security: 'caller',
      examples: ({ session }) => [
        { title: 'Follow the events', first: true, stream: true, params: { id: session } },
      ],
      query: EventsQuery,
      headers: z.object({
        'last-event-id': z.string().optional().describe('counts more than `after`'),
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
                'events, then `snapshot`, then everything live; `reset` first where the position is gone',
              ),
          },
        ],
        ...errors(400, 401, 403, 404),
      },
    },
    {
      method: 'post',
      path: '/v1/sessions/{id}/commands',
      summary: 'Asks something of a session; `session.create` and `input.submit` begin one that is not there',
      security: 'caller',
      examples: (ids) => commandExamples(ids),
      headers: CommandHeaders,
      body: named('Command', Command),
      answers: {
        200: { description: 'It is done and durable', schema: CommandReceipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    {
      method: 'get',
      path: '/v1/sessions/{id}/grants',
      summary: 'What “always” has allowed in a session',
      security: 'caller',
      examples: ({ session }) => [{ params: { id: session } }],
      answers: { 200: { description: 'The grants', schema: GrantList }, ...errors(401, 403, 404) },
    },
    {
      method: 'delete',
      path: '/v1/sessions/{id}/grants/{grant}',
      summary: 'Takes back what “always” has allowed',
      security: 'caller',
      examples: ({ session, grant }) => [{ params: { id: session, grant } }],
      answers: { 200: { description: 'It is taken back', schema: GrantRevoked }, ...errors(401, 403, 404) },
    },
    {
      method: 'get',
      path: '/v1/approvals',
      summary: 'What waits for an answer of the caller, the session that changed last first',
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
        200: { description: 'It is answered', schema: ApprovalReceipt },
        ...errors(400, 401, 403, 404, 409),
      },
    },
    ...admin,
  ],
};
