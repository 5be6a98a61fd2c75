/**
 * Complete turns, played on the real engine. Their events are stored as transcripts; each dialect has a
 * golden file for every one of them.
 */
import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';
import { askUser } from '../tools/ask-user.ts';
import { CALLER, SESSION, say } from './harness.ts';
import {
  answered,
  answeredQuestion,
  answerWith,
  asked,
  asks,
  asksUser,
  delegated,
  gated,
  killed,
  reply,
  type Scenario,
  scenario,
  spawns,
  steered,
} from './play-scenario.ts';
import { calls, fails, says, scriptedChain } from './scripted-provider.ts';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'plain-answer': scenario([says('Hello ', 'there.')], ({ engine }) => say(engine, 'Hi')),

  'message-replaced': scenario(
    [says('Paris.'), says('Rome.')],
    async ({ engine, nextEvent, events }) => {
      const ended = nextEvent('turn.ended');
      await say(engine, 'The capital of France?');
      await ended;
      const asked = events.find((event) => event.type === 'input.accepted');
      const parts = [textPart('The capital of Italy?')];
      await engine.send(SESSION, { type: 'input.submit', parts, replaces: asked?.input }, CALLER);
    },
    { turns: 2 },
  ),

  rewind: scenario(
    [calls('edit', { path: 'src/app.ts' }), says('Edited.')],
    async ({ engine, nextEvent, events }) => {
      const ended = nextEvent('turn.ended');
      await say(engine, 'Edit it');
      await ended;
      await engine.whenIdle(SESSION);
      const to = events.find((event) => event.type === 'input.accepted')?.input;
      const rewound = nextEvent('files.rewound');
      await engine.send(SESSION, { type: 'session.rewind', to }, CALLER);
      const { rewind: undo } = await rewound;
      await engine.whenIdle(SESSION);
      await engine.send(SESSION, { type: 'session.rewind', undo }, CALLER);
    },
    { last: 'files.rewound', turns: 2, edits: true },
  ),

  configured: scenario([says('Hello.')], async ({ engine }) => {
    await engine.send(SESSION, { type: 'session.create' }, CALLER);
    await engine.send(SESSION, { type: 'session.configure', approval: 'auto-edit' }, CALLER);
    await say(engine, 'Hi');
  }),

  reasoning: scenario(
    [[{ type: 'reasoning', text: 'They ' }, { type: 'reasoning', text: 'greet me.' }, ...says('Hello.')]],
    ({ engine }) => say(engine, 'Hi'),
  ),

  'tool-call': scenario(
    [
      calls('lookup', { word: 'parlance' }, { before: [{ type: 'text', text: 'Let me look.' }] }),
      says('It is ', 'a word.'),
    ],
    ({ engine }) => say(engine, 'What is parlance?'),
  ),

  'parallel-calls': scenario(
    [
      answerWith(['lookup', { word: 'one' }], ['broken', {}], ['lookup', { word: 'two' }]),
      says('Both are words.'),
    ],
    ({ engine }) => say(engine, 'What are one and two?'),
  ),

  'parallel-approvals': scenario(
    [
      answerWith(
        ['shell', { command: ['npm', 'test'] }],
        ['shell', { command: ['npm', 'run', 'lint'] }],
        ['lookup', { word: 'one' }],
      ),
      says('Tested.'),
    ],
    async ({ engine, nextEvent }) => {
      const found = nextEvent('tool.ended');
      await say(engine, 'Test it');
      await found;
      await engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
      await engine.whenIdle(SESSION);
      await engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
    },
  ),

  'tool-failure': scenario([calls('broken', {}), says('It did not work.')], ({ engine }) =>
    say(engine, 'Try it'),
  ),

  'approval-yes': scenario([asks, says('All green.')], (harness) => answered(harness, { answer: 'once' })),

  'approval-no': scenario([asks, says('Then I will not.')], (harness) =>
    answered(harness, { answer: 'deny', reason: 'not now' }),
  ),

  'approval-no-exit': scenario([asks], (harness) => answered(harness, { answer: 'deny', exit: true }), {
    last: 'turn.cancelled',
  }),

  'approval-explained': scenario([asks, says('It runs the tests.'), says('Done.')], async (harness) => {
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'run the tests');
    await asked;
    await harness.engine.send(SESSION, { type: 'approval.explain' }, CALLER);
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'always' }, CALLER);
  }),

  'approval-by-word': scenario([asks, says('Done.')], (harness) =>
    answered(harness, { answer: 'once', said: 'yes' }),
  ),

  'failure-mid-stream': scenario(
    [
      [
        { type: 'text', text: 'Half an ' },
        { type: 'failed', fault: { code: 'provider_unavailable', message: 'The model cannot be reached.' } },
      ],
    ],
    ({ engine }) => say(engine, 'Hi'),
    { last: 'turn.failed' },
  ),

  'step-limit': scenario(
    [calls('lookup', { word: 'parlance' })],
    ({ engine }) => say(engine, 'What is parlance?'),
    { maxSteps: 1 },
  ),

  'retry-mid-stream': scenario(
    [
      [
        { type: 'text', text: 'Half an ' },
        {
          type: 'retrying',
          attempt: 2,
          delayMs: 500,
          fault: { code: 'provider_unavailable', message: "The model's stream ended early." },
        },
        ...says('A whole ', 'answer.'),
      ],
    ],
    ({ engine }) => say(engine, 'Hi'),
  ),

  fallback: async () => {
    const { provider } = scriptedChain({
      large: [fails('provider_limited', {}, { type: 'text', text: 'Half an ' })],
      small: [calls('lookup', { word: 'parlance' }), says('It is ', 'a word.'), says('Still here.')],
    });
    return scenario(
      [],
      async ({ engine, nextEvent }) => {
        const ended = nextEvent('turn.ended');
        await say(engine, 'What is parlance?');
        await ended;
        await say(engine, 'And now?');
      },
      { turns: 2, provider },
    )();
  },

  'sealed-reasoning': scenario(
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

  'malformed-call': scenario(
    [
      [
        { type: 'call', call: 'call_1', tool: 'lookup', input: {}, malformed: '{"word":' },
        { type: 'ended', usage: { inputTokens: 10, outputTokens: 5 }, stop: 'calls' },
      ],
      says('Once more.'),
    ],
    ({ engine }) => say(engine, 'Hi'),
  ),

  cancel: scenario(
    [[{ type: 'text', text: 'This takes ' }, { type: 'hang' }]],
    async ({ engine, provider }) => {
      await say(engine, 'Count');
      await provider.hanging;
      await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    },
    { last: 'turn.cancelled' },
  ),

  supersede: scenario(
    [[{ type: 'text', text: 'The first ' }, { type: 'hang' }], says('The second answer.')],
    async ({ engine, provider }) => {
      await say(engine, 'First');
      await provider.hanging;
      await say(engine, 'Second', 'supersede');
    },
  ),

  'supersede-in-a-call': scenario([calls('endless', {}), says('The second answer.')], async (harness) => {
    const started = harness.nextEvent('tool.started');
    await say(harness.engine, 'First');
    await started;
    await say(harness.engine, 'Second', 'supersede');
  }),

  steer: scenario([calls('errand', { what: 'click' }), says('Clicked.')], (harness) =>
    steered(harness, 'Keep the answer short'),
  ),

  'steer-too-late': scenario(
    [calls('errand', { what: 'click' }), says('Short: clicked.')],
    (harness) => steered(harness, 'Keep the answer short'),
    { maxSteps: 1, turns: 2 },
  ),

  'steer-approval': scenario([asks, says('All green.')], async (harness) => {
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'run the tests');
    await asked;
    await say(harness.engine, 'Only tell me the result', 'steer');
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
  }),

  queue: scenario(
    [says('One.'), says('Two.')],
    ({ engine }) => Promise.all([say(engine, 'First'), say(engine, 'Second')]),
    { turns: 2 },
  ),

  'queue-cancelled': scenario([says('One.')], async ({ engine }) => {
    const [, second] = await Promise.all([say(engine, 'First'), say(engine, 'Second')]);
    const queued = second.events.find((event) => event.type === 'input.accepted');
    await engine.send(SESSION, { type: 'turn.cancel', turn: queued?.turn }, CALLER);
  }),

  resume: killed('Hi', ({ provider }) => provider.hanging, {
    answers: [[{ type: 'text', text: 'Half an ' }, { type: 'hang' }]],
    after: [says('A whole ', 'answer.')],
  }),

  'resume-call-lost': killed('Go', (harness) => harness.nextEvent('tool.started'), {
    answers: [calls('endless', {})],
    after: [says('I do not know whether it happened.')],
  }),

  'streamed-arguments': scenario(
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

  history: scenario([says('The third is the Rhone.')], async ({ engine }) => {
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

  continued: scenario([says('It is sunny.')], async ({ engine }) => {
    const call = 'call_0' as CallId;
    const history: HistoryItem[] = [
      { type: 'user', parts: [textPart('The weather?')] },
      { type: 'call', call, tool: 'lookup', input: { word: 'weather' } },
      { type: 'result', call, parts: [textPart('sunny')] },
    ];
    await engine.send(SESSION, { type: 'session.create', history }, CALLER);
    await engine.send(SESSION, { type: 'input.submit', parts: [], continues: true }, CALLER);
  }),

  question: asked([asksUser, says('PostgreSQL it is.')], (question) => ({
    type: 'question.answer',
    question,
    answers: { '1': ['PostgreSQL'] },
  })),

  'question-by-message': scenario(
    [asksUser, says('PostgreSQL it is.')],
    async (harness) => {
      const repeated = harness.nextEvent('question.repeated');
      await answeredQuestion(harness, () => reply('7'));
      await repeated;
      await harness.engine.send(SESSION, reply('2'), CALLER);
    },
    { tools: [askUser] },
  ),

  'question-declined': asked([asksUser, says('Then I choose.')], () => ({
    type: 'question.answer',
    declined: true,
  })),

  'question-cancelled': asked([asksUser], () => ({ type: 'turn.cancel' }), { last: 'turn.cancelled' }),

  'questions-in-one-form': asked(
    [
      calls('ask_user', {
        questions: [
          {
            header: 'Database',
            question: 'Which database?',
            options: [{ label: 'SQLite' }, { label: 'PostgreSQL' }],
          },
          {
            header: 'Features',
            question: 'Which features?',
            options: [{ label: 'Search' }, { label: 'Sharing' }],
            multiple: true,
          },
          { header: 'Name', question: 'What is it called?', default: ['demo'] },
        ],
      }),
      says('Thanks.'),
    ],
    () => reply('1: b, 2: a, sharing'),
  ),

  'question-before-step': gated(
    {
      purpose: 'limit',
      title: 'The limit of this session is reached.',
      questions: [
        {
          id: 'limit',
          header: 'Limit',
          text: 'Continue with 1 more dollar?',
          options: [{ label: 'Continue' }, { label: 'Stop' }],
          multiple: false,
          freeText: false,
        },
      ],
      requires: 'approve',
    },
    [says('Hello.')],
  ),

  'deferred-call': scenario(
    [
      calls('errand', { what: 'click' }, { before: [{ type: 'text', text: 'Please click.' }] }),
      says('It was clicked.'),
    ],
    async (harness) => {
      const deferred = harness.nextEvent('call.deferred');
      await say(harness.engine, 'Click it');
      const { call } = await deferred;
      const parts = [{ type: 'text', text: 'clicked' } as const];
      await harness.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
    },
  ),

  'final-failure': scenario([calls('errand-end', { why: 'It cannot be done.' })], ({ engine }) =>
    say(engine, 'Do it'),
  ),

  handoff: scenario(
    [calls('handoff', { agent: 'tester', reason: 'It needs tests' }), says('I am the tester.')],
    ({ engine }) => say(engine, 'Test it'),
  ),

  'instructions-accepted': scenario(
    [says('Yes.')],
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('question.asked');
      await engine.send(
        SESSION,
        { type: 'input.submit', parts: [textPart('Is it done?')], project: 'ask' },
        CALLER,
      );
      const { question, questions } = await asked;
      const [item] = questions;
      const answers = { [item?.id ?? '']: [item?.options[0]?.label ?? ''] };
      await engine.send(SESSION, { type: 'question.answer', question, answers }, CALLER);
    },
    { instructed: true },
  ),

  'instructions-unasked': scenario([says('Yes, it is.')], ({ engine }) => say(engine, 'Is it done?'), {
    instructed: true,
  }),

  'sub-agents': delegated(
    {
      Go: [
        answerWith(
          ['agent', { action: 'spawn', agent: 'explore', task: 'Read', name: 'reader' }],
          ['agent', { action: 'spawn', agent: 'worker', task: 'Try', name: 'tests' }],
          ['agent', { action: 'spawn', agent: 'nobody', task: 'Nothing' }],
        ),
        says('Read, and not tested.'),
      ],
      Read: [calls('lookup', { word: 'parlance' }), says('It is a word.')],
      Try: [fails('provider_limited')],
    },
    ({ engine }) => say(engine, 'Go'),
  ),

  'sub-agent-approval': delegated(
    {
      Go: [spawns('tests'), says('All green.')],
      Work: [calls('shell', { command: ['npm', 'test'] }), says('They pass.')],
    },
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('approval.requested');
      await say(engine, 'Go');
      await asked;
      await engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    },
  ),

  'sub-agent-denied': delegated(
    {
      Go: [spawns('tests'), says('Not tested.')],
      Work: [calls('shell', { command: ['npm', 'test'] }), says('I may not.')],
    },
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('approval.requested');
      await say(engine, 'Go');
      await asked;
      await engine.send(SESSION, { type: 'approval.answer', answer: 'deny', said: 'no' }, CALLER);
    },
  ),

  'sub-agent-question': delegated(
    { Go: [spawns('database'), says('PostgreSQL it is.')], Work: [asksUser, says('PostgreSQL.')] },
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('question.asked');
      await say(engine, 'Go');
      const { question } = await asked;
      const answers = { '1': ['PostgreSQL'] };
      await engine.send(SESSION, { type: 'question.answer', question, answers }, CALLER);
    },
  ),

  'sub-agent-question-by-message': delegated(
    { Go: [spawns('database'), says('PostgreSQL it is.')], Work: [asksUser, says('PostgreSQL.')] },
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('question.asked');
      const repeated = nextEvent('question.repeated');
      await say(engine, 'Go');
      await asked;
      await engine.send(SESSION, reply('7'), CALLER);
      await repeated;
      await engine.send(SESSION, reply('2'), CALLER);
    },
  ),

  'sub-agent-cancelled': delegated(
    { Go: [spawns('slow')], Work: [[{ type: 'text', text: 'This takes ' }, { type: 'hang' }]] },
    async ({ engine, nextEvent }) => {
      const started = nextEvent('call.delegated');
      await say(engine, 'Go');
      await started;
      await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    },
    { last: 'child.stopped' },
  ),

  'sub-agent-merge': delegated(
    {
      Go: [spawns('writer', { worktree: true }), says('Applied, but for the notes.')],
      Work: [calls('lookup', { word: 'parlance' }), says('Written.')],
    },
    async ({ engine, nextEvent }) => {
      const asked = nextEvent('question.asked');
      await say(engine, 'Go');
      await asked;
      await engine.send(SESSION, reply('1'), CALLER);
    },
    { merges: true },
  ),

  'sub-agent-in-background': delegated(
    {
      Go: [spawns('slow', { background: true }), says('It works.'), says('It is a word.')],
      Work: [calls('lookup', { word: 'parlance' }), says('A word.')],
    },
    ({ engine }) => say(engine, 'Go'),
    { turns: 2 },
  ),

  'limit-approached': scenario(
    [calls('lookup', { word: 'parlance' }), says('A word.')],
    ({ engine }) => say(engine, 'Look it up'),
    { spendLimits: [{ per: 'session', tokens: 18 }] },
  ),

  'limit-question': scenario(
    [calls('lookup', { word: 'parlance' }), says('A word.')],
    async ({ engine, nextEvent }) => {
      await engine.send(SESSION, { type: 'session.create' }, CALLER);
      await engine.send(SESSION, { type: 'session.configure', limit: { tokens: 10 } }, CALLER);
      const asked = nextEvent('question.asked');
      await say(engine, 'Look it up');
      await asked;
      await engine.send(SESSION, reply('1'), CALLER);
    },
  ),

  'budget-exhausted': scenario(
    [calls('lookup', { word: 'parlance' })],
    ({ engine }) => say(engine, 'Look it up'),
    { last: 'turn.failed', spendLimits: [{ per: 'session', tokens: 15 }] },
  ),

  'direct-call': scenario([], ({ engine }) =>
    engine.send(
      SESSION,
      { type: 'input.submit', parts: [], call: { tool: 'lookup', input: { word: 'parlance' } } },
      CALLER,
    ),
  ),

  compaction: scenario(
    [says('word '.repeat(800)), says('They asked twice.'), says('Yes.')],
    async (harness) => {
      const first = harness.nextEvent('turn.ended');
      await say(harness.engine, 'First');
      await first;
      await say(harness.engine, 'Second');
    },
    { turns: 2 },
  ),

  clear: scenario(
    [says('Hello.')],
    async (harness) => {
      const ended = harness.nextEvent('turn.ended');
      await say(harness.engine, 'Hi');
      await ended;
      await harness.engine.send(SESSION, { type: 'session.clear' }, CALLER);
    },
    { last: 'session.cleared' },
  ),
};
