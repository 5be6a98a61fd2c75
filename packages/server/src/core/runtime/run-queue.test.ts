import { describe, expect, test } from 'bun:test';
import type { LiveSession } from './live-session.ts';
import { type Drive, RunQueue } from './run-queue.ts';

/** As much of a session as the queue sees. */
type Fake = { name: string; driving: boolean; abandoned: boolean; abandon(): void };
const fake = (name: string): Fake & LiveSession => {
  const session: Fake = {
    name,
    driving: false,
    abandoned: false,
    abandon() {
      session.abandoned = true;
    },
  };
  return session as unknown as Fake & LiveSession;
};

/** Drives that end when the test says so. */
function stageOf(atOnce: number, restMs?: (failures: number) => number, mostWaiting?: number) {
  const started: string[] = [];
  const rests: number[] = [];
  const work = new Set<string>();
  const drives = new Map<string, PromiseWithResolvers<boolean>>();
  const nameOf = (session: LiveSession) => (session as unknown as Fake).name;
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
    restMs: (failures) => {
      rests.push(failures);
      return restMs?.(failures) ?? 0;
    },
    mostWaiting,
  });
  const end = async (name: string, went = true) => {
    drives.get(name)?.resolve(went);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { queue, started, rests, work, end };
}

const NEVER = 2 ** 31 - 1;

test('a session that is woken while it is driven is not driven twice', async () => {
  const { queue, started, end } = stageOf(10);
  const session = fake('a');
  queue.wake(session);
  queue.wake(session);
  expect(started).toEqual(['a']);
  await end('a');
  expect(session.driving).toBe(false);
});

test('sessions run side by side up to the limit, and the rest in order of arrival', async () => {
  const { queue, started, work, end } = stageOf(2);
  work.add('c').add('d');
  for (const name of ['a', 'b', 'c', 'd']) queue.wake(fake(name));
  expect(started).toEqual(['a', 'b']);
  await end('b');
  expect(started).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

test('work that came in after the last look of the driver is taken up', async () => {
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

test('a session with much to do does not keep those that wait from their turn', async () => {
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

test('a session that cannot go on rests for longer each time instead of spinning', async () => {
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

test('a session that rested goes on by itself', async () => {
  const { queue, work, started, end } = stageOf(10, () => 0);
  const session = fake('a');
  work.add('a');
  queue.wake(session);
  await end('a', false);
  while (started.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual(['a', 'a']);
});

test('where there is no room, what has nothing to do takes no place', async () => {
  const { queue, started, end } = stageOf(1);
  const idle = fake('b');
  queue.wake(fake('a'));
  queue.wake(idle);
  expect([idle.driving, queue.depths.turns]).toEqual([false, 0]);
  await end('a');
  expect(started).toEqual(['a']);
});

describe('a queue with room for one turn and one that waits', () => {
  const full = () => {
    const stage = stageOf(1, () => NEVER, 1);
    const sessions = [fake('a'), fake('b')] as const;
    stage.work.add('a').add('b').add('c');
    for (const session of sessions) {
      const leave = stage.queue.enter(session);
      stage.queue.wake(session);
      leave?.();
    }
    return { ...stage, sessions };
  };

  test('has no place for a third, but for more work of those it has', () => {
    const { queue, sessions } = full();
    expect(queue.enter(fake('c'))).toBeNull();
    for (const session of sessions) expect(queue.enter(session)).not.toBeNull();
  });

  test('has a place again when a turn has ended', async () => {
    const { queue, work, end } = full();
    work.delete('a');
    await end('a');
    expect(queue.enter(fake('c'))).not.toBeNull();
  });

  test('counts what is being recorded, once for each session', () => {
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

  test('takes more work of a session whose first is still being recorded, though it is full', () => {
    const { queue } = stageOf(1, undefined, 0);
    const one = fake('a');
    const leave = queue.enter(one);
    expect(leave).not.toBeNull();
    expect(queue.enter(one)).not.toBeNull();
    expect(queue.enter(fake('b'))).toBeNull();
  });

  test('counts sessions that rest because they cannot go on', async () => {
    const { queue, work, end } = full();
    work.delete('b');
    await end('a', false);
    await end('b');
    expect(queue.enter(fake('c'))).not.toBeNull();
    expect(queue.enter(fake('d'))).toBeNull();
    await queue.drain(0);
  });

  test('takes work that was begun before, such as a turn whose approval was answered', async () => {
    const { queue, started, end } = full();
    queue.wake(fake('c'));
    await end('a');
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });
});

test('draining waits for the running drives and starts no other', async () => {
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

test('draining stops what is still running after the grace', async () => {
  const { queue, end } = stageOf(1);
  const session = fake('a');
  queue.wake(session);
  expect(await queue.drain(0)).toBe(false);
  expect(session.abandoned).toBe(true);
  await end('a');
});
