/**
 * Complete turns, played on the real engine. Their events are stored as transcripts; each dialect has a
 * golden file for every one of them.
 */
import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';
import { answered, answerWith, asks, killed, played, type Scenario } from './play-scenario.ts';
import { calls, says } from './scripted-provider.ts';
import { CALLER, SESSION, say } from './stage.ts';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'plain-answer': played([says('Hello ', 'there.')], ({ engine }) => say(engine, 'Hi')),

  'message-replaced': played(
    [says('Paris.'), says('Rome.')],
    async ({ engine, happens, events }) => {
      const ended = happens('turn.ended');
      await say(engine, 'The capital of France?');
      await ended;
      const asked = events.find((event) => event.type === 'input.accepted');
      const parts = [textPart('The capital of Italy?')];
      await engine.send(SESSION, { type: 'input.submit', parts, replaces: asked?.input }, CALLER);
    },
    { turns: 2 },
  ),

  configured: played([says('Hello.')], async ({ engine }) => {
    await engine.send(SESSION, { type: 'session.create' }, CALLER);
    await engine.send(SESSION, { type: 'session.configure', approval: 'auto-edit' }, CALLER);
    await say(engine, 'Hi');
  }),

  reasoning: played(
    [[{ type: 'reasoning', text: 'They ' }, { type: 'reasoning', text: 'greet me.' }, ...says('Hello.')]],
    ({ engine }) => say(engine, 'Hi'),
  ),

  'tool-call': played(
    [
      calls('lookup', { word: 'parlance' }, { before: [{ type: 'text', text: 'Let me look.' }] }),
      says('It is ', 'a word.'),
    ],
    ({ engine }) => say(engine, 'What is parlance?'),
  ),

  'parallel-calls': played(
    [
      answerWith(['lookup', { word: 'one' }], ['broken', {}], ['lookup', { word: 'two' }]),
      says('Both are words.'),
    ],
    ({ engine }) => say(engine, 'What are one and two?'),
  ),

  'parallel-approvals': played(
    [
      answerWith(
        ['shell', { command: ['npm', 'test'] }],
        ['shell', { command: ['npm', 'run', 'lint'] }],
        ['lookup', { word: 'one' }],
      ),
      says('Tested.'),
    ],
    async ({ engine, happens }) => {
      const found = happens('tool.ended');
      await say(engine, 'Test it');
      await found;
      await engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
      await engine.whenIdle(SESSION);
      await engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
    },
  ),

  'tool-failure': played([calls('broken', {}), says('It did not work.')], ({ engine }) =>
    say(engine, 'Try it'),
  ),

  'approval-yes': played([asks, says('All green.')], (stage) => answered(stage, { answer: 'once' })),

  'approval-no': played([asks, says('Then I will not.')], (stage) =>
    answered(stage, { answer: 'deny', reason: 'not now' }),
  ),

  'approval-no-exit': played([asks], (stage) => answered(stage, { answer: 'deny', exit: true }), {
    last: 'turn.cancelled',
  }),

  'approval-explained': played([asks, says('It runs the tests.'), says('Done.')], async (stage) => {
    const asked = stage.happens('approval.requested');
    await say(stage.engine, 'run the tests');
    await asked;
    await stage.engine.send(SESSION, { type: 'approval.explain' }, CALLER);
    await stage.engine.send(SESSION, { type: 'approval.answer', answer: 'always' }, CALLER);
  }),

  'approval-by-word': played([asks, says('Done.')], (stage) =>
    answered(stage, { answer: 'once', said: 'yes' }),
  ),

  'failure-mid-stream': played(
    [
      [
        { type: 'text', text: 'Half an ' },
        { type: 'failed', fault: { code: 'provider_unavailable', message: 'The model cannot be reached.' } },
      ],
    ],
    ({ engine }) => say(engine, 'Hi'),
    { last: 'turn.failed' },
  ),

  'retry-mid-stream': played(
    [
      [
        { type: 'text', text: 'Half an ' },
        {
          type: 'retrying',
          attempt: 2,
          delayMs: 500,
          fault: { code: 'provider_unavailable', message: 'The model broke off.' },
        },
        ...says('A whole ', 'answer.'),
      ],
    ],
    ({ engine }) => say(engine, 'Hi'),
  ),

  'sealed-reasoning': played(
    [
      [
        { type: 'reasoning', text: 'They greet me.' },
        { type: 'sealed', sealed: { provider: 'scripted', data: 'signature' } },
        { type: 'sealed', sealed: { provider: 'scripted', data: 'redacted' } },
        ...says('Hello.'),
      ],
    ],
    ({ engine }) => say(engine, 'Hi'),
  ),

  'malformed-call': played(
    [
      [
        { type: 'call', call: 'call_1', tool: 'lookup', input: {}, malformed: '{"word":' },
        { type: 'ended', usage: { inputTokens: 10, outputTokens: 5 }, stop: 'calls' },
      ],
      says('Once more.'),
    ],
    ({ engine }) => say(engine, 'Hi'),
  ),

  cancel: played(
    [[{ type: 'text', text: 'This takes ' }, { type: 'hang' }]],
    async ({ engine, provider }) => {
      await say(engine, 'Count');
      await provider.hanging;
      await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    },
    { last: 'turn.cancelled' },
  ),

  supersede: played(
    [[{ type: 'text', text: 'The first ' }, { type: 'hang' }], says('The second answer.')],
    async ({ engine, provider }) => {
      await say(engine, 'First');
      await provider.hanging;
      await say(engine, 'Second', 'supersede');
    },
  ),

  'supersede-in-a-call': played([calls('endless', {}), says('The second answer.')], async (stage) => {
    const started = stage.happens('tool.started');
    await say(stage.engine, 'First');
    await started;
    await say(stage.engine, 'Second', 'supersede');
  }),

  queue: played(
    [says('One.'), says('Two.')],
    ({ engine }) => Promise.all([say(engine, 'First'), say(engine, 'Second')]),
    { turns: 2 },
  ),

  'queue-cancelled': played([says('One.')], async ({ engine }) => {
    const [, second] = await Promise.all([say(engine, 'First'), say(engine, 'Second')]);
    const queued = second.events.find((event) => event.type === 'input.accepted');
    await engine.send(SESSION, { type: 'turn.cancel', turn: queued?.turn }, CALLER);
  }),

  resume: killed('Hi', ({ provider }) => provider.hanging, {
    answers: [[{ type: 'text', text: 'Half an ' }, { type: 'hang' }]],
    after: [says('A whole ', 'answer.')],
  }),

  'resume-call-lost': killed('Go', (stage) => stage.happens('tool.started'), {
    answers: [calls('endless', {})],
    after: [says('I do not know whether it happened.')],
  }),

  'streamed-arguments': played(
    [
      calls(
        'lookup',
        { word: 'parlance' },
        {
          before: [
            { type: 'text', text: 'Let me look.' },
            { type: 'arguments', index: 0, call: 'call_0', tool: 'lookup', text: '{"wor' },
            {
              type: 'retrying',
              attempt: 2,
              delayMs: 0,
              fault: { code: 'provider_unavailable', message: 'The model cannot be reached.' },
            },
            { type: 'text', text: 'Let me look it up.' },
            { type: 'arguments', index: 0, call: 'call_1', tool: 'lookup', text: '' },
            { type: 'arguments', index: 0, call: 'call_1', tool: 'lookup', text: '{"word":' },
            { type: 'arguments', index: 0, call: 'call_1', tool: 'lookup', text: '"parlance"}' },
          ],
        },
      ),
      says('It is a word.'),
    ],
    ({ engine }) => say(engine, 'What is parlance?'),
  ),

  history: played([says('The third is the Rhone.')], async ({ engine }) => {
    const call = 'call_0' as CallId;
    const history: HistoryItem[] = [
      { type: 'user', parts: [textPart('Name a river')] },
      { type: 'reasoning', text: 'Look it up.' },
      { type: 'call', call, tool: 'lookup', input: { word: 'river' } },
      { type: 'result', call, parts: [textPart('river: Rhine')] },
      { type: 'text', text: 'The Rhine.' },
      { type: 'user', parts: [textPart('And another?')] },
      { type: 'text', text: 'The Danube.' },
    ];
    await engine.send(SESSION, { type: 'session.create', history }, CALLER);
    await say(engine, 'And a third?');
  }),

  continued: played([says('It is sunny.')], async ({ engine }) => {
    const call = 'call_0' as CallId;
    const history: HistoryItem[] = [
      { type: 'user', parts: [textPart('The weather?')] },
      { type: 'call', call, tool: 'lookup', input: { word: 'weather' } },
      { type: 'result', call, parts: [textPart('sunny')] },
    ];
    await engine.send(SESSION, { type: 'session.create', history }, CALLER);
    await engine.send(SESSION, { type: 'input.submit', parts: [], continues: true }, CALLER);
  }),

  'deferred-call': played(
    [
      calls('errand', { what: 'click' }, { before: [{ type: 'text', text: 'Please click.' }] }),
      says('It was clicked.'),
    ],
    async (stage) => {
      const deferred = stage.happens('call.deferred');
      await say(stage.engine, 'Click it');
      const { call } = await deferred;
      const parts = [{ type: 'text', text: 'clicked' } as const];
      await stage.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
    },
  ),

  'final-failure': played([calls('errand-end', { why: 'It cannot be done.' })], ({ engine }) =>
    say(engine, 'Do it'),
  ),

  handoff: played(
    [calls('handoff', { agent: 'tester', reason: 'It needs tests' }), says('I am the tester.')],
    ({ engine }) => say(engine, 'Test it'),
  ),

  'direct-call': played([], ({ engine }) =>
    engine.send(
      SESSION,
      { type: 'input.submit', parts: [], call: { tool: 'lookup', input: { word: 'parlance' } } },
      CALLER,
    ),
  ),

  compaction: played(
    [says('word '.repeat(800)), says('They asked twice.'), says('Yes.')],
    async (stage) => {
      const first = stage.happens('turn.ended');
      await say(stage.engine, 'First');
      await first;
      await say(stage.engine, 'Second');
    },
    { turns: 2 },
  ),

  clear: played(
    [says('Hello.')],
    async (stage) => {
      const ended = stage.happens('turn.ended');
      await say(stage.engine, 'Hi');
      await ended;
      await stage.engine.send(SESSION, { type: 'session.clear' }, CALLER);
    },
    { last: 'session.cleared' },
  ),
};
