import { describe, expect, test } from 'bun:test';
import { type Fact, isFact, LOCAL, parseFact, type SessionId } from '@parlance/protocol';
import { openMemoryStore } from '../stores/memory.ts';
import { SCENARIOS } from '../testing/scenarios.ts';
import { says } from '../testing/scripted-provider.ts';
import { CALLER, SESSION, setStage } from '../testing/stage.ts';
import { readTranscript } from '../testing/transcripts.ts';
import type { EventStore, SessionRef } from './ports/store.ts';
import { atRest, evolve, initialState } from './session.ts';
import { exportedLines } from './session-export.ts';
import { checkSessions, readSessions, writeSession } from './session-import.ts';

const asItIs = (ref: SessionRef): SessionRef => ref;
async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.replace(/\n$/, '').split('\n');
}
/** As a store gives them. */
const factsIn = (name: string): Fact[] => readTranscript(name).filter(isFact).map(parseFact);

/** The number of the fact after which the session was last at rest. */
function lastRest(facts: readonly Fact[]): number | undefined {
  let state = initialState({ id: '', name: '' });
  const rests: number[] = [];
  for (const fact of facts) {
    state = evolve(state, fact);
    if (atRest(state)) rests.push(fact.seq);
  }
  return rests.at(-1);
}

async function fileOf(facts: readonly Fact[], head = facts.length): Promise<string> {
  const read = async (after: number, limit: number) => facts.slice(after, after + limit);
  return (await Array.fromAsync(exportedLines({ ref: SESSION, head }, read))).join('');
}

async function imported(store: EventStore, text: string, renamed = asItIs): Promise<boolean[]> {
  await checkSessions(store, readSessions(linesOf(text), renamed));
  const written: boolean[] = [];
  for await (const session of readSessions(linesOf(text), renamed))
    written.push(await writeSession(store, session));
  return written;
}

const refusal = async (text: string, store: EventStore = openMemoryStore()): Promise<string> => {
  const before = await store.count({ archived: 'included' });
  try {
    await imported(store, text);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'invalid' });
    expect(await store.count({ archived: 'included' })).toBe(before);
    return (thrown as Error).message;
  }
  throw new Error('it was taken in');
};

describe('what was exported', () => {
  for (const name of Object.keys(SCENARIOS)) {
    test(`${name}: is imported as it was, wherever it was cut`, async () => {
      const facts = factsIn(name);
      for (let head = 1; head <= facts.length; head++) {
        const store = openMemoryStore();
        const text = await fileOf(facts.slice(0, head));
        expect(await imported(store, text)).toEqual([true]);
        expect(await store.read(SESSION, 0, 1_000)).toEqual(facts.slice(0, head));
        const record = await store.load(SESSION);
        expect([record?.head, record?.checkpoint?.seq]).toEqual([head, lastRest(facts.slice(0, head))]);
        // The engine reads it as one of its own.
        const { engine } = await setStage([], { store });
        expect((await engine.now(SESSION)).seq).toBe(head);
        expect(await imported(store, text)).toEqual([false]);
        expect(await fileOf(await store.read(SESSION, 0, 1_000))).toBe(text);
      }
    });
  }

  test('goes on where it was: an approval that waits is answered, and the turn ends', async () => {
    const facts = factsIn('approval-yes');
    const asked = facts.findIndex(({ type }) => type === 'approval.requested');
    const store = openMemoryStore();
    await imported(store, await fileOf(facts.slice(0, asked + 1)));
    const stage = await setStage([says('All tests pass.')], { store });
    const ended = stage.happens('turn.ended');
    const {
      waiting: [waiting],
    } = await stage.engine.approvals(LOCAL, { limit: 10 });
    await stage.engine.answer(waiting?.approval?.approval ?? ('' as never), { answer: 'once' }, CALLER);
    await ended;
    expect((await store.load(SESSION))?.status).toBe('idle');
  });

  test('an unfinished turn goes on as after a restart', async () => {
    const facts = factsIn('plain-answer');
    const started = facts.findIndex(({ type }) => type === 'turn.started');
    const store = openMemoryStore();
    await imported(store, await fileOf(facts.slice(0, started + 1)));
    expect((await store.load(SESSION))?.status).toBe('running');
    const stage = await setStage([says('Hello.')], { store });
    const ended = stage.happens('turn.ended');
    expect(await stage.engine.recover()).toBe(1);
    await ended;
    expect(stage.events.map(({ type }) => type)).toContain('turn.resumed');
  });

  test('may be called otherwise here, and be of someone else', async () => {
    const store = openMemoryStore();
    const other = { owner: 'ada' as SessionRef['owner'], id: 'copy' as SessionId };
    await imported(store, await fileOf(factsIn('plain-answer')), () => other);
    const facts = await store.read(other, 0, 100);
    expect(new Set(facts.map(({ session }) => session))).toEqual(new Set([other.id]));
    expect(await store.load(SESSION)).toBeNull();
  });
});

describe('refused with the number of the line, and nothing is written:', () => {
  const good = factsIn('tool-call');
  const lines = async (change: (lines: string[]) => string[]): Promise<string> =>
    change((await fileOf(good)).trimEnd().split('\n')).join('\n');
  const changed = (at: number, change: (value: Record<string, unknown>) => unknown) =>
    lines((all) =>
      all.map((line, index) => (index === at ? JSON.stringify(change(JSON.parse(line))) : line)),
    );

  const CASES: Record<string, [text: () => Promise<string>, message: string | RegExp]> = {
    'no header': [
      () => lines((all) => all.slice(1)),
      'line 1: a session begins with a header, and this is none',
    ],
    'another format': [
      () => changed(0, (header) => ({ ...header, format: 'other' })),
      /^line 1: the header is not one that is known: format: /,
    ],
    'a newer version': [
      () => changed(0, (header) => ({ ...header, version: 3 })),
      'line 1: the header is not one that is known: the file has schema version 3, which a newer version of Parlance wrote: this one reads up to 2',
    ],
    'events of a newer version': [
      () => changed(0, (header) => ({ ...header, eventVersion: 2 })),
      'line 1: the header is not one that is known: the session has schema version 2, which a newer version of Parlance wrote: this one reads up to 1',
    ],
    'a header without a version': [
      () => changed(0, ({ version, ...header }) => ({ ...header, was: version })),
      /^line 1: the header is not one that is known: version: /,
    ],
    'a version that never was': [
      () => changed(0, (header) => ({ ...header, version: 0 })),
      /^line 1: the header is not one that is known: version: /,
    ],
    'not JSON': [() => lines((all) => all.with(2, '{"type":')), 'line 3: it is not JSON'],
    'an empty line': [() => lines((all) => all.toSpliced(2, 0, '')), 'line 3: it is not JSON'],
    'a fact that is missing': [
      () => lines((all) => all.toSpliced(3, 1)),
      'line 4: fact 3 is to follow, and this is fact 4',
    ],
    'a file that was cut off': [
      () => lines((all) => all.slice(0, -2)),
      `line ${good.length - 1}: session session-1 has ${good.length - 2} facts, and its header says ${good.length}`,
    ],
    'a fact of another session': [
      () => changed(2, (fact) => ({ ...fact, session: 'other' })),
      'line 3: it is of session other, and the header says session-1',
    ],
    'an event that is not a fact': [
      () => changed(2, (fact) => ({ ...fact, type: 'text.delta' })),
      'line 3: it is not a fact: not a fact: text.delta',
    ],
    'a type that is a name of every object': [
      () => changed(2, (fact) => ({ ...fact, type: 'constructor' })),
      'line 3: it is not a fact: not a fact: constructor',
    ],
    'a field of the wrong type': [
      () => changed(2, (fact) => ({ ...fact, input: 7 })),
      /^line 3: it is not a fact: input: /,
    ],
    'a moment that is none': [
      () => changed(2, (fact) => ({ ...fact, at: 1e300 })),
      'line 3: it is not a fact: at: it is not a moment',
    ],
    'a list': [() => lines((all) => all.with(2, '[]')), 'line 3: it is not a fact: not a fact: undefined'],
    'deep nesting': [
      () => lines((all) => all.with(2, `${'['.repeat(200_000)}${']'.repeat(200_000)}`)),
      'line 3: it is nested deeper than 1000',
    ],
    'a session twice': [
      () => lines((all) => [...all, ...all]),
      `line ${good.length + 2}: session session-1 of local is there twice`,
    ],
    'another beginning': [
      async () => (await fileOf([{ ...good[1], seq: 1 } as Fact])).trimEnd(),
      /^line 2: a session begins with session\.created, not with /,
    ],
  };
  for (const [name, [text, message]] of Object.entries(CASES)) {
    test(name, async () => {
      const told = await refusal(await text());
      if (typeof message === 'string') expect(told).toBe(message);
      else expect(told).toMatch(message);
    });
  }

  test('a session that is there and is another', async () => {
    const store = openMemoryStore();
    await imported(store, await fileOf(good));
    const other = await changed(2, (fact) => ({ ...fact, id: 'another' }));
    expect(await refusal(other, store)).toBe('line 1: local has another session session-1 already');
    const shorter = await fileOf(good.slice(0, 3));
    expect(await refusal(shorter, store)).toBe('line 1: local has another session session-1 already');
  });
});

test('a name of every object in what a tool was given changes no object', async () => {
  const text = (await fileOf(factsIn('tool-call'))).replace(
    /"input":\{/,
    '"input":{"__proto__":{"polluted":true},',
  );
  const store = openMemoryStore();
  await imported(store, text);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
