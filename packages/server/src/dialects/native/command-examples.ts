/** Examples of commands: at least one of each type. */
import type { Command } from '@parlance/protocol';
import type { ExampleIds, RequestExample } from '../shared/description.ts';

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

export function commandExamples(ids: ExampleIds): readonly [RequestExample, ...RequestExample[]] {
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
