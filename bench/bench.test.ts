/** Tests of the harness itself: a benchmark that miscounts is worse than none. */
import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '../packages/server/src/stores/sqlite/open.ts';
import { Absent, type Contestant, installed } from './contestants/contestant.ts';
import { floor, socketFloor } from './contestants/floor.ts';
import { AnswerCheck, tokenText } from './measure/answer-check.ts';
import { nowMicros } from './measure/clock.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMicros, residentBytes, treeOf } from './measure/process-tree.ts';
import { quietRounds } from './measure/quiet-rounds.ts';
import { temporaryFolder } from './measure/temporary-folder.ts';
import { readOptions } from './options.ts';
import { chart } from './report/chart.ts';
import { compared } from './report/comparison.ts';
import { goalsOf } from './report/goals.ts';
import { tableText } from './report/terminal.ts';
import { APPROVALS, NEEDLE, writeSessions } from './tables/many-sessions-data.ts';
import { measureStreams } from './tables/measure-streams.ts';
import { measureTogether } from './tables/measure-together.ts';
import { relay } from './tables/relay.ts';
import type { Figures, Row } from './tables/table.ts';

describe('percentile', () => {
  test('is the smallest value that covers the share', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([10, 9, 2], 0.5)).toBe(9);
  });
  test('of an empty list is NaN', () => expect(percentile([], 0.5)).toBeNaN());
});

describe('an answer', () => {
  const tokens = Array.from({ length: 5 }, (_, index) => tokenText(index, 1_000 + index));
  const checked = (...pieces: string[]) => {
    const delays: number[] = [];
    const check = new AnswerCheck(5, delays);
    for (const piece of pieces) check.receive(piece, 2_000);
    return { ...check.verdict(), delays };
  };
  test('that is complete has no errors and one delay per token', () => {
    const { received, missing, misplaced, delays } = checked(...tokens);
    expect({ received, missing, misplaced }).toEqual({ received: 5, missing: 0, misplaced: 0 });
    expect(delays).toEqual([1_000, 999, 998, 997, 996]);
  });
  test('may be split and joined anywhere', () => {
    const text = tokens.join('');
    expect(checked(text.slice(0, 3), text.slice(3, 20), text.slice(20))).toMatchObject({
      received: 5,
      misplaced: 0,
    });
  });
  test('with a missing token is detected', () =>
    expect(checked(...tokens.toSpliced(2, 1))).toMatchObject({ received: 4, missing: 1, misplaced: 1 }));
  test('without its last token is detected', () =>
    expect(checked(...tokens.slice(0, 4))).toMatchObject({ received: 4, missing: 1 }));
  test('with two swapped tokens is detected', () => {
    const [first = '', second = '', ...rest] = tokens;
    expect(checked(second, first, ...rest).misplaced).toBeGreaterThan(0);
  });
  test('with a repeated token is detected', () =>
    expect(checked(...tokens, tokens[1] ?? '')).toMatchObject({ received: 5, misplaced: 1 }));
  test('that ends inside a token is detected', () =>
    expect(checked(...tokens.slice(0, 4), '4:10')).toMatchObject({ missing: 1, misplaced: 1 }));
});

describe('a process tree', () => {
  test('contains child processes and their usage', async () => {
    const spin =
      'const end = Date.now() + 200; while (Date.now() < end); console.log("spun"); setInterval(() => 0, 1000)';
    const before = cpuMicros(treeOf(process.pid));
    const child = Bun.spawn([process.execPath, '-e', spin], { stdout: 'pipe' });
    await child.stdout.getReader().read();
    const tree = treeOf(process.pid);
    expect(tree).toContain(child.pid);
    expect(cpuMicros(tree)).toBeGreaterThan(before);
    expect(residentBytes([child.pid])).toBeGreaterThan(1_000_000);
    child.kill();
    await child.exited;
    expect(residentBytes([child.pid])).toBe(0);
  });
});

describe('rounds', () => {
  /** Plays rounds with these shares of steal time and returns those that count. */
  const played = async (wanted: number, most: number, ...parts: number[]) => {
    const now = { all: 0, stolen: 0 };
    let pauses = 0;
    const given = await quietRounds(
      { wanted, most },
      async (round) => {
        now.all += 1_000;
        now.stolen += 1_000 * (parts[round - 1] ?? 0);
        return round;
      },
      { processors: () => ({ ...now }), pause: async () => pauses++ },
    );
    return { ...given, stolen: Number(given.stolen.toFixed(3)), pauses };
  };
  test('without steal time run as often as requested', async () =>
    expect(await played(2, 5, 0, 0.002, 0)).toEqual({
      quietest: [1, 2],
      all: [1, 2],
      stolen: 0.1,
      pauses: 0,
    }));
  test('with steal time are repeated after a pause', async () =>
    expect(await played(2, 5, 0.2, 0, 0.005, 0.001)).toEqual({
      quietest: [2, 4],
      all: [1, 2, 3, 4],
      stolen: 0.05,
      pauses: 2,
    }));
  test('are repeated up to a maximum; the quietest count, with their steal time', async () =>
    expect(await played(2, 3, 0.2, 0.06, 0.1)).toEqual({
      quietest: [2, 3],
      all: [1, 2, 3],
      stolen: 8,
      pauses: 2,
    }));
  test('report the steal time of this machine', async () => {
    const { stolen } = await quietRounds({ wanted: 1, most: 1 }, async () => null);
    expect(stolen).toBeWithin(0, 100.001);
  });
});

const SMALL_LOAD = { streams: 2, tokens: 20, intervalMs: 2, rounds: 1, maxRounds: 1, warmUps: 1 };

test('contestants with alternating rounds are measured separately, and one that cannot start is absent', async () => {
  const broken: Contestant = {
    name: 'broken',
    description: '',
    start: () => Promise.reject(new Absent('not here')),
  };
  const outcomes = await measureTogether([floor, broken, socketFloor], SMALL_LOAD, () => undefined);
  expect(outcomes).toMatchObject([
    { figures: { inOrder: true }, absent: null },
    { figures: null, absent: 'not here' },
    { figures: { inOrder: true }, absent: null },
  ]);
});

test('the floor relays two streams end to end', async () => {
  const began = nowMicros();
  const figures = await measureStreams(floor, SMALL_LOAD, () => undefined);
  expect(figures).toMatchObject({ missing: 0, misplaced: 0, inOrder: true });
  expect(figures.cpuPerToken).toBeGreaterThan(0);
  expect(figures.megabytes).toBeGreaterThan(1);
  // A token that arrives before it was sent, or after longer than the run, indicates two different clocks.
  expect(figures.p50).toBeGreaterThan(-1);
  expect(figures.p99).toBeLessThan((nowMicros() - began) / 1_000);
});

test('the generated data has the requested number of sessions and a fixed number of pending ones', async () => {
  using folder = temporaryFolder();
  await writeSessions(folder.path, 250);
  const store = openSqliteStore(folder.path);
  const counted = (filter: Parameters<typeof store.count>[0]) => store.count(filter);
  expect(await counted({})).toBe(250);
  expect(await counted({ awaitsUser: true })).toBe(APPROVALS);
  expect(await counted({ status: ['waiting'] })).toBe(APPROVALS + 2);
  expect(await counted({ status: ['running', 'failed'] })).toBe(0);
  expect(await counted({ title: NEEDLE })).toBe(1);
  await store.close();
});

describe('the report', () => {
  const row = (subject: string, size: number, figures: Figures | null): Row => ({
    table: 'relay',
    subject,
    size,
    quick: false,
    figures,
    absent: figures ? null : 'not <installed>',
    measuredOn: 'a machine',
  });
  const rows = [
    row('floor', 50, { cpuPerToken: 20, p99: 1, megabytes: 40, missing: 0, misplaced: 0 }),
    row('Parlance, agentloop', 50, { cpuPerToken: 30, p99: 2, megabytes: 80, missing: 0, misplaced: 0 }),
    row('Parlance, native', 50, { cpuPerToken: 50, p99: 6, megabytes: 80, missing: 1, misplaced: 0 }),
    row('Codex app-server', 50, null),
  ];
  test('reports the reason for an absent peer instead of zero', () => {
    expect(tableText(relay, rows)).toContain('absent: not <installed>');
    expect(chart(rows, 'a machine')).toContain('absent: not &lt;installed&gt;');
  });
  test('shows the CPU of a row relative to both floors of its size', () => {
    const [, , ours] =
      relay.derive?.([
        row('floor', 50, { cpuPerToken: 20 }),
        row('socket floor', 50, { cpuPerToken: 10 }),
        row('Parlance, agentloop', 50, { cpuPerToken: 30 }),
      ]) ?? [];
    expect(ours?.figures).toMatchObject({ timesFloor: 1.5, timesSocketFloor: 3 });
  });
  test('compares two checkouts figure by figure and leaves out figures that one of them lacks', () => {
    const before = { ...row('Parlance, native', 50, { cpuPerToken: 40, p50: 1 }), checkout: '../before' };
    const after = row('Parlance, native', 50, { cpuPerToken: 30, p99: 2 });
    expect(compared(relay, [after, before])).toEqual([
      {
        table: 'relay',
        subject: 'Parlance, native',
        size: 50,
        figure: 'CPU µs/token',
        before: 40,
        after: 30,
        ratio: 0.75,
      },
    ]);
  });
  test('measures goals by the worst dialect and leaves unmeasured ones open', () => {
    const goals = goalsOf(rows);
    const met = (start: string) => goals.find(({ goal }) => goal.startsWith(start))?.met;
    expect(met('at most twice the floor at 50')).toBe(false);
    expect(met('p99 added delay')).toBe(false);
    expect(met('at most a tenth of Codex')).toBeNull();
    expect(met('every token arrived')).toBe(false);
  });
});

test('a contestant whose package is not installed is absent', () =>
  expect(() => installed('no-such-package')).toThrow(Absent));

test('an unknown table is refused', () =>
  expect(() => readOptions(['--only', 'relay,nonsense'])).toThrow('there is no table nonsense'));

test('a folder that is not a checkout is refused', () =>
  expect(() => readOptions(['--against', import.meta.dir])).toThrow('is not a checkout of Parlance'));
