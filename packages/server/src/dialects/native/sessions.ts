/** The server, sessions and their commands, and the search in them. */
import { Command, Fault } from '@parlance/protocol';
import { CommandHeaders, ExportQuery, RewindQuery, SearchQuery, SessionsQuery } from '@parlance/protocol/api';
import type { Engine, SessionRecord } from '../../core/index.ts';
import type { ExampleIds, RequestExample } from '../kit/description.ts';
import { endpoint, NO_SESSION, recordOf, sessionOf } from './context.ts';
import { exportAnswer } from './export.ts';
import { aboutView, nowView, sessionView, timeView } from './views.ts';

export const sessionEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/sessions',
    summary: 'Lists sessions by last change, latest first',
    examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
    query: SessionsQuery,
    answers: { 200: { description: 'One page', schema: 'SessionPage' } },
    errors: [400, 401, 403],
    async handle({ principal, query: { q: title, status, pinned, ...query } }, { engine, connections }) {
      const page = await engine.list(principal, {
        ...query,
        title,
        status: status && [status],
        pinned: pinned && true,
      });
      return {
        sessions: page.sessions.map((record) => sessionView(record, connections.of(record.ref))),
        next: page.next,
      };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/search',
    summary: 'Searches the messages of the caller’s sessions, latest first',
    examples: () => [{ query: { q: 'count' } }],
    query: SearchQuery,
    answers: { 200: { description: 'One page', schema: 'FoundPage' } },
    errors: [400, 401, 403],
    async handle({ principal, query: { q: text, ...page } }, { engine }) {
      const { messages, next, complete } = await engine.search(principal, { text, ...page });
      return {
        messages: messages.map(({ ref, title, archived, seq, at, from, excerpt }) => ({
          session: ref.id,
          title,
          archived,
          seq,
          at: timeView(at),
          from,
          excerpt,
        })),
        next,
        complete,
      };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/tags',
    summary: 'The tags of the caller’s sessions, and how many have them',
    answers: { 200: { description: 'The tags', schema: 'TagList' } },
    errors: [401, 403],
    handle: async ({ principal }, { engine }) => ({ tags: await engine.tags(principal) }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}',
    summary: 'A session and its current state',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 200: { description: 'The session', schema: 'SessionDetails' } },
    errors: [401, 403, 404],
    async handle({ principal, params }, ctx) {
      const { engine, connections } = ctx;
      const record = await recordOf(ctx, principal, params.id);
      return {
        ...sessionView(record, connections.of(record.ref)),
        now: nowView(await engine.snapshot(record.ref)),
        ...(principal.role === 'admin' && { driver: await driverOf(engine, record) }),
      };
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}',
    summary: 'Permanently deletes a session and its events',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 204: { description: 'Deleted' } },
    errors: [401, 403, 404],
    handle: async ({ principal, params }, ctx) =>
      ctx.engine.erase(await sessionOf(ctx, principal, params.id), { principal, dialect: 'native' }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/server',
    summary: 'The server, its models and agents, and the caller',
    limited: false,
    answers: { 200: { description: 'About the server', schema: 'About' } },
    errors: [401],
    handle: ({ principal }, { about, engine }) => aboutView(about, engine, principal),
  }),
  endpoint({
    method: 'get',
    path: '/v1/dialects',
    summary: 'The served dialects: addresses, messages with examples, and first steps',
    limited: false,
    answers: { 200: { description: 'The served dialects', schema: 'DialectList' } },
    errors: [401],
    handle: (_, { about }) => about.dialectList(),
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/export',
    summary: 'A session as a file: JSON lines, readable by parlance import, or a document',
    examples: ({ session }) => [{ params: { id: session } }],
    query: ExportQuery,
    answers: {
      200: {
        description:
          'A header with the number of events, then one line per event; with `format`, Markdown or an HTML page',
        type: 'application/x-ndjson',
      },
    },
    errors: [401, 403, 404],
    handle: async ({ principal, params, query }, ctx) =>
      exportAnswer(ctx, await recordOf(ctx, principal, params.id), query.format),
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/rewind',
    summary: 'What a rewind to a message, or the undo of a rewind, would do now',
    examples: ({ session, input }) => [{ params: { id: session }, query: { to: input } }],
    query: RewindQuery,
    answers: { 200: { description: 'The files with their differences', schema: 'RewindPreview' } },
    errors: [400, 401, 403, 404, 409],
    async handle({ principal, params, query }, ctx) {
      const ref = await sessionOf(ctx, principal, params.id);
      const { files, unprotected, ...preview } = await ctx.engine.previewRewind(ref, query, principal);
      return { ...preview, files: [...files], unprotected: [...unprotected] };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/commands',
    summary: 'Sends a command to a session; `session.create` and `input.submit` create a missing session',
    examples: (ids) => commandExamples(ids),
    headers: CommandHeaders,
    body: Command,
    answers: { 200: { description: 'Executed and durable', schema: 'Receipt' } },
    errors: [400, 401, 403, 404, 409],
    async handle({ principal, params, headers, body: command }, { engine }) {
      const ref = await engine.resolve(principal, params.id);
      if (!CREATING.has(command.type) && !(await engine.record(ref)))
        throw new Fault('not_found', NO_SESSION);
      const { seq, events } = await engine.send(ref, command, {
        principal,
        dialect: 'native',
        key: headers['idempotency-key'],
        keyOnce: true,
      });
      return { session: ref.id, seq, facts: events };
    },
  }),
];

async function driverOf(engine: Engine, { ref }: SessionRecord) {
  const node = await engine.driver(ref);
  return node === null ? null : { node };
}

/** Commands that create a missing session. */
const CREATING: ReadonlySet<string> = new Set<Command['type']>(['session.create', 'input.submit']);

// Examples of commands: at least one of each type.

/** The title and the fields of the command. */
type Example = readonly [title: string, fields?: object];

const text = (words: string) => [{ type: 'text', text: words }];

const COMMANDS: Readonly<Record<Command['type'], (ids: ExampleIds) => readonly Example[]>> = {
  'input.submit': () => [
    ['Send a message', { parts: text('count to 20') }],
    ['Ask for a command that needs approval', { parts: text('run touch hello.txt') }],
    ['Steer the running turn', { parts: text('count in steps of two'), mode: 'steer' }],
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
  'question.answer': ({ question }) => [
    ['Answer a question', { question, answers: { '1': ['PostgreSQL'] } }],
    ['Give no answer', { declined: true }],
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
  'history.append': () => [
    ['Add a message from elsewhere', { items: [{ type: 'user', parts: text('count to 3') }] }],
  ],
  'history.remove': () => [['Remove the item of an event', { seq: 2 }]],
  'context.compact': () => [['Compact the context']],
  'session.clear': () => [['Clear the context']],
  'session.rewind': ({ input }) => [
    ['Rewind the conversation and the files to before a message', { to: input }],
    ['Restore only the files', { to: input, conversation: false }],
    ['Undo a rewind', { undo: 'rewind-1' }],
  ],
};

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
