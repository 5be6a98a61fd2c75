import { describe, expect, test } from 'bun:test';
import { ParlanceError, retryAfterMs } from './error.ts';
import { delayMs, endsStream, worthRetrying } from './retry.ts';
import { manualClock } from './testing/manual-clock.ts';

const BACKOFF = { baseMs: 500, maxMs: 30_000 };
const error = (status?: number, code: ParlanceError['code'] = 'unexpected', after?: number) =>
  new ParlanceError(code, 'No.', { status, retryAfterMs: after });

describe('the delay before a retry', () => {
  test('doubles its upper bound up to the maximum', () => {
    const waits = (random: number) =>
      [0, 1, 2, 3, 10, 2_000].map((failures) =>
        delayMs({ backoff: BACKOFF, clock: manualClock(random) }, failures, error()),
      );
    expect(waits(0)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(waits(0.5)).toEqual([250, 500, 1_000, 2_000, 15_000, 15_000]);
    expect(Math.max(...waits(0.999))).toBeLessThan(30_000);
  });

  test('is at least the Retry-After', () => {
    for (const random of [0, 0.5, 0.999]) {
      const wait = delayMs(
        { backoff: BACKOFF, clock: manualClock(random) },
        0,
        error(503, 'overloaded', 90_000),
      );
      expect(wait).toBeGreaterThanOrEqual(90_000);
      expect(wait).toBeLessThan(90_500);
    }
  });
});

test('Retry-After is seconds or a date; anything else is ignored', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfterMs('2', now)).toBe(2_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:03 GMT', now)).toBe(3_000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  for (const header of [null, '', ' ', 'soon', 'Infinity']) expect(retryAfterMs(header, now)).toBeUndefined();
});

test('retries refused requests; retries lost ones only if they are idempotent', () => {
  for (const repeatable of [true, false]) {
    for (const status of [425, 429, 503]) expect(worthRetrying(error(status), repeatable)).toBe(true);
    expect(worthRetrying(error(undefined, 'unreachable'), repeatable)).toBe(repeatable);
    for (const status of [408, 502, 504]) expect(worthRetrying(error(status), repeatable)).toBe(repeatable);
    for (const status of [400, 401, 403, 404, 409, 413, 422, 500])
      expect(worthRetrying(error(status), repeatable)).toBe(false);
    expect(worthRetrying(error(502, 'provider_unavailable'), repeatable)).toBe(false);
    expect(worthRetrying(error(429, 'provider_limited'), repeatable)).toBe(false);
  }
});

test('only a definite refusal ends a stream', () => {
  for (const status of [400, 401, 403, 404, 410]) expect(endsStream(error(status))).toBe(true);
  for (const status of [undefined, 200, 408, 425, 429, 500, 502, 503, 504])
    expect(endsStream(error(status))).toBe(false);
});
