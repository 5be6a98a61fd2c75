import { describe, expect, test } from 'bun:test';
import {
  type ApprovalId,
  type CallId,
  type CommandInput,
  type DurableEvent,
  isDurable,
  LOCAL,
  type SessionEvent,
  type SessionId,
  textOf,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, countingIds, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { asksUser } from '../../testing/play-scenario.ts';
import { calls, type Line, says, scriptedProvider, USAGE } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { quiet } from '../../testing/ticks.ts';
import { askUser } from '../../tools/ask-user.ts';
import type { SessionRef } from '../index.ts';
import type { SessionStore } from '../ports/event-store.ts';
import type { Provider } from '../ports/provider.ts';
import { defineTool, type Tool } from '../ports/tool.ts';

const HANG: Line[] = [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Half ' }, { type: 'hang' }];
const ignore = () => undefined;
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A process that can be killed: afterwards, its writes no longer reach the store. */
function mortal(store: SessionStore): { store: SessionStore; die(): void } {
  let dead = false;
  return {
    store: { ...store, append: (...given) => (dead ? new Promise(() => undefined) : store.append(...given)) },
    die() {
      dead = true;
    },
  };
}

/** Runs `act` in a process that is then killed, and starts the next one on the same store. */
async function restarted(
  answers: Line[][],
  act: (harness: Harness) => Promise<unknown>,
  { after, tools = [] }: { after: Line[][]; tools?: Tool[] },
): Promise<{ harness: Harness; events: () => Promise<DurableEvent[]> }> {
  const ids = countingIds();
  const disk = openMemoryStore();
  const { store, die } = mortal(disk);
  await act(await createHarness(answers, { store, ids, tools }));
  die();
  const harness = await createHarness(after, { store: disk, ids, tools });
  return { harness, events: () => disk.read(SESSION, 0, 1_000) };
}

const contiguous = (events: readonly DurableEvent[]) =>
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
const typesOf = (events: readonly SessionEvent[]): string[] =>
  events.filter(isDurable).map(({ type }) => type);

/** A deferred call, and a message that joins its turn. */
async function steeredCall({ engine, nextEvent }: Harness): Promise<CallId> {
  const deferred = nextEvent('call.deferred');
  await say(engine, 'Click it');
  const { call } = await deferred;
  await say(engine, 'Keep it short', 'steer');
  return call;
}

const answerCall = (call: CallId): CommandInput => ({
  type: 'call.answer',
  call,
  parts: [textPart('clicked')],
});

const readBy = ({ provider }: Harness): string[] =>
  (provider.prompts.at(-1)?.items ?? []).map((item) => ('parts' in item ? textOf(item.parts) : item.kind));

describe('a question, after the process was killed', () => {
  const CHOOSE: CommandInput = { type: 'question.answer', answers: { '1': ['PostgreSQL'] } };

  /** Runs in a process that is killed when it has asked, and sends the command first if there is one. */
  const asked =
    (command?: CommandInput) =>
    async ({ engine, nextEvent, provider }: Harness): Promise<void> => {
      const question = nextEvent('question.asked');
      await say(engine, 'Set it up');
      await question;
      if (!command) return;
      await engine.send(SESSION, command, CALLER);
      await provider.hanging;
    };

  test('still waits under its id, and is answered once', async () => {
    const options = { after: [says('Done.')], tools: [askUser] };
    const { harness, events } = await restarted([asksUser], asked(), options);
    await harness.engine.recover();
    const question = (await events()).find((event) => event.type === 'question.asked')?.question;
    expect((await harness.engine.snapshot(SESSION)).questions).toMatchObject([{ question }]);
    await harness.engine.send(SESSION, { ...CHOOSE, question } as CommandInput, CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness).at(-1)).toBe('Database: PostgreSQL');
    await expect(harness.engine.send(SESSION, CHOOSE, CALLER)).rejects.toMatchObject({ code: 'no_approval' });
    expect(typesOf(await events()).filter((type) => type === 'question.asked')).toHaveLength(1);
    contiguous(await events());
  });

  test('that was answered is not asked again, and the model reads the answer', async () => {
    const options = { after: [says('Done.')], tools: [askUser] };
    const { harness, events } = await restarted([asksUser, HANG], asked(CHOOSE), options);
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness).at(-1)).toBe('Database: PostgreSQL');
    const types = typesOf(await events());
    for (const type of ['question.asked', 'question.answered', 'tool.ended'])
      expect(types.filter((one) => one === type)).toHaveLength(1);
  });

  const runs: unknown[] = [];
  const form = defineTool({
    name: 'form',
    description: 'Asks.',
    input: z.object({}),
    approval: () => null,
    run: async (_input, { answer, signal }) => {
      runs.push(answer);
      const questions = [{ id: '1', header: 'Q', text: 'Q?', options: [], multiple: false, freeText: true }];
      if (!answer) return { parts: [], asks: { question: { purpose: 'elicitation', questions }, resume: 1 } };
      if (runs.length === 2) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { parts: [textPart('continued')] };
    },
  });

  test('of a call that had run on with the answer: its outcome is unknown, and it is not repeated', async () => {
    runs.length = 0;
    const { harness, events } = await restarted(
      [calls('form', {})],
      async (first) => {
        await asked()(first);
        const started = first.nextEvent('tool.started');
        await first.engine.send(SESSION, CHOOSE, CALLER);
        await started;
      },
      { after: [says('Done.')], tools: [form] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(runs).toHaveLength(2);
    expect((await events()).find((event) => event.type === 'tool.ended')).toMatchObject({
      outcome: 'unknown',
    });
  });

  test('of a call that was not run on yet: it runs on with the answer', async () => {
    runs.length = 0;
    const options = { after: [says('Done.')], tools: [form] };
    const { harness, events } = await restarted([calls('form', {})], asked(), options);
    runs.push('the limit of two');
    await harness.engine.send(SESSION, CHOOSE, CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(runs.at(-1)).toEqual({ resume: 1, answers: { '1': ['PostgreSQL'] } });
    expect((await events()).find((event) => event.type === 'tool.ended')).toMatchObject({ outcome: 'ok' });
  });
});

describe('a steering message, after the process was killed', () => {
  const click = calls('errand', { what: 'click' });

  test('joins at the next step, once, if it had only been accepted', async () => {
    let call = '' as CallId;
    const { harness, events } = await restarted(
      [click],
      async (first) => {
        call = await steeredCall(first);
      },
      { after: [says('Clicked.')] },
    );
    await harness.engine.recover();
    await harness.engine.send(SESSION, answerCall(call), CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness)).toEqual(['Click it', 'call', 'clicked', 'Keep it short']);
    expect(typesOf(await events()).filter((type) => type === 'input.joined')).toHaveLength(1);
  });

  test('is read again with the repeated step, once, if it had joined', async () => {
    const { harness, events } = await restarted(
      [click, HANG],
      async (first) => {
        await first.engine.send(SESSION, answerCall(await steeredCall(first)), CALLER);
        await first.provider.hanging;
      },
      { after: [says('Clicked.')] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness)).toEqual(['Click it', 'call', 'clicked', 'Keep it short']);
    const types = typesOf(await events());
    expect(types.filter((type) => type === 'input.joined')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
    contiguous(await events());
  });

  test('starts a turn if the turn that it was to join has ended', async () => {
    const { harness, events } = await restarted(
      [click],
      async (first) => {
        await steeredCall(first);
        await first.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
      },
      { after: [says('Short.')] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(readBy(harness).at(-1)).toBe('Keep it short');
    const types = typesOf(await events());
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(2);
    expect(types).not.toContain('input.joined');
  });
});

describe('after the process was killed', () => {
  test('a running turn resumes: the unfinished step is repeated and left out of the prompt', async () => {
    const { harness, events } = await restarted(
      [HANG],
      async ({ engine, provider }) => {
        await say(engine, 'Hi');
        await provider.hanging;
      },
      { after: [says('Whole.')] },
    );
    expect(await harness.engine.recover()).toBe(1);
    await harness.engine.whenIdle(SESSION);
    expect(typesOf(await events()).slice(3)).toEqual([
      'reasoning.ended',
      'turn.resumed',
      'text.ended',
      'step.ended',
      'turn.ended',
    ]);
    contiguous(await events());
    expect(harness.provider.prompts[0]?.items).toEqual([{ kind: 'user', parts: [textPart('Hi')] }]);
  });

  test('a running tool gets an unknown outcome and does not run again', async () => {
    let runs = 0;
    const begun = Promise.withResolvers<void>();
    const effect = defineTool({
      name: 'effect',
      description: 'Has an effect.',
      input: z.object({}),
      approval: () => null,
      run: () => {
        runs++;
        begun.resolve();
        return new Promise(() => undefined);
      },
    });
    const { harness, events } = await restarted(
      [calls('effect', {})],
      async ({ engine }) => {
        await say(engine, 'Do it');
        await begun.promise;
      },
      { after: [says('I do not know.')], tools: [effect] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(runs).toBe(1);
    const ended = (await events()).find((event) => event.type === 'tool.ended');
    expect(ended).toMatchObject({ outcome: 'unknown' });
    expect(harness.provider.prompts[0]?.items.map(({ kind }) => kind)).toEqual(['user', 'call', 'result']);
  });

  test('a repeatable tool runs again', async () => {
    let runs = 0;
    const begun = Promise.withResolvers<void>();
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      repeatable: true,
      approval: () => null,
      run: async () => {
        if (++runs > 1) return { parts: [textPart('seen')] };
        begun.resolve();
        return new Promise(() => undefined);
      },
    });
    const { harness, events } = await restarted(
      [calls('look', {})],
      async ({ engine }) => {
        await say(engine, 'Look');
        await begun.promise;
      },
      { after: [says('I see.')], tools: [look] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    expect(runs).toBe(2);
    expect((await events()).find((event) => event.type === 'tool.ended')).toMatchObject({ outcome: 'ok' });
  });

  test('a pending approval keeps its id and can be answered', async () => {
    let approval: ApprovalId | undefined;
    const { harness, events } = await restarted(
      [calls('shell', { command: ['ls'] })],
      async ({ engine }) => {
        await say(engine, 'Run ls');
        await engine.whenIdle(SESSION);
        approval = (await engine.snapshot(SESSION)).approval?.approval;
        await say(engine, 'And then?');
      },
      { after: [says('Done.'), says('Nothing more.')] },
    );
    expect(await harness.engine.recover()).toBe(0);
    const {
      waiting: [waiting],
    } = await harness.engine.approvals(LOCAL, { limit: 10 });
    expect(waiting?.approval?.approval).toBe(approval as ApprovalId);
    await harness.engine.answer(approval as ApprovalId, { answer: 'once' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    const types = typesOf(await events());
    expect(types).not.toContain('turn.resumed');
    expect(types.filter((type) => type === 'turn.ended')).toHaveLength(2);
    contiguous(await events());
  });

  test('queued inputs are answered in order', async () => {
    const { harness, events } = await restarted(
      [HANG],
      async ({ engine, provider }) => {
        await say(engine, 'First');
        await provider.hanging;
        await say(engine, 'Second');
        await say(engine, 'Third');
      },
      { after: [says('1'), says('2'), says('3')] },
    );
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    const users = harness.provider.prompts
      .at(-1)
      ?.items.flatMap((item) => (item.kind === 'user' ? item.parts : []));
    expect(users).toEqual(['First', 'Second', 'Third'].map(textPart));
    expect(typesOf(await events()).filter((type) => type === 'turn.ended')).toHaveLength(3);
  });

  test('an input before the recovery resumes the turn, once', async () => {
    const { harness, events } = await restarted(
      [HANG],
      async ({ engine, provider }) => {
        await say(engine, 'First');
        await provider.hanging;
      },
      { after: [says('1'), says('2')] },
    );
    await say(harness.engine, 'Second');
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    const types = typesOf(await events());
    expect(types.filter((type) => type === 'turn.resumed')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.ended')).toHaveLength(2);
    expect(harness.provider.prompts[0]?.items).toEqual([{ kind: 'user', parts: [textPart('First')] }]);
  });

  test('a turn cancelled before the recovery is not resumed', async () => {
    const { harness, events } = await restarted(
      [HANG],
      async ({ engine, provider }) => {
        await say(engine, 'First');
        await provider.hanging;
      },
      { after: [] },
    );
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await harness.engine.recover();
    await quiet();
    expect(typesOf(await events())).not.toContain('turn.resumed');
    expect(harness.provider.prompts).toEqual([]);
  });

  test('an unreadable session does not prevent the recovery of the others', async () => {
    const broken: SessionRef = { owner: LOCAL.id, id: 'broken' as SessionId };
    const ids = countingIds();
    const first = await createHarness([HANG, HANG], { ids });
    const input = { type: 'input.submit', parts: [textPart('Hi')] } as CommandInput;
    for (const ref of [broken, SESSION]) await first.engine.send(ref, input, CALLER);
    await quiet();
    const store: SessionStore = {
      ...first.store,
      read: async (ref, ...page) => {
        if (ref.id === broken.id) throw new Error('not an event');
        return first.store.read(ref, ...page);
      },
    };
    const errors: string[] = [];
    const log = { ...quietLog, error: (_: object, message: string) => errors.push(message) };
    const { engine } = await createHarness([says('Whole.')], { ids, store, parts: { log } });
    expect(await engine.recover()).toBe(2);
    await engine.whenIdle(SESSION);
    expect((await engine.record(SESSION))?.status).toBe('idle');
    expect(errors).toEqual(['session unreadable']);
  });
});

describe('draining', () => {
  test('lets running turns finish, starts no new ones, and loses no input', async () => {
    const store = controlledStore();
    const answered = Promise.withResolvers<void>();
    const provider: Provider = {
      ...scriptedProvider([]),
      async *stream() {
        yield { type: 'text', text: 'One.' };
        await answered.promise;
        yield { type: 'ended', usage: USAGE, stop: 'done' };
      },
    };
    const { engine, nextEvent } = await createHarness([], { store, parts: { provider } });
    const delta = nextEvent('text.delta');
    await say(engine, 'First');
    await delta;
    await say(engine, 'Second');
    const drained = engine.drain(60_000);
    answered.resolve();
    expect(await drained).toBe(true);
    expect(typesOf(await engine.events(SESSION, 0, 100))).toContain('turn.ended');
    await expect(say(engine, 'Third')).rejects.toMatchObject({ code: 'shutting_down' });
    await quiet();
    expect((await engine.record(SESSION))?.status).toBe('running');
    const next = await createHarness([says('Two.')], { store });
    expect(await next.engine.recover()).toBe(1);
    await next.engine.whenIdle(SESSION);
    expect(typesOf(await next.engine.events(SESSION, 0, 100)).filter((t) => t === 'turn.ended')).toHaveLength(
      2,
    );
  });

  test('stops turns that exceed the grace period and records nothing, so that the next process resumes them', async () => {
    const { engine, provider, store } = await createHarness([HANG, says('Never.')]);
    await say(engine, 'First');
    await provider.hanging;
    expect(await engine.drain(0)).toBe(false);
    await quiet();
    expect(provider.prompts).toHaveLength(1);
    expect((await engine.record(SESSION))?.status).toBe('running');
    const next = await createHarness([says('Whole.')], { store });
    await next.engine.recover();
    await next.engine.whenIdle(SESSION);
    expect((await next.engine.record(SESSION))?.status).toBe('idle');
  });
});
