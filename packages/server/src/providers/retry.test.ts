import { describe, expect, test } from 'bun:test';
import type { ApiFault } from './faults.ts';
import { type RetryPolicy, retryAfter, retryDelay } from './retry.ts';

const policy = (more: Partial<RetryPolicy> = {}): RetryPolicy => ({
  attempts: 5,
  firstDelayMs: 100,
  maxDelayMs: 1000,
  random: () => 1,
  ...more,
});
const fault = (more: Partial<ApiFault> = {}): ApiFault => ({
  code: 'provider_unavailable',
  message: 'Away.',
  retryable: true,
  ...more,
});

describe('retries', () => {
  test('each delay is twice the previous one', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelay(policy(), attempt, fault()))).toEqual([
      100, 200, 400, 800,
    ]);
  });

  test('jitter removes up to half of a delay', () => {
    expect(retryDelay(policy({ random: () => 0 }), 2, fault())).toBe(100);
    expect(retryDelay(policy({ random: () => 0.5 }), 2, fault())).toBe(150);
  });

  test('no delay exceeds the maximum', () => {
    expect(retryDelay(policy({ attempts: 99 }), 50, fault())).toBe(1000);
  });

  test('the last attempt is the last', () => {
    expect(retryDelay(policy(), 4, fault())).not.toBeNull();
    expect(retryDelay(policy(), 5, fault())).toBeNull();
  });

  test('permanent failures are not retried', () => {
    expect(retryDelay(policy(), 1, fault({ retryable: false }))).toBeNull();
  });

  test('the delay that a vendor requests is used', () => {
    expect(retryDelay(policy(), 1, fault({ retryAfterMs: 700 }))).toBe(700);
    expect(retryDelay(policy(), 1, fault({ retryAfterMs: 0 }))).toBe(100);
  });

  test('a requested delay above the maximum is not awaited', () => {
    expect(retryDelay(policy(), 1, fault({ retryAfterMs: 1001 }))).toBeNull();
  });
});

describe('the requested delay', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const asked = (headers: Record<string, string>) => retryAfter(new Headers(headers), now);

  test('is in seconds, a date, or milliseconds, which take precedence', () => {
    expect(asked({ 'retry-after': '2' })).toBe(2000);
    expect(asked({ 'retry-after': '0.5' })).toBe(500);
    expect(asked({ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' })).toBe(3000);
    expect(asked({ 'retry-after': '2', 'retry-after-ms': '150' })).toBe(150);
  });

  test('is never negative', () => {
    expect(asked({ 'retry-after': 'Wed, 31 Dec 2025 23:59:59 GMT' })).toBe(0);
    expect(asked({ 'retry-after': '-1' })).toBe(0);
  });

  test('is unknown if it is missing or unreadable', () => {
    expect(asked({})).toBeUndefined();
    expect(asked({ 'retry-after': '' })).toBeUndefined();
    expect(asked({ 'retry-after': 'soon' })).toBeUndefined();
  });
});
