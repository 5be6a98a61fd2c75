import { expect, test } from 'bun:test';
import { TokenBucket, TokenBuckets } from './token-bucket.ts';

test('a bucket allows its rate per minute, in a burst or one by one', () => {
  const bucket = new TokenBucket(3, 0);
  expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 0]);
  expect(bucket.take(0)).toBe(20_000);
  expect(bucket.take(15_000)).toBe(5_000);
  expect([bucket.take(20_000), bucket.take(20_000)]).toEqual([0, 20_000]);
});

test('unused tokens accumulate for at most a minute', () => {
  const bucket = new TokenBucket(2, 0);
  const later = 3_600_000;
  expect([bucket.take(later), bucket.take(later), bucket.take(later)]).toEqual([0, 0, 30_000]);
});

test('a clock that moves backwards removes no tokens', () => {
  const bucket = new TokenBucket(1, 10_000);
  expect([bucket.take(10_000), bucket.take(5_000), bucket.take(65_000)]).toEqual([0, 60_000, 0]);
});

test('callers have separate buckets, and the oldest are dropped', () => {
  const buckets = new TokenBuckets(1, 2);
  expect([buckets.take('a', 0), buckets.take('b', 0), buckets.take('a', 0)]).toEqual([0, 0, 60_000]);
  expect(buckets.take('c', 0)).toBe(0);
  expect([buckets.take('a', 0), buckets.take('b', 0)]).toEqual([60_000, 0]);
});
