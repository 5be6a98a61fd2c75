/** Turns of an engine that is killed at any append, on the stores that servers use. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DurableEvent, type SpendLimit, textOf, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionStore, UsageStore } from '../core/ports/event-store.ts';
import type { Provider } from '../core/ports/provider.ts';
import { defineTool } from '../core/ports/tool.ts';
import { ROLES } from '../core/session/agent-catalog.ts';
import { CALLER, countingIds, createHarness, type Harness, SESSION } from '../testing/harness.ts';
import { mortalStore } from '../testing/mortal-store.ts';
import { mortalWorktrees } from '../testing/mortal-worktrees.ts';
import { answerWith } from '../testing/play-scenario.ts';
import { calls, conversationProvider, says } from '../testing/scripted-provider.ts';
import { scratchFolder } from '../testing/stores/contract/scratch.ts';
import { noPostgres, openNode, testServer } from '../testing/stores/postgres.ts';
import { until } from '../testing/until.ts';
import { agentTool } from '../tools/agent.ts';
import { LocalWorktrees } from '../tools/worktrees/worktrees.ts';
import { openSqliteStore } from './sqlite/open.ts';

type Store = SessionStore & { readonly usage: UsageStore };
type Disk = AsyncDisposable & { open(): Promise<Store> };

const postgres = testServer();

const DISKS: Readonly<Record<string, { readonly skip: boolean; make(): Promise<Disk> }>> = {
  SQLite: {
    skip: false,
    async make() {
      const folder = scratchFolder();
      return {
        open: async () => openSqliteStore(folder.path),
        [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
      };
    },
  },
  PostgreSQL: {
    skip: noPostgres,
    async make() {
      const { newDatabase, giveBack } = postgres();
      const url = await newDatabase();
      return { open: () => openNode(url), [Symbol.asyncDispose]: () => giveBack(url) };
    },
  },
};

type Script = {
  /** appends of `engine`, during which it is not killed */
  readonly setup: number;
  /** an engine of the process; `first` is false after the kill */
  engine(store: Store, ids: () => string, first: boolean, dead: Promise<void>): Promise<Harness>;
  /** resolves when the process that was killed has no effect any more */
  settled?(): Promise<unknown>;
  /** What a client does, again after the kill, until all is done. */
  client(harness: Harness): Promise<void>;
  check(events: readonly DurableEvent[], store: Store): Promise<void>;
};

/** One test would be too long for its limit on a busy machine. */
const SHARES = 4;

type Kills = { readonly when: 'before' | 'after'; readonly share: number };

/** Kills the process before or after each append of the share, until it has no more. */
async function killEverywhere(disk: () => Promise<Disk>, { when, share }: Kills, script: Script) {
  for (let at = script.setup + share; ; at += SHARES) {
    await using place = await disk();
    const ids = countingIds();
    const store = await place.open();
    const process = mortalStore(store, at, when);
    const first = await script.engine(
      { ...store, ...process.store, usage: store.usage },
      ids,
      true,
      process.dead,
    );
    const done = script
      .client(first)
      .then(() => 'done' as const)
      .catch(() => 'killed' as const);
    const end = await Promise.race([done, process.dead.then(() => 'killed' as const)]);
    await store.close();
    if (end === 'done') {
      expect(at).toBeGreaterThan(script.setup + 3);
      return;
    }
    await script.settled?.();
    const reopened = await place.open();
    try {
      const second = await script.engine(reopened, ids, false, new Promise(() => undefined));
      await second.engine.recover();
      await script.client(second);
      const events = await second.engine.events(SESSION, 0, 1_000);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      await script.check(events, reopened);
      await second.engine.drain(1_000);
    } finally {
      await reopened.close();
    }
  }
}

const only = <Type extends DurableEvent['type']>(events: readonly DurableEvent[], type: Type) =>
  events.filter((event): event is Extract<DurableEvent, { type: Type }> => event.type === type);

/** Repeats the message with its key until it is accepted, and answers what is asked, until the turn has ended. */
async function converse({ engine }: Harness): Promise<void> {
  const send = (command: Parameters<typeof engine.send>[1], key?: string) =>
    engine.send(SESSION, command, { ...CALLER, ...(key !== undefined && { key }) });
  await send({ type: 'input.submit', parts: [textPart('Go')] }, 'once');
  await until(async () => {
    const { questions } = await engine.snapshot(SESSION);
    for (const { question } of questions)
      await send({ type: 'question.answer', question, answers: { limit: ['Continue with +20 tokens'] } });
    return (await engine.events(SESSION, 0, 1_000)).some(({ type }) => type === 'turn.ended');
  });
}

const LIMITS: readonly SpendLimit[] = [{ per: 'user', in: 'day', tokens: 50 }];

/** Three steps of 15 tokens: the own limit is reached after two, 80 % of the user's after three. */
const spending: Script = {
  setup: 2,
  async engine(store, ids, first) {
    const provider = conversationProvider({
      Go: [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Done.')],
    });
    const parts = { provider, usage: store.usage, spendLimits: () => LIMITS, priceOf: () => PRICE };
    const harness = await createHarness([], { store, ids, parts });
    if (first) {
      await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
      await harness.engine.send(SESSION, { type: 'session.configure', limit: { tokens: 20 } }, CALLER);
    }
    return harness;
  },
  client: converse,
  async check(events, store) {
    const counted = [...only(events, 'step.ended'), ...only(events, 'usage.recorded')];
    const tokens = counted.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0);
    expect(tokens).toBe(45);
    expect(await store.usage.spent({ owner: SESSION.owner })).toEqual({ tokens, cost: 60 });
    expect(only(events, 'question.asked')).toHaveLength(1);
    expect(only(events, 'question.answered')).toMatchObject([{ outcome: 'answered' }]);
    expect(only(events, 'session.configured')).toMatchObject([
      { limit: { tokens: 20 } },
      { limit: { tokens: 50 } },
    ]);
    expect(only(events, 'limit.approached').filter(({ limit }) => !limit.soft)).toHaveLength(1);
  },
};

const PRICE = { input: 1, output: 2 };

/** The first model of the chain never answers. */
const fallback: Script = {
  setup: 0,
  engine(store, ids) {
    const answers = conversationProvider({ Go: [calls('lookup', { word: 'a' }), says('Done.')] });
    const provider = { ...failing, fallbacks: [{ ...answers, model: 'second' }] };
    return createHarness([], { store, ids, parts: { provider } });
  },
  client: converse,
  async check(events) {
    const fell = only(events, 'step.restarted').filter((event) => event.fallback);
    expect(fell).toMatchObject([{ fallback: { model: 'second', passed: [{ model: 'first' }] } }]);
    expect(only(events, 'step.ended')).toMatchObject([{ model: 'second' }, { model: 'second' }]);
    expect(only(events, 'tool.ended')).toHaveLength(1);
    expect(only(events, 'text.ended').filter(({ text }) => text === 'Done.')).toHaveLength(1);
  },
};

const spawn = (name: string, task: string, more: object = {}) =>
  ['agent', { action: 'spawn', agent: 'worker', task, name, ...more }] as const;

const WORK = {
  Go: [
    answerWith(spawn('one', 'One'), spawn('two', 'Two')),
    answerWith(spawn('three', 'Three', { background: true })),
    says('Done so far.'),
    says('All done.'),
  ],
  One: [calls('effect', { name: 'one' }), says('First.')],
  Two: [calls('effect', { name: 'two' }), says('Second.')],
  Three: [calls('effect', { name: 'three' }), says('Third.')],
};

/** of the process that was killed, and the one after it */
let effects: string[] = [];

const EFFECT = defineTool({
  name: 'effect',
  description: 'Has an effect.',
  input: z.object({ name: z.string() }),
  approval: ({ name }) =>
    name === 'one' ? null : { kind: 'other', command: [name], description: `Effect ${name}` },
  run: async ({ name }) => {
    effects.push(name);
    return { parts: [textPart(name)] };
  },
});

const ignore = () => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Two sub-agents at once, one of which asks, and one in the background, which asks as well. */
const delegation: Script = {
  setup: 0,
  engine(store, ids, first) {
    if (first) effects = [];
    const provider = { ...conversationProvider(WORK), contextLimit: 10_000 };
    // What is left of the process that was killed finds its store closed.
    const parts = { provider, ...(first && { log: SILENT }) };
    return createHarness([], { store, ids, parts, tools: [agentTool(() => ROLES), EFFECT] });
  },
  async client({ engine, store }) {
    const parts = [textPart('Go')];
    await engine.send(SESSION, { type: 'input.submit', parts }, { ...CALLER, key: 'once' });
    await until(async () => {
      const { approvals } = await engine.snapshot(SESSION);
      for (const { approval } of approvals)
        await engine.answer(approval, { answer: 'once' }, CALLER).catch(() => undefined);
      const { sessions } = await store.list({ parent: 'included', limit: 100 });
      const isBusy = sessions.some(({ status }) => status === 'running' || status === 'waiting');
      return !isBusy && only(await engine.events(SESSION, 0, 1_000), 'turn.ended').length > 0;
    });
  },
  async check(events, store) {
    const { sessions } = await store.list({ parent: SESSION.id, limit: 100 });
    expect(sessions).toHaveLength(3);
    expect(new Set(effects).size).toBe(effects.length);
    for (const { ref } of sessions) {
      const log = await store.read(ref, 0, 1_000);
      expect(only(log, 'session.created')).toHaveLength(1);
      expect(only(log, 'input.accepted')).toHaveLength(1);
      expect(only(log, 'turn.ended')).toHaveLength(1);
    }
    const answers = only(events, 'tool.ended').map(({ parts }) => textOf(parts));
    expect(answers.filter((answer) => /First|Second/.test(answer))).toHaveLength(2);
    expect(only(events, 'input.accepted').filter(({ child, call }) => child && !call)).toHaveLength(
      answers.some((answer) => /Third/.test(answer)) ? 0 : 1,
    );
  },
};

/** Where the sub-agent with a worktree works; made anew for each kill. */
let place = '';
let merges: ReturnType<typeof mortalWorktrees>;
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** A sub-agent that writes in a copy of the folder; a person applies what it has written. */
const merging: Script = {
  setup: 0,
  settled: () => merges.settled(),
  engine(store, ids, first, dead) {
    merges = mortalWorktrees(dead);
    if (first) {
      rmSync(place, { recursive: true, force: true });
      place = mkdtempSync(join(tmpdir(), 'parlance-merging-'));
      mkdirSync(join(place, 'work'));
      writeFileSync(join(place, 'work/a.txt'), 'before');
    }
    const worktrees = new LocalWorktrees({
      data: join(place, 'data'),
      guard: { hide: [] },
      maxEntries: 100,
      maxBytes: 1_000_000,
      exists: async (ref) => (await store.load(ref)) !== null,
      check: async () => undefined,
      log: SILENT,
    });
    const provider = {
      ...conversationProvider({
        Go: [answerWith(spawn('one', 'One', { worktree: true })), says('Done.')],
        One: [calls('write', {}), says('Written.')],
      }),
      contextLimit: 10_000,
    };
    const parts = {
      provider,
      worktrees: merges.wrap(worktrees),
      root: join(place, 'work'),
      ...(first && { log: SILENT }),
    };
    return createHarness([], { store, ids, parts, tools: [agentTool(() => ROLES), WRITE] });
  },
  async client({ engine }) {
    const parts = [textPart('Go')];
    await engine.send(SESSION, { type: 'input.submit', parts }, { ...CALLER, key: 'once' });
    await until(async () => {
      const { questions } = await engine.snapshot(SESSION);
      for (const { question } of questions)
        await engine
          .answerQuestion(question, { answers: { merge: ['Apply'] } }, CALLER)
          .catch(() => undefined);
      return only(await engine.events(SESSION, 0, 1_000), 'turn.ended').length > 0;
    });
  },
  async check(events) {
    expect(only(events, 'question.asked')).toHaveLength(1);
    expect(only(events, 'question.answered')).toMatchObject([{ outcome: 'answered' }]);
    expect(textOf(only(events, 'tool.ended')[0]?.parts ?? [])).toBe(
      'Written.\n\nApplied to the working folder: a.txt (modified).',
    );
    expect(readFileSync(join(place, 'work/a.txt'), 'utf8')).toBe('after');
  },
};

const WRITE = defineTool({
  name: 'write',
  description: 'Writes a file.',
  input: z.object({}),
  repeatable: true,
  approval: () => null,
  run: async (_input, { root }) => {
    writeFileSync(join(root, 'a.txt'), 'after');
    return { parts: [textPart('written')] };
  },
});

const failing: Provider = {
  name: 'scripted',
  model: 'first',
  contextLimit: 1_000,
  async *stream() {
    yield { type: 'failed', fault: { code: 'provider_unavailable', message: 'Overloaded.' } };
  },
};

for (const [name, { skip, make }] of Object.entries(DISKS))
  describe.skipIf(skip)(`a process killed at any append, on ${name}`, () => {
    for (const when of ['before', 'after'] as const)
      for (let share = 0; share < SHARES; share++) {
        const part = `(${share + 1} of ${SHARES})`;
        test(`${when} it is written, with limits ${part}: each step counts once, is asked about and announced once`, () =>
          killEverywhere(make, { when, share }, spending));
        test(`${when} it is written, with a chain of models ${part}: the next one answers, its calls run once`, () =>
          killEverywhere(make, { when, share }, fallback));
        test(`${when} it is written, with sub-agents ${part}: each exists once, has one effect, and its outcome arrives once`, () =>
          killEverywhere(make, { when, share }, delegation));
        test(`${when} it is written, with a worktree ${part}: its changes are asked about once, and applied once`, () =>
          killEverywhere(make, { when, share }, merging));
      }
  });
