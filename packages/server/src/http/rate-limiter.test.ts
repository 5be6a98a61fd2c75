import { expect, test } from 'bun:test';
import { fixedWindowLimiter } from './rate-limiter.ts';

function limiterAt(options: { limit: number; maxKeys?: number }) {
  const clock = { now: 0 };
  return { clock, limiter: fixedWindowLimiter({ windowMs: 1000, ...options, now: () => clock.now }) };
}

test('a window allows its limit, and refused uses do not extend it', () => {
  const { clock, limiter } = limiterAt({ limit: 2 });
  expect(limiter.take('a')).toEqual({ allowed: true, remaining: 1, resetMs: 1000 });
  clock.now = 400;
  expect(limiter.take('a')).toEqual({ allowed: true, remaining: 0, resetMs: 600 });
  clock.now = 900;
  expect(limiter.take('a')).toEqual({ allowed: false, remaining: 0, resetMs: 100 });
  clock.now = 1000;
  expect(limiter.take('a')).toEqual({ allowed: true, remaining: 1, resetMs: 1000 });
});

test('keys are limited independently, and a reset key starts again', () => {
  const { limiter } = limiterAt({ limit: 1 });
  expect([limiter.take('a').allowed, limiter.take('b').allowed, limiter.take('a').allowed]).toEqual([
    true,
    true,
    false,
  ]);
  limiter.reset('a');
  expect([limiter.take('a').allowed, limiter.take('b').allowed]).toEqual([true, false]);
});

test('a refund undoes one use and never adds to the limit', () => {
  const { limiter } = limiterAt({ limit: 1 });
  limiter.refund('a');
  expect([limiter.take('a').allowed, limiter.take('a').allowed]).toEqual([true, false]);
  limiter.refund('a');
  limiter.refund('a');
  limiter.refund('a');
  expect([limiter.take('a').allowed, limiter.take('a').allowed]).toEqual([true, false]);
});

test('beyond the maximum number of keys, the least recently used one is dropped', () => {
  const { limiter } = limiterAt({ limit: 1, maxKeys: 2 });
  for (const key of ['a', 'b', 'a', 'c']) limiter.take(key);
  expect([limiter.take('a').allowed, limiter.take('b').allowed]).toEqual([false, true]);
});
