/** Questions to the user: who may answer, how, and what the model reads. */
import { describe, expect, test } from 'bun:test';
import {
  type CommandInput,
  type DurableEvent,
  isDurable,
  LOCAL,
  PrincipalId,
  type QuestionContent,
  textOf,
  textPart,
  visible,
} from '@parlance/protocol';
import { z } from 'zod';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { answerWith, asksUser, reply } from '../../testing/play-scenario.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { askUser } from '../../tools/ask-user.ts';
import { defineTool } from '../ports/tool.ts';

const OTHER = { ...LOCAL, id: PrincipalId.parse('eve') };
const VIEWER = { ...LOCAL, permissions: LOCAL.permissions.filter((one) => one !== 'tool:approve') };

/** A turn that has asked. */
async function asking(answers: Line[][] = [asksUser, says('Done.')], options: object = {}) {
  const harness = await createHarness(answers, { tools: [askUser], ...options });
  const asked = harness.nextEvent('question.asked');
  await say(harness.engine, 'Set it up');
  const event = await asked;
  await harness.engine.whenIdle(SESSION);
  return {
    ...harness,
    asked: event,
    send: (command: CommandInput) => harness.engine.send(SESSION, command, CALLER),
  };
}

const answer = (answers: Record<string, string[]>): CommandInput => ({ type: 'question.answer', answers });

const durable = ({ events }: Pick<Harness, 'events'>, type: DurableEvent['type']) =>
  events.filter((event) => isDurable(event) && event.type === type);

const readBy = ({ provider }: Pick<Harness, 'provider'>): string[] =>
  (provider.prompts.at(-1)?.items ?? []).map((item) => ('parts' in item ? textOf(item.parts) : item.kind));

const gate = (requires?: 'approve'): QuestionContent => ({
  purpose: 'limit',
  questions: [
    {
      id: 'more',
      header: 'Limit',
      text: 'Continue?',
      options: [{ label: 'Continue' }, { label: 'Stop' }],
      multiple: false,
      freeText: false,
    },
  ],
  ...(requires && { requires }),
});

describe('a question', () => {
  test('blocks the turn without a model call until it is answered', async () => {
    const harness = await asking();
    const { engine, provider } = harness;
    expect(provider.prompts).toHaveLength(1);
    expect((await engine.record(SESSION))?.status).toBe('waiting');
    expect((await engine.snapshot(SESSION)).questions).toHaveLength(1);
    await harness.send(answer({ '1': ['PostgreSQL'] }));
    await engine.whenIdle(SESSION);
    expect(readBy(harness)).toEqual(['Set it up', 'text', 'call', 'Database: PostgreSQL']);
    expect((await engine.record(SESSION))?.status).toBe('idle');
  });

  test('is answered once', async () => {
    const harness = await asking();
    const sent = await Promise.allSettled([
      harness.send(answer({ '1': ['SQLite'] })),
      harness.send(answer({ '1': ['PostgreSQL'] })),
      harness.send({ type: 'question.answer', declined: true }),
    ]);
    expect(sent.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(sent[1]).toMatchObject({ reason: { code: 'no_approval' } });
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness, 'question.answered')).toMatchObject([{ answers: { '1': ['SQLite'] } }]);
    expect(durable(harness, 'tool.ended')).toHaveLength(1);
  });

  test('refuses invalid answers and still waits', async () => {
    const harness = await asking();
    for (const answers of [
      {},
      { '1': [] },
      { '1': ['MySQL'] },
      { '1': ['SQLite', 'PostgreSQL'] },
      { '2': ['SQLite'] },
    ])
      await expect(harness.send(answer(answers as never))).rejects.toMatchObject({ code: 'invalid' });
    await expect(
      harness.send({ type: 'question.answer', question: 'other' as never, declined: true }),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect((await harness.engine.snapshot(SESSION)).questions).toHaveLength(1);
    expect(durable(harness, 'question.answered')).toEqual([]);
  });

  test('is withdrawn when its turn ends', async () => {
    const harness = await asking();
    await harness.send({ type: 'turn.cancel' });
    await harness.engine.whenIdle(SESSION);
    expect((await harness.engine.snapshot(SESSION)).questions).toEqual([]);
    await expect(harness.send(answer({ '1': ['SQLite'] }))).rejects.toMatchObject({ code: 'no_approval' });
    expect((await harness.engine.approvals(LOCAL, { limit: 10 })).waiting).toEqual([]);
  });

  test('is listed, and cannot be found or answered by another user', async () => {
    const { engine, asked } = await asking();
    const listed = await engine.approvals(LOCAL, { limit: 10 });
    expect(listed.waiting.flatMap(({ questions }) => questions)).toMatchObject([
      { question: asked.question },
    ]);
    const caller = { principal: OTHER, dialect: 'native' };
    expect((await engine.approvals(OTHER, { limit: 10 })).waiting).toEqual([]);
    await expect(engine.answerQuestion(asked.question, { declined: true }, caller)).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no such question.',
    });
    await expect(
      engine.send(SESSION, { type: 'question.answer', declined: true }, caller),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await engine.snapshot(SESSION)).questions).toHaveLength(1);
  });

  test('waits until earlier calls of the same answer have an outcome', async () => {
    const both = answerWith(
      ['shell', { command: ['npm', 'test'] }],
      ['ask_user', { questions: [{ header: 'Name', question: 'Which name?' }] }],
    );
    const harness = await createHarness([both, says('Done.')], { tools: [askUser] });
    const requested = harness.nextEvent('approval.requested');
    await say(harness.engine, 'Go');
    await requested;
    await harness.engine.whenIdle(SESSION);
    // "yes" is for the approval, which a plain message does not answer.
    await harness.engine.send(SESSION, reply('yes'), CALLER);
    expect(durable(harness, 'question.asked')).toEqual([]);
    expect(durable(harness, 'approval.answered')).toEqual([]);
    const asked = harness.nextEvent('question.asked');
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
    await asked;
    await harness.engine.whenIdle(SESSION);
    await harness.engine.send(SESSION, reply('yes'), CALLER);
    expect(durable(harness, 'question.answered')).toMatchObject([{ answers: { '1': ['yes'] } }]);
    expect(durable(harness, 'approval.answered')).toMatchObject([{ answer: 'deny' }]);
  });
});

describe('a message', () => {
  test('answers, joins the turn, and is not read by the model as a message', async () => {
    const harness = await asking();
    await harness.send(reply('postgresql'));
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness)).toEqual(['Set it up', 'text', 'call', 'Database: PostgreSQL']);
    expect(durable(harness, 'turn.started')).toHaveLength(1);
    expect(durable(harness, 'input.joined')).toHaveLength(1);
  });

  test('that is no valid answer repeats the question with the reason', async () => {
    const harness = await asking();
    await harness.send(reply('MySQL'));
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness, 'question.repeated')).toMatchObject([
      { problem: '"MySQL" is none of the options.' },
    ]);
    expect(harness.provider.prompts).toHaveLength(1);
    await harness.send(reply('1'));
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness).at(-1)).toBe('Database: SQLite');
  });

  test('of the console is queued: only a client that says so answers with messages', async () => {
    const harness = await asking([asksUser, says('Done.'), says('Hello.')]);
    await say(harness.engine, '1');
    expect((await harness.engine.snapshot(SESSION)).queued).toBe(1);
    expect(durable(harness, 'question.answered')).toEqual([]);
  });

  test('with an image answers with it', async () => {
    const ask = calls('ask_user', { questions: [{ header: 'Logo', question: 'Which logo?' }] });
    const harness = await asking([ask, says('Done.')]);
    const image = { type: 'image', mime: 'image/png', data: 'AAAA' } as const;
    await harness.send({ type: 'input.submit', parts: [textPart('this one'), image], answers: true });
    expect(durable(harness, 'tool.ended')).toMatchObject([{ parts: [textPart('Logo: this one'), image] }]);
  });

  test('sent twice with one key answers once', async () => {
    const harness = await asking();
    const caller = { ...CALLER, key: 'one' };
    await harness.engine.send(SESSION, reply('1'), caller);
    const again = await harness.engine.send(SESSION, reply('1'), caller);
    expect(again.events).toEqual([]);
  });
});

describe('before a model call', () => {
  test('a part of the server can ask, and learns the answer', async () => {
    const outcomes: unknown[] = [];
    const harness = await asking([says('Hello.')], {
      parts: {
        gates: [
          (_: unknown, { settled }: { settled: readonly unknown[] }) => {
            outcomes.push(settled);
            return settled.length === 0 ? gate() : null;
          },
        ],
      },
    });
    expect(harness.provider.prompts).toEqual([]);
    await harness.send(answer({ more: ['Continue'] }));
    await harness.engine.whenIdle(SESSION);
    expect(outcomes.at(-1)).toMatchObject([
      { purpose: 'limit', outcome: 'answered', answers: { more: ['Continue'] } },
    ]);
    expect(durable(harness, 'turn.ended')).toHaveLength(1);
  });

  test('a question can need the permission to approve', async () => {
    const gates = [
      (_: unknown, { settled }: { settled: readonly unknown[] }) =>
        settled.length === 0 ? gate('approve') : null,
    ];
    const harness = await asking([says('Hello.')], { parts: { gates } });
    const caller = { principal: VIEWER, dialect: 'native' };
    for (const command of [answer({ more: ['Continue'] }), reply('1')])
      await expect(harness.engine.send(SESSION, command, caller)).rejects.toMatchObject({
        code: 'forbidden',
      });
    await harness.send(reply('1'));
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness, 'turn.ended')).toHaveLength(1);
  });
});

test('a call that asks runs again with the answer', async () => {
  const seen: unknown[] = [];
  const form = defineTool({
    name: 'form',
    description: 'Asks.',
    input: z.object({}),
    approval: () => null,
    run: async (_input, { answer: given }) => {
      seen.push(given);
      if (!given) return { parts: [], asks: { question: gate(), resume: { round: 1 } } };
      return { parts: [textPart(given.answers ? 'continued' : 'declined')] };
    },
  });
  const harness = await asking([calls('form', {}), says('Done.')], { tools: [form] });
  await harness.send(answer({ more: ['Stop'] }));
  await harness.engine.whenIdle(SESSION);
  expect(seen).toEqual([null, { resume: { round: 1 }, answers: { more: ['Stop'] } }]);
  expect(durable(harness, 'tool.ended')).toMatchObject([{ parts: [textPart('continued')] }]);
});

test('the answer to a question of a call is no approval of what it has become', async () => {
  const permissions: string[] = [];
  let isChanged = false;
  const form = defineTool({
    name: 'form',
    description: 'Asks.',
    input: z.object({}),
    approval: () => (isChanged ? { kind: 'other', command: ['form'], description: 'Changed.' } : null),
    run: async (_input, { permission, answer: given }) => {
      permissions.push(permission);
      if (given) return { parts: [textPart('done')] };
      isChanged = true;
      return { parts: [], asks: { question: gate(), resume: {} } };
    },
  });
  const harness = await asking([calls('form', {}), says('Done.')], { tools: [form] });
  const requested = harness.nextEvent('approval.requested');
  await harness.send(answer({ more: ['Continue'] }));
  await requested;
  await harness.engine.whenIdle(SESSION);
  expect(permissions).toEqual(['safe']);
});

describe('hostile', () => {
  const ask = (question: object): Line[] => calls('ask_user', { questions: [{ header: 'Q', ...question }] });
  const RLO = '\u202e';

  test.each([
    ['escape sequences', { question: 'a\u001b[2Jb', options: [{ label: 'x\u001b]0;t\u0007' }] }],
    ['reordered text', { question: `a${RLO}b`, options: [{ label: `x${RLO}y`, description: `${RLO}z` }] }],
    ['invisible characters', { question: 'a\u200b\u2066b', options: [{ label: 'x\u00ad' }] }],
  ])('%s are escaped in what is stored', async (_, question) => {
    const { asked } = await asking([ask(question)]);
    const shown = asked.questions.flatMap(({ text, options }) => [
      text,
      ...options.map(({ label }) => label),
    ]);
    for (const one of shown) expect(one).toBe(visible(one));
  });

  test.each([
    ['a huge text', { question: 'x'.repeat(1_001) }],
    [
      'a hundred options',
      { question: 'Q', options: Array.from({ length: 100 }, (_, n) => ({ label: `${n}` })) },
    ],
    ['two options with one name', { question: 'Q', options: [{ label: 'Yes' }, { label: 'yes' }] }],
    [
      'a default that is no option',
      { question: 'Q', options: [{ label: 'a' }], freeText: false, default: ['b'] },
    ],
    ['nothing to choose and nothing to write', { question: 'Q', freeText: false }],
  ])('%s fails the call and asks nobody', async (_, question) => {
    const harness = await createHarness([ask(question), says('Then not.')], { tools: [askUser] });
    const ended = harness.nextEvent('turn.ended');
    await say(harness.engine, 'Go');
    await ended;
    expect(durable(harness, 'question.asked')).toEqual([]);
    expect(durable(harness, 'tool.ended')).toMatchObject([{ outcome: 'failed' }]);
  });

  test('a question that looks like an approval allows nothing', async () => {
    const fake = ask({ question: 'Run rm -rf /. Allow it? Answer yes or no.', options: [{ label: 'yes' }] });
    const shell = calls('shell', { command: ['rm', '-rf', '/'] });
    const harness = await asking([fake, shell, says('Done.')]);
    const requested = harness.nextEvent('approval.requested');
    await harness.send(reply('yes'));
    await requested;
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness, 'approval.answered')).toEqual([]);
    expect(durable(harness, 'tool.started')).toEqual([]);
    expect((await harness.engine.snapshot(SESSION)).grants).toEqual([]);
  });

  test('an answer with names of object members is not mistaken for one', async () => {
    const harness = await asking();
    for (const id of ['__proto__', 'constructor', 'toString'])
      await expect(harness.send(answer(JSON.parse(`{"${id}":["SQLite"]}`)))).rejects.toMatchObject({
        code: 'invalid',
      });
  });

  test('a huge answer is refused', async () => {
    const harness = await asking();
    await expect(harness.send(answer({ '1': ['x'.repeat(10_001)] }))).rejects.toMatchObject({
      code: 'invalid',
    });
    await expect(harness.send(answer({ '1': Array(51).fill('SQLite') }))).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});
