/** Runs with one defect each, to show that the checker can fail. */
import { expect, test } from 'bun:test';
import type { DurableEvent, DurableEventBody } from '../../packages/protocol/src/index.ts';
import { check, type Violation } from './checker.ts';
import type { Evidence } from './evidence.ts';

const SESSION = 'one';
const USAGE = { inputTokens: 1, outputTokens: 1 };
const CONTEXT = { tokens: 1, limit: 10, items: 1, strategy: 'none' };
const text = (words: string) => [{ type: 'text', text: words }];
type Bodies = readonly Record<string, unknown>[];

/** Events as the native API returns them, numbered from 1. */
const numbered = (bodies: Bodies): DurableEvent[] =>
  bodies.map((body, index) => ({
    ...(body as DurableEventBody),
    session: SESSION,
    id: `event-${index + 1}`,
    at: index,
    seq: index + 1,
  })) as DurableEvent[];

const asked = (turn: string, words: string): Bodies => [
  { type: 'input.accepted', input: `input-${turn}`, parts: text(words), dialect: 'native' },
  { type: 'turn.started', turn, input: `input-${turn}`, agent: { id: 'a', name: 'A' } },
];
const said = (turn: string, words: string) => ({
  type: 'text.ended',
  turn,
  block: `block-${turn}`,
  text: words,
});
const ended = (turn: string) => ({ type: 'turn.ended', turn, usage: USAGE, durationMs: 1, context: CONTEXT });
const call = (turn: string, effect: string): Bodies => [
  { type: 'call.requested', turn, call: 'call', tool: 'shell', input: { command: ['./effect', effect] } },
  { type: 'approval.requested', turn, call: 'call', approval: 'yes?', ask: {}, hash: '' },
  {
    type: 'approval.answered',
    turn,
    call: 'call',
    approval: 'yes?',
    answer: 'once',
    by: 'x',
    dialect: 'native',
  },
  { type: 'tool.started', turn, call: 'call' },
  { type: 'tool.ended', turn, call: 'call', outcome: 'ok', parts: text('done'), durationMs: 1 },
];
const LOG: Bodies = [
  ...asked('t1', 'count to 3'),
  said('t1', '1 2 3'),
  ended('t1'),
  ...asked('t2', 'run ./effect effect-1'),
  ...call('t2', 'effect-1'),
  said('t2', 'It ran.'),
  ended('t2'),
  ...asked('t3', 'echo bye'),
  said('t3', 'The echo came back: `bye`'),
  ended('t3'),
];

const message = (number: number, words: string) => ({
  session: SESSION,
  dialect: 'native',
  number,
  text: words,
  acknowledged: true,
});

/** A run without defects. */
const healthy = (log: Bodies = LOG): Evidence => {
  const events = numbered(log);
  return {
    sent: [message(1, 'count to 3'), message(2, 'run ./effect effect-1'), message(3, 'echo bye')],
    received: events.map(({ seq, id }) => ({ reader: 'reader', session: SESSION, seq, id })),
    shown: [
      { session: SESSION, dialect: 'extension', part: 'last step', text: '1 2 3' },
      { session: SESSION, dialect: 'agentloop', part: 'block', of: 'block-t1', text: '1 2 3' },
      { session: SESSION, dialect: 'conversations', part: 'turn', of: 't2', text: 'It ran.' },
    ],
    assembled: [{ session: SESSION, dialect: 'native', pieces: '1 2 3', whole: '1 2 3' }],
    waited: [{ session: SESSION, approval: 'yes?', answer: 'acknowledged' }],
    effects: [{ session: SESSION, name: 'effect-1' }],
    performed: ['effect-1'],
    pending: [],
    errors: [],
    events: new Map([[SESSION, events]]),
  };
};

const without = (log: Bodies, ...types: string[]): Bodies =>
  log.filter(({ type }) => !types.includes(String(type)));
const changed = (type: string, more: object): Bodies =>
  LOG.map((body) => (body.type === type ? { ...body, ...more } : body));
const rules = (evidence: Evidence): Violation['rule'][] => [
  ...new Set(check(evidence).map(({ rule }) => rule)),
];
/** The same without received events: only the stored data differs. */
const stored = (log: Bodies): Evidence => ({ ...healthy(log), received: [] });

test('a healthy run has no violations', () => {
  expect(check(healthy())).toEqual([]);
});

test('an unacknowledged message may be stored late, an acknowledged one may not', () => {
  const late: Bodies = [...asked('t4', 'echo late'), said('t4', 'The echo came back: `late`'), ended('t4')];
  const evidence = (acknowledged: boolean): Evidence => {
    const run = stored([...LOG, ...late]);
    const [first, ...rest] = run.sent;
    const sent = [first, { ...message(2, 'echo late'), acknowledged }, ...rest].flatMap((one) => one ?? []);
    return { ...run, sent };
  };
  expect(rules(evidence(false))).toEqual([]);
  expect(rules(evidence(true))).toEqual(['out of order']);
});

test('an answer may only have the id of a restart of its own turn', () => {
  const restart: Bodies = [{ type: 'turn.resumed', turn: 't1' }];
  const log = [...LOG.slice(0, 2), ...restart, ...LOG.slice(2)];
  const shownAs = (of: string): Evidence => ({
    ...stored(log),
    shown: [{ session: SESSION, dialect: 'conversations', part: 'turn', of, text: '1 2 3' }],
  });
  expect(check(shownAs('event-3'))).toEqual([]);
  expect(rules(shownAs('event-4'))).toEqual(['incomplete text']);
});

test('an unacknowledged message may be missing', () => {
  const { sent, ...rest } = healthy();
  expect(check({ ...rest, sent: [...sent, { ...message(4, 'echo never'), acknowledged: false }] })).toEqual(
    [],
  );
});

test('an unknown outcome may have happened or not', () => {
  const unknown = stored(changed('tool.ended', { outcome: 'unknown' }));
  expect(check(unknown)).toEqual([]);
  expect(check({ ...unknown, performed: [] })).toEqual([]);
});

const doctored: [string, Evidence, Violation['rule']][] = [
  [
    'an acknowledged message is lost',
    { ...healthy(), sent: [...healthy().sent, message(4, 'echo gone')] },
    'lost',
  ],
  [
    'a message is stored twice',
    stored([...LOG, ...asked('t4', 'echo bye'), said('t4', 'The echo came back: `bye`'), ended('t4')]),
    'stored twice',
  ],
  ['a message is stored that no client sent', { ...healthy(), sent: healthy().sent.slice(1) }, 'never sent'],
  [
    'messages are stored in another order',
    { ...healthy(), sent: healthy().sent.toReversed() },
    'out of order',
  ],
  [
    'a sequence number is missing',
    { ...stored(LOG), events: new Map([[SESSION, numbered(LOG).filter(({ seq }) => seq !== 3)]]) },
    'gap in numbers',
  ],
  [
    'a reader received another event with the same number',
    { ...healthy(), received: [{ reader: null, session: SESSION, seq: 4, id: 'another' }] },
    'number reused',
  ],
  [
    'an event that a reader received is gone',
    { ...healthy(), received: [{ reader: null, session: SESSION, seq: 99, id: 'fact-99' }] },
    'number reused',
  ],
  [
    'a reader received an event twice',
    { ...healthy(), received: [...healthy().received, ...healthy().received.slice(-1)] },
    'gap in numbers',
  ],
  [
    'a reader missed an event',
    { ...healthy(), received: healthy().received.filter(({ seq }) => seq !== 5) },
    'gap in numbers',
  ],
  [
    'an incomplete text is stored as complete',
    stored(
      LOG.map((body) => (body.type === 'text.ended' && body.turn === 't1' ? { ...body, text: '1 2' } : body)),
    ),
    'incomplete text',
  ],
  [
    'a client was shown an incomplete text as complete',
    { ...healthy(), shown: [{ session: SESSION, dialect: 'extension', part: 'last step', text: '1 2' }] },
    'incomplete text',
  ],
  [
    'a client was shown the text of another turn',
    {
      ...healthy(),
      shown: [{ session: SESSION, dialect: 'conversations', part: 'turn', of: 't2', text: '1 2 3' }],
    },
    'incomplete text',
  ],
  [
    'the joined deltas differ from the text',
    { ...healthy(), assembled: [{ session: SESSION, dialect: 'native', pieces: '1 2 2 3', whole: '1 2 3' }] },
    'incomplete text',
  ],
  ['a side effect happened twice', { ...healthy(), performed: ['effect-1', 'effect-1'] }, 'effect twice'],
  [
    'a side effect is reported as done but did not happen',
    { ...healthy(), performed: [] },
    'effect misreported',
  ],
  [
    'a side effect happened before an event recorded its start',
    stored(without(LOG, 'tool.started')),
    'effect misreported',
  ],
  [
    'a call was started twice',
    stored(LOG.flatMap((body) => (body.type === 'tool.started' ? [body, body] : [body]))),
    'effect twice',
  ],
  [
    'a side effect happened that is reported as denied',
    stored(changed('tool.ended', { outcome: 'denied' })),
    'effect misreported',
  ],
  ['a call has no outcome', stored(without(LOG, 'tool.ended')), 'effect misreported'],
  [
    'an unanswered approval is gone',
    { ...healthy(), waited: [{ session: SESSION, approval: 'left', answer: 'none' }] },
    'approval vanished',
  ],
  ['an acknowledged answer is lost', stored(without(LOG, 'approval.answered')), 'answer lost'],
  [
    'an approval is answered twice',
    stored(LOG.flatMap((body) => (body.type === 'approval.answered' ? [body, body] : [body]))),
    'approval answered twice',
  ],
  [
    'a turn has no end',
    stored(LOG.filter(({ type, turn }) => type !== 'turn.ended' || turn !== 't2')),
    'turn without end',
  ],
  ['a turn has two ends', stored([...LOG, ended('t3')]), 'turn without end'],
  ['a turn continues after its end', stored([...LOG, said('t3', 'and one more thing')]), 'turn without end'],
  ['an input never started a turn', stored(LOG.filter(({ turn }) => turn !== 't1')), 'turn without end'],
  [
    'the last message has no answer',
    stored([...LOG.slice(0, -2), { type: 'turn.failed', turn: 't3', fault: {}, durationMs: 1 }]),
    'no answer',
  ],
  ['a client had an error that no kill explains', { ...healthy(), errors: ['native: 500'] }, 'client error'],
];

for (const [name, evidence, rule] of doctored) {
  test(`the checker notices that ${name}`, () => {
    expect(rules(evidence)).toContain(rule);
  });
}
