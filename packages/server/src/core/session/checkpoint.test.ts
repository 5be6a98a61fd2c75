import { expect, test } from 'bun:test';
import { isDurable } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { readTranscript } from '../../testing/transcripts.ts';
import { checkpointOf, recordOf, restoredState } from './checkpoint.ts';
import { evolve } from './evolve.ts';

import { initialState, STATE_VERSION } from './session-state.ts';

const events = readTranscript('plain-answer').filter(isDurable);
const state = events.reduce(evolve, initialState({ id: 'agent', name: 'Agent' }));
const written = checkpointOf(state);
if (!written) throw new Error('the session is not idle');

/** As written by version 9. */
const { messageCount, ...rest } = state;
const older = (count = messageCount) => ({
  version: 9,
  seq: state.seq,
  state: JSON.stringify({ ...rest, said: count }),
});

test('a checkpoint of this version and of an older one give the same state, but for what was spent until then', () => {
  const restored = restoredState(written);
  expect(restored).toEqual(JSON.parse(JSON.stringify(state)));
  expect(restoredState(older())).toEqual(restored && { ...restored, spent: { tokens: 0, cost: 0 } });
});

test('a checkpoint that is too old or of a newer version is ignored', () => {
  for (const version of [1, 8, STATE_VERSION + 1]) expect(restoredState({ ...written, version })).toBeNull();
  expect(restoredState(null)).toBeNull();
});

test('a session opens from an older checkpoint, and its next checkpoint is current', async () => {
  const store = openMemoryStore();
  // More than its events count, which shows that they were not folded again.
  await store.append(0, events, recordOf(SESSION, state, older(41)));
  const { engine, nextEvent } = await createHarness([says('Again.')], { store });
  expect((await engine.snapshot(SESSION)).messageCount).toBe(41);
  await engine.send(SESSION, { type: 'session.label', labels: { a: 'b' } }, CALLER);
  expect(restoredState((await store.load(SESSION))?.checkpoint ?? null)?.messageCount).toBe(41);
  const ended = nextEvent('turn.ended');
  await say(engine, 'And again');
  await ended;
  const record = await store.load(SESSION);
  expect(record?.checkpoint).toMatchObject({ version: STATE_VERSION, seq: record?.head });
  expect(record?.messageCount).toBe(43);
});
