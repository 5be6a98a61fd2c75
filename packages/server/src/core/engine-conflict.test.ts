/** Two engines write to one session, as two processes on one data folder would. */
import { describe, expect, test } from 'bun:test';
import { type Fact, isFact, textPart } from '@parlance/protocol';
import { openMemoryStore } from '../stores/memory.ts';
import { controlledStore } from '../testing/controlled-store.ts';
import { calls, says } from '../testing/scripted-provider.ts';
import { CALLER, countingIds, SESSION, say, setStage } from '../testing/stage.ts';
import { LiveSession } from './live-session.ts';
import { AppendConflict } from './ports/store.ts';

const inputs = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === 'input.accepted' ? fact.parts : []));
const numbers = (facts: readonly Fact[]) => facts.map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('a session that another process has written to', () => {
  test('is read again from where it was, everyone who watches is told, and the command is carried out', async () => {
    const store = openMemoryStore();
    const first = await setStage([says('One.'), says('Three.')], { store });
    const second = await setStage([says('Two.')], { store });
    await say(first.engine, 'first');
    await first.engine.rested(SESSION);
    await say(second.engine, 'second');
    await second.engine.rested(SESSION);
    await say(first.engine, 'third');
    await first.engine.rested(SESSION);

    const facts = await store.read(SESSION, 0, 100);
    expect(inputs(facts)).toEqual([textPart('first'), textPart('second'), textPart('third')]);
    expect(numbers(facts)).toEqual(upTo(facts.length));
    expect(first.events.filter(isFact)).toEqual(facts);
    expect((await first.engine.now(SESSION)).seq).toBe(facts.length);
    // The model is shown what was said elsewhere, too.
    expect(JSON.stringify(first.provider.prompts.at(-1)?.items)).toContain('Two.');
    const loaded = await LiveSession.load(
      SESSION,
      first.engine.roster.first(first.engine.roster.defaultDomain),
      { store, now: Date.now, newId: countingIds(), log: console },
      [],
    );
    expect((await first.engine.now(SESSION)).seq).toBe(loaded.state.seq);
  });

  test('that it cancelled is stopped here, and nothing more of the turn is recorded', async () => {
    const store = openMemoryStore();
    const first = await setStage([calls('endless', {}), says('Next.')], { store });
    const started = first.happens('tool.started');
    await say(first.engine, 'begin');
    await started;
    const second = await setStage([], { store });
    const { turn } = await second.engine.now(SESSION);
    expect(turn).not.toBeNull();
    await second.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    const cancelled = first.happens('turn.cancelled');
    await say(first.engine, 'go on');
    await cancelled;
    await first.engine.rested(SESSION);
    const facts = await store.read(SESSION, 0, 100);
    expect(facts.filter(({ type }) => type === 'turn.cancelled')).toHaveLength(1);
    expect(facts.at(-1)?.type).toBe('turn.ended');
    expect(numbers(facts)).toEqual(upTo(facts.length));
    await second.engine.drain(0);
  });

  test('once more between reading and writing is read again, but not for ever', async () => {
    const inner = openMemoryStore();
    let conflicts = 0;
    let rivals = 3;
    const rival = await setStage(
      Array.from({ length: 10 }, () => says('Me.')),
      { store: inner },
    );
    const store: typeof inner = {
      ...inner,
      async append(expected, facts, record) {
        if (rivals-- > 0) {
          await say(rival.engine, 'me first');
          await rival.engine.rested(SESSION);
        }
        await inner.append(expected, facts, record).catch((thrown: unknown) => {
          if (thrown instanceof AppendConflict) conflicts++;
          throw thrown;
        });
      },
    };
    const { engine } = await setStage([says('At last.')], { store });
    await say(engine, 'now me');
    await engine.rested(SESSION);
    expect(conflicts).toBe(3);
    rivals = Number.POSITIVE_INFINITY;
    await expect(say(engine, 'never')).rejects.toThrow('is at fact');
    expect(conflicts).toBe(9);
  });
});

describe('a session that did not exist', () => {
  test('and was made elsewhere meanwhile is there when it is next asked for', async () => {
    const store = openMemoryStore();
    const first = await setStage([], { store });
    expect((await first.engine.now(SESSION)).seq).toBe(0);
    const second = await setStage([says('Hello.')], { store });
    await say(second.engine, 'Hi');
    await second.engine.rested(SESSION);
    const { seq } = await second.engine.now(SESSION);
    expect((await first.engine.now(SESSION)).seq).toBe(seq);
    expect(first.events.filter(isFact)).toEqual(await store.read(SESSION, 0, 100));
  });
});

test('an append that failed leaves the session as the log has it, also where it was written after all', async () => {
  const store = controlledStore();
  const inner = store.append;
  let lie = true;
  store.append = async (expected, facts, record) => {
    await inner(expected, facts, record);
    if (lie) throw new Error('the connection broke before the answer came');
  };
  const { engine, events } = await setStage([says('Hello.'), says('Hello.')], { store });
  await expect(say(engine, 'Hi')).rejects.toThrow('the connection broke');
  lie = false;
  await say(engine, 'Again');
  await engine.rested(SESSION);
  const facts = await store.read(SESSION, 0, 100);
  expect(inputs(facts)).toEqual([textPart('Hi'), textPart('Again')]);
  expect(numbers(facts)).toEqual(upTo(facts.length));
  expect(events.filter(isFact)).toEqual(facts);
});
