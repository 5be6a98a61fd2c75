/** What servers ask for during a call, over the wire of both eras, as questions of a real turn. */
import { afterEach, describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type QuestionContent, textOf } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { answerWith } from '../../testing/play-scenario.ts';
import { says } from '../../testing/scripted-provider.ts';
import { eventually, opened } from '../../testing/tools/mcp.ts';
import { type AskingServer, askingServer } from '../../testing/tools/mcp-asking-server.ts';
import { slowness } from '../../testing/until.ts';

/** Of a call: a busy machine needs time to answer within it. */
const LIMIT_MS = Math.round(1_000 * slowness());

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

/** A turn that calls the tool `ask` of a server, which then needs `requests`. */
async function calling(era: '2025' | '2026', requests: readonly object[], more: readonly string[] = []) {
  const server = askingServer(era, requests);
  const mcp = await opened({ forms: { url: server.url, timeoutMs: LIMIT_MS } });
  open.push(mcp, server);
  const answers = [answerWith(['mcp_forms_ask', {}]), ...more.map((text) => says(text)), says('Done.')];
  const harness = await createHarness(answers, {
    tools: [...mcp.tools()],
    parts: { approvalMode: 'full-auto' },
  });
  const next = (type: DurableEvent['type']) => harness.nextEvent(type);
  return {
    ...{ server, mcp, ...harness },
    /** the question that the turn waits with */
    async asked(): Promise<QuestionContent> {
      const { questions } = await eventually(async () => {
        const snapshot = await harness.engine.snapshot(SESSION);
        return snapshot.questions.length > 0 && snapshot;
      });
      const [question] = questions;
      if (!question) throw new Error('no question');
      return question;
    },
    begin: () => say(harness.engine, 'Ask them'),
    answer: (answers: Record<string, string[]> | null) =>
      harness.engine.send(
        SESSION,
        answers ? { type: 'question.answer', answers } : { type: 'question.answer', declined: true },
        CALLER,
      ),
    next,
    durable: (type: DurableEvent['type']) =>
      harness.events.filter((event) => isDurable(event) && event.type === type),
    async result(): Promise<string> {
      await eventually(() => harness.events.some(({ type }) => type === 'turn.ended'));
      const ended = harness.events.find((event) => event.type === 'tool.ended');
      return ended?.type === 'tool.ended' ? textOf(ended.parts) : '';
    },
  };
}

const FORM = {
  method: 'elicitation/create',
  params: {
    message: 'Which room?',
    requestedSchema: {
      type: 'object',
      properties: {
        room: { type: 'string', title: 'Room', enum: ['a1', 'b2'], enumNames: ['Attic', 'Basement'] },
        guests: { type: 'integer', minimum: 1, maximum: 9 },
        extras: {
          type: 'array',
          items: {
            anyOf: [
              { const: 'x', title: 'Screen' },
              { const: 'y', title: 'Coffee' },
            ],
          },
        },
        mail: { type: 'string', format: 'email', default: 'ada@example.com' },
        quiet: { type: 'boolean', default: true },
      },
      required: ['room', 'guests'],
    },
  },
};
const LINK = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Pay first', url: 'https://pay.example/42', elicitationId: '42' },
};
const PROMPT = {
  method: 'sampling/createMessage',
  params: {
    systemPrompt: 'You are brief.',
    messages: [{ role: 'user', content: { type: 'text', text: 'Name a colour' } }],
    maxTokens: 20,
  },
};

describe.each(['2025', '2026'] as const)('a server of %s', (era) => {
  test('that asks with a form gets the values of the answer', async () => {
    const turn = await calling(era, [FORM]);
    await turn.begin();
    const question = await turn.asked();
    expect(question).toMatchObject({ purpose: 'elicitation', title: 'forms: Which room?' });
    expect(
      question.questions.map(({ header, options, optional }) => [header, options.length, optional]),
    ).toEqual([
      ['Room', 2, undefined],
      ['guests', 0, undefined],
      ['extras', 2, true],
      ['mail', 0, true],
      ['quiet', 2, true],
    ]);
    await expect(turn.answer({ '1': ['Garden'], '2': ['2'] })).rejects.toMatchObject({ code: 'invalid' });
    await turn.answer({ '1': ['Basement'], '2': ['3'], '3': ['Coffee'] });
    expect(JSON.parse(await turn.result())).toEqual([
      {
        action: 'accept',
        content: { room: 'b2', guests: 3, extras: ['y'], mail: 'ada@example.com', quiet: true },
      },
    ]);
  });

  test('is told that the user declined', async () => {
    const turn = await calling(era, [FORM]);
    await turn.begin();
    await turn.asked();
    await turn.answer(null);
    expect(JSON.parse(await turn.result())).toEqual([{ action: 'decline' }]);
  });

  test('may take longer than the limit of a call while the user is asked', async () => {
    const turn = await calling(era, [FORM]);
    await turn.begin();
    await turn.asked();
    await Bun.sleep(1.3 * LIMIT_MS);
    await turn.answer(null);
    expect(JSON.parse(await turn.result())).toEqual([{ action: 'decline' }]);
  });

  test('that names an address gets consent, and nothing is opened', async () => {
    const turn = await calling(era, [LINK]);
    await turn.begin();
    const { questions } = await turn.asked();
    expect(questions).toMatchObject([
      { link: 'https://pay.example/42', text: expect.stringContaining('pay.example') },
    ]);
    await turn.answer({ accept: ['Yes'] });
    expect(JSON.parse(await turn.result())).toEqual([{ action: 'accept' }]);
  });

  test('that asks the model gets its answer after an approval, and the session pays', async () => {
    const turn = await calling(era, [PROMPT], ['Green.']);
    await turn.begin();
    const { requires, questions } = await turn.asked();
    expect(requires).toBe('approve');
    expect(questions[0]?.text).toContain('system: You are brief.\n\nuser: Name a colour');
    await turn.answer({ allow: ['Yes'] });
    expect(JSON.parse(await turn.result())).toMatchObject([
      { role: 'assistant', content: { text: 'Green.' } },
    ]);
    const prompt = turn.provider.prompts.find(({ task }) => task === 'sampling');
    expect(prompt).toMatchObject({
      instructions: 'You are brief.',
      tools: [],
      options: { maxOutputTokens: 20 },
    });
    expect(turn.durable('usage.recorded')).toMatchObject([{ task: 'sampling' }]);
  });

  test('that asks the model gets nothing of it without an approval', async () => {
    const turn = await calling(era, [PROMPT]);
    await turn.begin();
    await turn.asked();
    await turn.answer({ allow: ['No'] });
    expect(JSON.parse(await turn.result())).toMatchObject([{ stopReason: 'refused' }]);
    expect(turn.provider.prompts.some(({ task }) => task === 'sampling')).toBe(false);
  });

  test('that asks for several things gets them one after another, and the folder at once', async () => {
    const turn = await calling(era, [{ method: 'roots/list' }, FORM, LINK]);
    await turn.begin();
    expect((await turn.asked()).title).toContain('Which room?');
    await turn.answer(null);
    await eventually(
      async () => (await turn.engine.snapshot(SESSION)).questions[0]?.title?.includes('Pay first') ?? false,
    );
    await turn.answer({ accept: ['No'] });
    expect(JSON.parse(await turn.result())).toEqual([
      { roots: [{ uri: expect.stringMatching(/^file:\/\//), name: expect.any(String) }] },
      { action: 'decline' },
      { action: 'decline' },
    ]);
  });

  test('is told of a cancelled turn', async () => {
    const turn = await calling(era, [FORM]);
    await turn.begin();
    await turn.asked();
    await turn.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await turn.engine.whenIdle(SESSION);
    expect((await turn.engine.snapshot(SESSION)).questions).toEqual([]);
    if (era === '2025') await eventually(() => turn.server.cancelled > 0);
  });
});

test('a question whose call has ended is withdrawn, and the turn goes on with the result', async () => {
  const turn = await calling('2025', [FORM]);
  await turn.begin();
  await turn.asked();
  turn.server.finish('changed my mind');
  expect(await turn.result()).toBe('changed my mind');
  expect(turn.durable('question.answered')).toMatchObject([{ outcome: 'withdrawn', by: 'server' }]);
  await expect(turn.answer(null)).rejects.toMatchObject({ code: 'no_approval' });
});

test('what a server asks for is asked of the session whose call it is', async () => {
  const server: AskingServer = askingServer('2025', [FORM]);
  const mcp = await opened({ forms: { url: server.url } });
  open.push(mcp, server);
  const sessions = await Promise.all(
    ['one', 'two'].map(async () => {
      const harness = await createHarness([answerWith(['mcp_forms_ask', {}]), says('Done.')], {
        tools: [...mcp.tools()],
        parts: { approvalMode: 'full-auto' },
      });
      await say(harness.engine, 'Ask');
      return harness;
    }),
  );
  for (const { engine } of sessions)
    await eventually(async () => (await engine.snapshot(SESSION)).questions.length === 1);
  const [first, second] = sessions;
  await first?.engine.send(SESSION, { type: 'question.answer', declined: true }, CALLER);
  await eventually(() => first?.events.some(({ type }) => type === 'turn.ended') ?? false);
  expect(second?.events.some(({ type }) => type === 'turn.ended')).toBe(false);
  await second?.engine.send(
    SESSION,
    { type: 'question.answer', answers: { '1': ['Attic'], '2': ['1'] } },
    CALLER,
  );
  await eventually(() => second?.events.some(({ type }) => type === 'turn.ended') ?? false);
  const texts = sessions.map(({ events }) => {
    const ended = events.find((event) => event.type === 'tool.ended');
    return ended?.type === 'tool.ended' ? textOf(ended.parts) : '';
  });
  expect(texts.map((text) => JSON.parse(text)[0].action)).toEqual(['decline', 'accept']);
});

test('progress is shown, and extends the limit of the call', async () => {
  const turn = await calling('2025', [{ progress: [1, 2, 3], pauseMs: LIMIT_MS / 2 }]);
  await turn.begin();
  expect(JSON.parse(await turn.result())).toEqual([]);
  expect(turn.events.filter(({ type }) => type === 'call.progress')).toMatchObject(
    [1, 2, 3].map((step) => ({ progress: step / 3, message: `step ${step}` })),
  );
});
