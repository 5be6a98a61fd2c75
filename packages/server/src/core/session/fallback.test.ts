import { describe, expect, test } from 'bun:test';
import { afterStep, chooseModel, coolDownMs, MAX_COOL_DOWN_MS, mayFallBack } from './fallback.ts';

const model = (name: string, contextLimit = 1_000) => ({ name: 'vendor', model: name, contextLimit });
const passed = (name: string, reason: 'failed' | 'cooling' | 'too_small', until?: number) => ({
  provider: 'vendor',
  model: name,
  reason,
  ...(until !== undefined && { until }),
});
const NOW = 1_000_000;
const well = { passed: [], coolingUntil: () => undefined, tokens: 10, threshold: 0.8, now: NOW };
const chain = [model('a'), model('b'), model('c')];

describe('the model of a chain', () => {
  test('is the first one, whatever its context', () => {
    expect(chooseModel(chain, { ...well, tokens: 5_000 })?.model.model).toBe('a');
  });

  test('is the next one while the first one cools down, and the first one from that moment on', () => {
    const coolingUntil = ({ model: name }: { model: string }) => (name === 'a' ? NOW + 5 : undefined);
    expect(chooseModel(chain, { ...well, coolingUntil })).toEqual({
      model: model('b'),
      isReady: true,
      passed: [passed('a', 'cooling', NOW + 5)],
    });
    expect(chooseModel(chain, { ...well, coolingUntil, now: NOW + 5 })?.model.model).toBe('a');
  });

  test('is not one that has failed in this step, even if its cool-down is over', () => {
    const choice = chooseModel(chain, { ...well, passed: [passed('a', 'failed', NOW - 1)] });
    expect(choice).toMatchObject({ model: { model: 'b' }, passed: [passed('a', 'failed', NOW - 1)] });
  });

  test('is one that the conversation fits into, before one that it would be compacted for', () => {
    const small = [model('a'), model('b', 100), model('c')];
    const failed = { ...well, passed: [passed('a', 'failed')], tokens: 500 };
    expect(chooseModel(small, failed)).toMatchObject({
      model: { model: 'c' },
      passed: [passed('a', 'failed'), passed('b', 'too_small')],
    });
    expect(chooseModel(small.slice(0, 2), failed)).toMatchObject({ model: { model: 'b' }, isReady: false });
    expect(chooseModel(small.slice(0, 2), { ...failed, threshold: 1 })).toBeNull();
  });

  test('is one that cools down if no other is left, each once', () => {
    const all = { ...well, coolingUntil: () => NOW + 9 };
    expect(chooseModel(chain, all)).toMatchObject({ model: { model: 'a' }, isReady: false });
    const two = [passed('a', 'failed', NOW + 9), passed('b', 'failed', NOW + 9)];
    expect(chooseModel(chain, { ...all, passed: two })).toMatchObject({ model: { model: 'c' }, passed: two });
    expect(chooseModel(chain, { ...all, passed: [...two, passed('c', 'failed')] })).toBeNull();
  });

  test('is told apart from a model of another vendor with the same name', () => {
    const same = [model('a'), { ...model('a'), name: 'other' }];
    expect(chooseModel(same, { ...well, passed: [passed('a', 'failed')] })?.model.name).toBe('other');
  });

  test('does not stay away because a clock was set back', () => {
    const until = NOW + 10 * MAX_COOL_DOWN_MS;
    expect(chooseModel(chain, { ...well, coolingUntil: () => until })?.model.model).toBe('a');
  });
});

test('only a rate limit, an outage and a time-out lead to another model', () => {
  const codes = [
    'provider_limited',
    'provider_unavailable',
    'provider_rejected',
    'context_too_long',
  ] as const;
  expect(codes.map((code) => mayFallBack({ code }))).toEqual([true, true, false, false]);
  for (const code of ['cancelled', 'internal', 'answer_too_long', 'invalid', 'limited'] as const)
    expect(mayFallBack({ code })).toBe(false);
});

test('a cool-down doubles, is at least what the vendor asks for, and has an end', () => {
  expect([1, 2, 3, 10].map((failures) => coolDownMs(30_000, failures))).toEqual([
    30_000, 60_000, 120_000, 600_000,
  ]);
  expect(coolDownMs(30_000, 1, 45_000)).toBe(45_000);
  expect(coolDownMs(30_000, 2, 45_000)).toBe(60_000);
  for (const huge of [1e300, Number.POSITIVE_INFINITY, 7 * 86_400_000])
    expect(coolDownMs(30_000, 1, huge)).toBe(MAX_COOL_DOWN_MS);
  for (const none of [-1, Number.NEGATIVE_INFINITY, Number.NaN])
    expect(coolDownMs(30_000, 1, none)).toBe(30_000);
});

test('after a step, the models that failed in it cool down, and are forgotten if another one answered', () => {
  const fallback = {
    provider: 'vendor',
    model: 'c',
    passed: [passed('a', 'failed', 5), passed('b', 'too_small')],
  };
  expect(afterStep(fallback, 'c')).toEqual({ ...fallback, passed: [passed('a', 'cooling', 5)] });
  expect(afterStep(fallback, 'a')).toBeUndefined();
});
