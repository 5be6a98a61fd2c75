import { describe, expect, test } from 'bun:test';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { until } from '../../testing/until.ts';
import { type Drive, RunQueue } from './run-queue.ts';
import type { Session } from './session.ts';

/** The part of a session that the queue uses. */
type Fake = { name: string; driving: boolean; abandoned: boolean; abandon(): void };
const fake = (name: string): Fake & Session => {
  const session: Fake = {
    name,
    driving: false,
    abandoned: false,
    abandon() {
      session.abandoned = true;
    },
  };
  return session as unknown as Fake & Session;
};

/** Drives that end when the test resolves them. */
function stageOf(atOnce: number, retryDelayMs?: (failures: number) => number, maxWaiting?: number) {
  const started: string[] = [];
  const rests: number[] = [];
  const work = new Set<string>();
  const drives = new Map<string, PromiseWithResolvers<boolean>>();
  const nameOf = (session: Session) => (session as unknown as Fake).name;
  const drive: Drive = (session) => {
    const name = nameOf(session);
    started.push(name);
    const ended = Promise.withResolvers<boolean>();
    drives.set(name, ended);
    return ended.promise;
  };
  const queue = new RunQueue({
    drive,
    hasWork: (session) => work.has(nameOf(session)),
    atOnce,
    retryDelayMs: (failures) => {
      rests.push(failures);
      return retryDelayMs?.(failures) ?? 0;
    },
    maxWaiting,
    clock: SYSTEM_CLOCK,
  });
  const end = async (name: string, went = true) => {
    drives.get(name)?.resolve(went);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { queue, started, rests, work, end };
}

const NEVER = 2 ** 31 - 1;

test('a session woken while it is driven is not driven twice', async () => {
  const { queue, started, end } = stageOf(10);
  const session = fake('a');
  queue.wake(session);
  queue.wake(session);
  expect(started).toEqual(['a']);
  await end('a');
  expect(session.driving).toBe(false);
});

test('sessions run concurrently up to the limit, the rest in order of arrival', async () => {
  const { queue, started, work, end } = stageOf(2);
  work.add('c').add('d');
  for (const name of ['a', 'b', 'c', 'd']) queue.wake(fake(name));
  expect(started).toEqual(['a', 'b']);
  await end('b');
  expect(started).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

test('work that arrives after the driver’s last check is executed', async () => {
  const { queue, started, work, end } = stageOf(10);
  const session = fake('a');
  queue.wake(session);
  work.add('a');
  await end('a');
  expect(started).toEqual(['a', 'a']);
  work.clear();
  await end('a');
  expect(started).toEqual(['a', 'a']);
});

test('a busy session does not starve the waiting ones', async () => {
  const { queue, started, work, end } = stageOf(1);
  work.add('a').add('b');
  queue.wake(fake('a'));
  queue.wake(fake('b'));
  work.delete('b');
  await end('a');
  expect(started).toEqual(['a', 'b']);
  await end('b');
  expect(started).toEqual(['a', 'b', 'a']);
});

test('a session that fails repeatedly backs off for longer each time', async () => {
  const { queue, started, rests, work, end } = stageOf(10, () => NEVER);
  const session = fake('a');
  work.add('a');
  queue.wake(session);
  await end('a', false);
  expect(started).toEqual(['a']);
  expect(session.driving).toBe(true); // in hand: it must not be dropped from memory
  queue.wake(session); // a command came: it is tried at once
  await end('a', false);
  expect(started).toEqual(['a', 'a']);
  expect(rests).toEqual([1, 2]);
  queue.wake(session);
  await end('a');
  work.delete('a');
  await end('a');
  queue.wake(session);
  work.add('a');
  await end('a', false);
  expect(rests).toEqual([1, 2, 1]);
  await queue.drain(0);
});

test('a session resumes by itself after its backoff', async () => {
  const { queue, work, started, end } = stageOf(10, () => 0);
  const session = fake('a');
  work.add('a');
  queue.wake(session);
  await end('a', false);
  await until(() => started.length >= 2);
  expect(started).toEqual(['a', 'a']);
});

test('a session without work takes no slot', async () => {
  const { queue, started, end } = stageOf(1);
  const idle = fake('b');
  queue.wake(fake('a'));
  queue.wake(idle);
  expect([idle.driving, queue.depths.turns]).toEqual([false, 0]);
  await end('a');
  expect(started).toEqual(['a']);
});

describe('a queue with one running and one waiting slot', () => {
  const full = () => {
    const harness = stageOf(1, () => NEVER, 1);
    const sessions = [fake('a'), fake('b')] as const;
    harness.work.add('a').add('b').add('c');
    for (const session of sessions) {
      const leave = harness.queue.enter(session);
      harness.queue.wake(session);
      leave?.();
    }
    return { ...harness, sessions };
  };

  test('refuses a third session, but accepts more work for its own', () => {
    const { queue, sessions } = full();
    expect(queue.enter(fake('c'))).toBeNull();
    for (const session of sessions) expect(queue.enter(session)).not.toBeNull();
  });

  test('accepts again when a turn has ended', async () => {
    const { queue, work, end } = full();
    work.delete('a');
    await end('a');
    expect(queue.enter(fake('c'))).not.toBeNull();
  });

  test('counts inputs that are being recorded, once per session', () => {
    const { queue } = stageOf(1, undefined, 1);
    const one = fake('a');
    const leaving = [queue.enter(one), queue.enter(one)];
    expect(queue.enter(fake('b'))).not.toBeNull();
    expect(queue.enter(fake('c'))).toBeNull();
    leaving[0]?.();
    expect(queue.enter(fake('c'))).toBeNull();
    leaving[1]?.();
    expect(queue.enter(fake('c'))).not.toBeNull();
  });

  test('accepts more work for a session whose first input is being recorded, even if full', () => {
    const { queue } = stageOf(1, undefined, 0);
    const one = fake('a');
    const leave = queue.enter(one);
    expect(leave).not.toBeNull();
    expect(queue.enter(one)).not.toBeNull();
    expect(queue.enter(fake('b'))).toBeNull();
  });

  test('counts sessions that are backing off', async () => {
    const { queue, work, end } = full();
    work.delete('b');
    await end('a', false);
    await end('b');
    expect(queue.enter(fake('c'))).not.toBeNull();
    expect(queue.enter(fake('d'))).toBeNull();
    await queue.drain(0);
  });

  test('accepts work that has started before, such as a turn after its approval', async () => {
    const { queue, started, end } = full();
    queue.wake(fake('c'));
    await end('a');
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });
});

test('draining waits for running drives and starts no other', async () => {
  const { queue, started, work, end } = stageOf(1);
  const [running, waiting] = [fake('a'), fake('b')];
  work.add('a');
  queue.wake(running);
  queue.wake(waiting);
  const drained = queue.drain(NEVER);
  await end('a');
  expect(await drained).toBe(true);
  queue.wake(fake('c'));
  expect(started).toEqual(['a']);
  expect([running.driving, waiting.driving, running.abandoned]).toEqual([false, false, false]);
});

test('draining stops running drives after the grace period', async () => {
  const { queue, end } = stageOf(1);
  const session = fake('a');
  queue.wake(session);
  expect(await queue.drain(0)).toBe(false);
  expect(session.abandoned).toBe(true);
  await end('a');
});
