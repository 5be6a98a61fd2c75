import { describe, expect, test } from 'bun:test';
import { Silence } from './silence.ts';

const MS = 40;

/** Resolves after this many quarters of the timeout, measured by a timer like the one under test. */
async function quarters(count: number, each: () => void = () => undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let passed = 0;
  const timer = setInterval(() => {
    each();
    if (++passed === count) resolve();
  }, MS / 4);
  await promise;
  clearInterval(timer);
}

describe('an idle timeout', () => {
  test('fires once if no bytes arrive', async () => {
    const told: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const silence = new Silence(MS, () => {
      told.push('silent');
      resolve();
    });
    await promise;
    await quarters(12);
    silence.stop();
    expect(told).toEqual(['silent']);
  });

  test('does not fire while bytes arrive', async () => {
    const told: string[] = [];
    const silence = new Silence(MS, () => told.push('silent'));
    await quarters(20, () => silence.received());
    silence.stop();
    expect(told).toEqual([]);
  });

  test('fires when bytes stop arriving', async () => {
    const told = Promise.withResolvers<void>();
    const silence = new Silence(MS, told.resolve);
    await quarters(8, () => silence.received());
    await told.promise;
    silence.stop();
  });

  test('fires again if bytes arrived in between', async () => {
    let told = Promise.withResolvers<void>();
    const silence = new Silence(MS, () => told.resolve());
    await told.promise;
    told = Promise.withResolvers<void>();
    silence.received();
    await told.promise;
    silence.stop();
  });

  test('fires after the longer time if bytes arrive but no events', async () => {
    const told = Promise.withResolvers<void>();
    const silence = new Silence(MS, told.resolve, 3 * MS);
    const timer = setInterval(() => silence.received(), MS / 8);
    await told.promise;
    clearInterval(timer);
    silence.stop();
  });

  test('does not fire while events arrive', async () => {
    const told: string[] = [];
    const silence = new Silence(MS, () => told.push('silent'), 2 * MS);
    await quarters(20, () => {
      silence.received();
      silence.said();
    });
    silence.stop();
    expect(told).toEqual([]);
  });

  test('does not fire after it is stopped', async () => {
    const told: string[] = [];
    const silence = new Silence(MS, () => told.push('silent'));
    await quarters(2);
    silence.stop();
    await quarters(12);
    expect(told).toEqual([]);
  });
});
