/** Histories with one planted violation each, to show that the checker can fail. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Violation } from './checker.ts';
import { History, type Operation, parseHistory } from './history.ts';
import { checkHistory } from './history-checker.ts';

type Of<Name extends Operation['operation']> = Extract<Operation, { operation: Name }>;
type Timed = Pick<Operation, 'process' | 'start' | 'end' | 'type'>;

/** From `start` to `end`; unknown without an end. */
const at = (start: number, end: number | null, more: Partial<Timed> = {}): Timed => ({
  process: 'one',
  start,
  end,
  type: end === null ? 'info' : 'ok',
  ...more,
});

const input = (
  text: string,
  timed: Timed,
  result: Of<'input'>['result'] & { key?: string } = {},
): Operation => {
  const { key, ...stored } = result;
  return { ...timed, operation: 'input', arguments: { session: 's', text, key }, result: stored };
};
const read = (inputs: string[], timed: Timed, answers: [string, string][] = []): Operation => ({
  ...timed,
  operation: 'read',
  arguments: { session: 's' },
  result: { inputs, answers },
});
const approve = (answer: string, timed: Timed): Operation => ({
  ...timed,
  operation: 'approve',
  arguments: { session: 's', approval: 'a', answer },
});
const credential = (name: 'use' | 'revoke', timed: Timed): Operation => ({
  ...timed,
  operation: `credential.${name}`,
  arguments: { credential: 'k' },
});
const leases = (start: number, epoch: number, driver: string | null): Operation => ({
  ...at(start, start + 1),
  operation: 'leases',
  arguments: {},
  result: { held: [['local/s', epoch, driver]] },
});

const used = (tokens: number, timed: Timed): Operation => ({
  ...timed,
  operation: 'read',
  arguments: { session: 's' },
  result: { inputs: [], answers: [], tokens },
});
const usage = (tokens: number, timed: Timed): Operation => ({
  ...timed,
  operation: 'usage',
  arguments: {},
  result: { tokens },
});

const violationsOf = (operations: readonly Operation[]): Violation['rule'][] =>
  checkHistory(operations).map(({ rule }) => rule);

const last = at(1_000, 1_001);

const ALLOWED: Record<string, Operation[]> = {
  'concurrent inputs in either order': [input('a', at(0, 10)), input('b', at(5, 15)), read(['b', 'a'], last)],
  'an unknown input that is stored late': [
    input('a', at(0, null)),
    input('b', at(20, 30)),
    read(['b'], at(40, 50)),
    read(['b', 'a'], last),
  ],
  'an unknown input that is never stored': [input('a', at(0, null)), read([], last)],
  'a repeated key with one effect': [
    input('a', at(0, null), { key: 'k' }),
    input('a', at(20, 30), { key: 'k', event: 'e' }),
    read(['a'], last),
  ],
  'a read that is concurrent with an input': [
    input('a', at(0, 20)),
    read(['a'], at(5, 6)),
    read([], at(5, 7)),
    read(['a'], last),
  ],
  'two answers of which one is refused': [
    approve('once', at(0, 10)),
    approve('deny', at(0, 12, { type: 'fail' })),
    read([], last, [['a', 'once']]),
  ],
  'a use while its revocation is unknown': [
    credential('revoke', at(0, null)),
    credential('use', at(500, 510)),
  ],
  'a use that is concurrent with its revocation': [
    credential('revoke', at(0, 10)),
    credential('use', at(5, 70)),
  ],
  'usage that is read while a step ends': [used(30, at(5, 15)), usage(20, at(11, 12)), usage(30, at(16, 17))],
  'a lease that is released and taken again': [leases(0, 3, 'x'), leases(5, 3, null), leases(9, 4, 'y')],
};

for (const [name, operations] of Object.entries(ALLOWED)) {
  test(`the history checker allows ${name}`, () => {
    expect(violationsOf(operations)).toEqual([]);
  });
}

const PLANTED: Record<string, [Operation[], Violation['rule']]> = {
  'an acknowledged input is lost': [[input('a', at(0, 10)), read([], last)], 'lost'],
  'an acknowledged session is never read': [[input('a', at(0, 10))], 'lost'],
  'an input is stored twice': [[input('a', at(0, 10)), read(['a', 'a'], last)], 'stored twice'],
  'an input is stored that nobody sent': [[read(['a'], last)], 'never sent'],
  'a refused input is stored': [
    [input('a', at(0, 10, { type: 'fail' })), read(['a'], last)],
    'refused but stored',
  ],
  'inputs are stored against their real-time order': [
    [input('a', at(0, 10)), input('b', at(20, 30)), read(['b', 'a'], last)],
    'out of order',
  ],
  'an unknown input is stored before one that ended earlier': [
    [input('a', at(0, 10)), input('b', at(20, null)), read(['b', 'a'], last)],
    'out of order',
  ],
  'a read misses an acknowledged input': [
    [input('a', at(0, 10)), read([], at(20, 30)), read(['a'], last)],
    'stale read',
  ],
  'a read sees an input before it is sent': [
    [input('a', at(20, 30)), read(['a'], at(0, 10)), read(['a'], last)],
    'stale read',
  ],
  'a read sees less than an earlier one': [
    [input('a', at(0, null)), read(['a'], at(10, 20)), read([], at(30, 40)), read(['a'], last)],
    'stale read',
  ],
  'a read has another order than the last one': [
    [input('a', at(0, 50)), input('b', at(0, 50)), read(['b'], at(10, 20)), read(['a', 'b'], last)],
    'stale read',
  ],
  'an idempotency key has two effects': [
    [
      input('a', at(0, 10), { key: 'k', event: 'e' }),
      input('a', at(0, 10), { key: 'k', event: 'f' }),
      read(['a'], last),
    ],
    'key with two effects',
  ],
  'two answers to an approval are acknowledged': [
    [approve('once', at(0, 10)), approve('deny', at(0, 10)), read([], last, [['a', 'once']])],
    'approval answered twice',
  ],
  'two answers to an approval are stored': [
    [
      approve('once', at(0, 10)),
      read([], last, [
        ['a', 'once'],
        ['a', 'deny'],
      ]),
    ],
    'approval answered twice',
  ],
  'an acknowledged answer is not the stored one': [
    [approve('once', at(0, 10)), read([], last, [['a', 'deny']])],
    'answer lost',
  ],
  'a revoked key is accepted': [
    [credential('revoke', at(0, 10)), credential('use', at(11, 13))],
    'revoked credential accepted',
  ],
  'an epoch decreases': [[leases(0, 5, 'x'), leases(9, 4, 'y')], 'epoch decreased'],
  'a step is not counted': [[used(30, at(0, 10)), usage(20, at(11, 12))], 'usage not counted'],
  'what is counted decreases': [[usage(30, at(0, 10)), usage(20, at(11, 12))], 'usage decreased'],
  'one epoch has two drivers': [[leases(0, 5, 'x'), leases(5, 5, null), leases(9, 5, 'y')], 'two drivers'],
};

for (const [name, [operations, rule]] of Object.entries(PLANTED)) {
  test(`the history checker notices that ${name}`, () => {
    expect(violationsOf(operations)).toContain(rule);
  });
}

test('a written history is read again, and an operation that fails is unknown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-history-'));
  const file = join(folder, 'history.jsonl');
  const history = new History({ history: 1, seed: 1, nodes: 3 }, file);
  const use = { process: 'one', operation: 'credential.use', arguments: { credential: 'k' } } as const;
  const ok = () => ({ ok: {} });
  await history.run(use, async () => undefined, ok);
  await expect(history.run(use, () => Promise.reject(new Error('lost')), ok)).rejects.toThrow('lost');
  const { header, operations } = parseHistory(readFileSync(file, 'utf8'));
  expect(header).toEqual(history.header);
  expect(operations).toEqual(history.operations);
  expect(operations.map(({ type, end }) => [type, end === null])).toEqual([
    ['ok', false],
    ['info', true],
  ]);
  rmSync(folder, { recursive: true });
});
