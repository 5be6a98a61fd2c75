import { expect, test } from 'bun:test';
import {
  type CommandInput,
  type DurableEvent,
  Fault,
  isDurable,
  type SessionEvent,
  textPart,
} from '@parlance/protocol';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { quiet, ticks } from '../../testing/ticks.ts';

const tell = (text: string): Line => ({ type: 'text', text });
const SCRIPT = [
  calls(
    'lookup',
    { word: 'a' },
    { before: [{ type: 'reasoning', text: 'Hm.' }, tell('Let '), tell('me '), tell('look.')] },
  ),
  says('It ', 'is ', 'a ', 'word.'),
  says('Second ', 'answer.'),
];

const durableOf = (events: readonly SessionEvent[]): DurableEvent[] => events.filter(isDurable);

/** No delta after the end of its turn or block; the text of every block equals its deltas. */
function checkBlocks(events: readonly SessionEvent[]): void {
  const shown = new Map<string, string>();
  const over = new Set<string>();
  for (const event of events) {
    if (event.type === 'text.delta' || event.type === 'reasoning.delta') {
      expect({ over: over.has(event.turn) || over.has(event.block) }).toEqual({ over: false });
      shown.set(event.block, (shown.get(event.block) ?? '') + event.text);
    }
    if (event.type === 'text.ended' || event.type === 'reasoning.ended') {
      expect(shown.get(event.block)).toBe(event.text);
      over.add(event.block);
    }
    if (event.type === 'turn.cancelled' || event.type === 'turn.ended') over.add(event.turn);
  }
}

/** Every call has one outcome, every turn has one end, and event numbers have no gaps. */
function checkEvents(events: readonly DurableEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const count = (type: DurableEvent['type']) => events.filter((event) => event.type === type).length;
  expect(count('tool.ended')).toBe(count('call.requested'));
  expect(count('turn.ended') + count('turn.cancelled') + count('turn.failed')).toBe(count('turn.started'));
  expect(count('turn.started')).toBe(count('input.accepted'));
}

/** Sends two inputs and runs `act` after the given number of ticks; false if everything had ended by then. */
async function actAt(
  moment: number,
  act: (harness: Harness) => Promise<unknown>,
  store = controlledStore(),
): Promise<{ harness: Harness; before: boolean }> {
  const harness = await createHarness(SCRIPT, { store });
  const sent = Promise.all([say(harness.engine, 'First'), say(harness.engine, 'Second')]);
  await ticks(moment);
  const before = durableOf(harness.events).filter(({ type }) => type === 'turn.ended').length < 2;
  await act(harness);
  await sent;
  await quiet();
  return { harness, before };
}

test('a cancel at any moment ends the turn cleanly or finds none, and the next input is answered', async () => {
  let cancelled = 0;
  for (let moment = 0; ; moment++) {
    const refused: string[] = [];
    const { harness, before } = await actAt(moment, ({ engine }) =>
      engine.send(SESSION, { type: 'turn.cancel' }, CALLER).catch((thrown) => {
        refused.push(thrown instanceof Fault ? thrown.code : String(thrown));
      }),
    );
    const ends = durableOf(harness.events).filter(({ type }) => type === 'turn.cancelled');
    expect({ moment, refused, ends: ends.length }).toEqual({
      moment,
      refused: ends.length === 0 ? ['no_turn'] : [],
      ends: ends.length,
    });
    cancelled += ends.length;
    checkEvents(durableOf(harness.events));
    checkBlocks(harness.events);
    if (!before) break;
  }
  expect(cancelled).toBeGreaterThan(40);
});

test('a superseding message at any moment ends the turn cleanly, and each input starts one turn', async () => {
  for (let moment = 0; ; moment++) {
    const { harness, before } = await actAt(moment, ({ engine }) => say(engine, 'Third', 'supersede'));
    const events = durableOf(harness.events);
    checkEvents(events);
    checkBlocks(harness.events);
    const begun = events.flatMap((event) => (event.type === 'turn.started' ? [event.input] : []));
    expect(new Set(begun).size).toBe(3);
    if (!before) break;
  }
});

test('a clear at any moment leaves no trace of the turn in the next prompt', async () => {
  for (let moment = 0; ; moment++) {
    const { harness, before } = await actAt(moment, ({ engine }) =>
      engine.send(SESSION, { type: 'session.clear' }, CALLER),
    );
    checkEvents(durableOf(harness.events));
    checkBlocks(harness.events);
    const cleared = durableOf(harness.events).findIndex(({ type }) => type === 'session.cleared');
    const begun = durableOf(harness.events).findLastIndex(({ type }) => type === 'turn.started');
    if (cleared >= 0 && cleared < begun) {
      const items = harness.provider.prompts.at(-1)?.items ?? [];
      expect(items[0]).toMatchObject({ kind: 'user', parts: [{ text: 'Second' }] });
    }
    if (!before) break;
  }
});

test('a cancel that cannot be stored, at any moment, changes nothing: the turn completes', async () => {
  for (let moment = 0; ; moment++) {
    const store = controlledStore();
    store.fail(1, 'turn.cancelled');
    const { harness, before } = await actAt(
      moment,
      ({ engine }) =>
        engine.send(SESSION, { type: 'turn.cancel' }, CALLER).then(
          () => expect.unreachable(),
          () => undefined,
        ),
      store,
    );
    const events = durableOf(harness.events);
    expect(events.filter(({ type }) => type === 'turn.ended')).toHaveLength(2);
    checkEvents(events);
    checkBlocks(harness.events);
    if (!before) break;
  }
});

test('an input repeated with its key does not disturb its running turn', async () => {
  const { engine, provider, nextEvent, events } = await createHarness([
    [tell('This takes '), { type: 'hang' }],
    says('Never.'),
  ]);
  const caller = { ...CALLER, key: 'once' };
  const command: CommandInput = { type: 'input.submit', parts: [textPart('Hi')], mode: 'supersede' };
  const delta = nextEvent('text.delta');
  const first = await engine.send(SESSION, command, caller);
  await delta;
  const second = await engine.send(SESSION, command, caller);
  await quiet();
  expect(first.events.map(({ type }) => type)).toEqual(['session.created', 'input.accepted', 'turn.started']);
  expect(second).toEqual({ seq: first.seq, events: [] });
  expect(provider.prompts).toHaveLength(1);
  expect(durableOf(events)).toHaveLength(3);
});

test('a refused cancel stops nothing', async () => {
  const { engine, provider, nextEvent } = await createHarness([[tell('Half '), { type: 'hang' }]]);
  const delta = nextEvent('text.delta');
  await say(engine, 'Hi');
  await delta;
  await expect(say(engine, '  ', 'supersede')).rejects.toMatchObject({ code: 'empty' });
  await quiet();
  expect(provider.prompts).toHaveLength(1);
  expect((await engine.snapshot(SESSION)).open?.text).toBe('Half ');
});

test('a session is not idle while its turn is superseded', async () => {
  const { engine, provider, nextEvent } = await createHarness([
    [tell('One '), { type: 'hang' }],
    [tell('Two '), { type: 'hang' }],
  ]);
  await say(engine, 'First');
  await provider.hanging;
  let rested = false;
  const resting = engine.whenIdle(SESSION).then(() => {
    rested = true;
  });
  const second = nextEvent('turn.started');
  await say(engine, 'Second', 'supersede');
  await second;
  await quiet();
  expect(rested).toBe(false);
  await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
  await resting;
});
