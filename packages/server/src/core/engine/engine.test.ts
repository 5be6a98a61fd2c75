import { describe, expect, test } from 'bun:test';
import {
  type ApprovalId,
  type DurableEvent,
  isDurable,
  LOCAL,
  type Principal,
  type PrincipalId,
  ROLE_PERMISSIONS,
  type Role,
  type SessionId,
  textPart,
} from '@parlance/protocol';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says, scriptedProvider } from '../../testing/scripted-provider.ts';
import { quiet } from '../../testing/ticks.ts';
import type { Caller, SessionRef } from '../index.ts';
import type { Provider } from '../ports/provider.ts';
import type { Engine } from './engine.ts';

const person = (id: string, role: Role): Caller => {
  const principal: Principal = { id: id as PrincipalId, role, permissions: ROLE_PERMISSIONS[role] };
  return { principal, dialect: 'native' };
};
const ref = (id: string, owner: string = LOCAL.id): SessionRef => ({
  owner: owner as PrincipalId,
  id: id as SessionId,
});
const input = (text: string) => ({ type: 'input.submit' as const, parts: [textPart(text)] });
const submit = (engine: Engine, where: SessionRef, text: string) => engine.send(where, input(text), CALLER);
const typesOf = (events: readonly DurableEvent[]): string[] => events.map(({ type }) => type);
const HANG: Line[] = [{ type: 'text', text: 'Wait ' }, { type: 'hang' }];

describe('turns', () => {
  test('a session runs one turn at a time and answers inputs in order of acceptance', async () => {
    let running = 0;
    let max = 0;
    const inner = scriptedProvider(Array.from({ length: 20 }, (_, index) => says(`Answer ${index}`)));
    const provider: Provider = {
      ...inner,
      contextLimit: 1_000_000,
      async *stream(prompt, signal) {
        max = Math.max(max, ++running);
        try {
          yield* inner.stream(prompt, signal);
        } finally {
          running--;
        }
      },
    };
    const { engine, events } = await createHarness([], { parts: { provider } });
    await Promise.all(Array.from({ length: 20 }, (_, index) => say(engine, `Question ${index}`)));
    await engine.whenIdle(SESSION);
    const durableEvents = events.filter(isDurable);
    const accepted = durableEvents.flatMap((event) => (event.type === 'input.accepted' ? [event.input] : []));
    const begun = durableEvents.flatMap((event) => (event.type === 'turn.started' ? [event.input] : []));
    expect(max).toBe(1);
    expect(begun).toEqual(accepted);
    const last = inner.prompts.at(-1)?.items.filter(({ kind }) => kind === 'user');
    expect(last).toHaveLength(20);
  });

  test('sessions run concurrently', async () => {
    const { engine, provider } = await createHarness([HANG, says('Not held up.')]);
    await submit(engine, ref('slow'), 'Hi');
    await provider.hanging;
    await submit(engine, ref('quick'), 'Hi');
    await engine.whenIdle(ref('quick'));
    expect((await engine.snapshot(ref('slow'))).turn).not.toBeNull();
  });

  test('the number of concurrent turns is limited: the next starts when one ends', async () => {
    const { engine, provider } = await createHarness([HANG, says('Now me.')], { parts: { turnsAtOnce: 1 } });
    await submit(engine, ref('first'), 'Hi');
    await provider.hanging;
    await submit(engine, ref('second'), 'Hi');
    await quiet();
    expect(provider.prompts).toHaveLength(1);
    await engine.send(ref('first'), { type: 'turn.cancel' }, CALLER);
    await engine.whenIdle(ref('second'));
    expect(provider.prompts).toHaveLength(2);
  });

  test('a turn that reaches its limit of steps pauses, and the next message continues', async () => {
    const again = Array.from({ length: 5 }, (_, index) =>
      calls('lookup', { word: 'a' }, { call: `call_${index}` }),
    );
    const { engine, nextEvent, provider } = await createHarness(again, { parts: { maxSteps: 3 } });
    const said = nextEvent('text.ended');
    const paused = nextEvent('turn.ended');
    await say(engine, 'Go on for ever');
    expect(await paused).toMatchObject({ paused: 'max_steps' });
    expect((await said).text).toBe(
      'Paused after 3 steps, the limit of one turn (maxSteps, MAX_ITERATIONS). Send a message to continue.',
    );
    expect(provider.prompts).toHaveLength(3);
    expect(await engine.snapshot(SESSION)).toMatchObject({ turn: null, finished: [{ ok: true }] });
    const next = nextEvent('turn.ended');
    await say(engine, 'Continue');
    await next;
    const items = provider.prompts[3]?.items ?? [];
    expect(items.filter(({ kind }) => kind === 'result')).toHaveLength(3);
    expect(items.at(-1)).toMatchObject({ kind: 'user', parts: [{ text: 'Continue' }] });
  });

  test('an empty model answer ends the turn, without a block', async () => {
    const { engine, events } = await createHarness([says()]);
    await say(engine, 'Hi');
    await engine.whenIdle(SESSION);
    expect(typesOf(events.filter(isDurable)).slice(3)).toEqual(['step.ended', 'turn.ended']);
  });

  test('a model stream without an end event fails the turn and keeps the text', async () => {
    const { engine, nextEvent, events } = await createHarness([[{ type: 'text', text: 'Half' }]]);
    const failed = nextEvent('turn.failed');
    await say(engine, 'Hi');
    expect((await failed).fault.code).toBe('provider_unavailable');
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({
      text: 'Half',
      interrupted: true,
    });
  });

  test('a model that throws fails the turn, without revealing the cause', async () => {
    const errors: unknown[] = [];
    const ignore = () => undefined;
    const log = { debug: ignore, info: ignore, warn: ignore, error: (data: object) => errors.push(data) };
    const provider: Provider = {
      ...scriptedProvider([]),
      stream: () => {
        throw new Error('secret key sk-1');
      },
    };
    const { engine, nextEvent } = await createHarness([], { parts: { provider, log } });
    const failed = nextEvent('turn.failed');
    await say(engine, 'Hi');
    expect((await failed).fault).toEqual({ code: 'internal', message: 'Something went wrong.' });
    expect(errors).toHaveLength(1);
  });
});

describe('an acknowledgement', () => {
  test('resolves after the input is stored, and watchers are not notified earlier', async () => {
    const store = controlledStore();
    const { engine, events } = await createHarness([says('Hello.')], { store });
    const held = store.hold('before');
    let acknowledged = false;
    const sent = say(engine, 'Hi').then((receipt) => {
      acknowledged = true;
      return receipt;
    });
    await held.reached;
    await quiet();
    expect(acknowledged).toBe(false);
    expect(events).toEqual([]);
    expect(await store.read(SESSION, 0, 10)).toEqual([]);
    held.release();
    const { seq, events: committed } = await sent;
    expect((await store.read(SESSION, 0, seq)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(typesOf(committed)).toEqual(['session.created', 'input.accepted', 'turn.started']);
  });

  test('rejects with a fault if the command is invalid', async () => {
    const { engine } = await createHarness([]);
    const parts = Array.from({ length: 101 }, () => textPart('x'));
    await expect(engine.send(SESSION, { type: 'input.submit', parts }, CALLER)).rejects.toMatchObject({
      code: 'invalid',
    });
    await expect(
      engine.send(SESSION, { type: 'input.submit', parts: [textPart('x')], domain: 'nowhere' }, CALLER),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(await engine.record(SESSION)).toBeNull();
  });
});

describe('rights', () => {
  const ada = person('ada', 'admin');
  const dev = person('dev', 'developer');
  const uma = person('uma', 'user');
  const asks = calls('shell', { command: ['ls'] });

  test('two principals can use the same id for different sessions', async () => {
    const { engine } = await createHarness([says('For dev.'), says('For uma.')]);
    for (const caller of [dev, uma]) {
      const where = await engine.resolve(caller.principal, 'shared');
      await engine.send(where, input(`I am ${caller.principal.id}`), caller);
      await engine.whenIdle(where);
    }
    const titles = await Promise.all(
      ['dev', 'uma'].map(async (owner) => (await engine.record(ref('shared', owner)))?.title),
    );
    expect(titles).toEqual(['I am dev', 'I am uma']);
  });

  test('a session of another principal behaves as if it did not exist, for every command', async () => {
    const { engine } = await createHarness([says('Hello.')]);
    const where = ref('private', 'dev');
    await engine.send(where, input('Hi'), dev);
    await engine.whenIdle(where);
    await expect(engine.send(where, input('Hi'), uma)).rejects.toMatchObject({ code: 'not_found' });
    for (const command of ['turn.cancel', 'session.clear', 'context.compact', 'approval.explain'] as const) {
      await expect(engine.send(where, { type: command }, uma)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await engine.find(uma.principal, 'private')).toBeNull();
    expect((await engine.list(uma.principal, { limit: 10 })).sessions).toEqual([]);
  });

  test('an admin can read and continue sessions of others; its own take precedence', async () => {
    const { engine } = await createHarness([says('One.'), says('Two.'), says('Three.')]);
    const where = ref('work', 'dev');
    await engine.send(where, input('Hi'), dev);
    await engine.whenIdle(where);
    expect(await engine.find(ada.principal, 'work')).toEqual(where);
    await engine.send(where, input('From the admin'), ada);
    await engine.whenIdle(where);
    expect((await engine.list(ada.principal, { limit: 10 })).sessions).toHaveLength(1);
    await engine.send(ref('work', 'ada'), input('My own'), ada);
    expect(await engine.resolve(ada.principal, 'work')).toEqual(ref('work', 'ada'));
  });

  test('an approval stays pending if the principal may not answer it', async () => {
    const { engine } = await createHarness([asks, says('Done.')]);
    const where = ref('asks', 'uma');
    await engine.send(where, input('Run it'), uma);
    await engine.whenIdle(where);
    const {
      waiting: [waiting],
    } = await engine.approvals(uma.principal, { limit: 10 });
    const approval = waiting?.approval?.approval as ApprovalId;
    for (const answer of ['once', 'always', 'deny'] as const)
      await expect(engine.answer(approval, { answer }, uma)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(engine.answer(approval, { answer: 'once' }, dev)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await engine.approvals(dev.principal, { limit: 10 })).waiting).toEqual([]);
    expect((await engine.approvals(ada.principal, { limit: 10 })).waiting).toHaveLength(1);
    await engine.answer(approval, { answer: 'once' }, ada);
    await engine.whenIdle(where);
    expect((await engine.record(where))?.status).toBe('idle');
  });

  test('the first answer wins; later answers fail, and unknown approvals are not found', async () => {
    const { engine } = await createHarness([asks, says('Done.'), asks]);
    await say(engine, 'Run it');
    await engine.whenIdle(SESSION);
    const approval = (await engine.snapshot(SESSION)).approval?.approval as ApprovalId;
    const answers = await Promise.allSettled(
      ['once', 'deny', 'always'].map((answer) =>
        engine.answer(approval, { answer: answer as 'once' }, CALLER),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(engine.answer(approval, { answer: 'once' }, CALLER)).rejects.toMatchObject({
      code: 'no_approval',
    });
    await expect(engine.answer('none' as ApprovalId, { answer: 'once' }, CALLER)).rejects.toMatchObject({
      code: 'not_found',
    });
    await engine.whenIdle(SESSION);
    await say(engine, 'Run it again');
    await engine.whenIdle(SESSION);
    const second = (await engine.snapshot(SESSION)).approval?.approval as ApprovalId;
    await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await expect(engine.answer(second, { answer: 'once' }, CALLER)).rejects.toMatchObject({
      code: 'no_approval',
    });
  });
});
