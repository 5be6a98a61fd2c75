import { beforeEach, expect, test } from 'bun:test';
import { whenSignalled } from './stopping.ts';

let now = 0;
let exits: number[] = [];
let lines: string[] = [];
let drained = Promise.withResolvers<void>();
let stops = 0;

beforeEach(() => {
  now = 0;
  stops = 0;
  exits = [];
  lines = [];
  drained = Promise.withResolvers<void>();
});

/** Runs due promise callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const signalled = () =>
  whenSignalled({
    stop: () => {
      stops += 1;
      return drained.promise;
    },
    exit: (code) => exits.push(code),
    report: (line) => lines.push(line),
    now: () => now,
  });

test('the first signal drains, and the process exits 0 when that is done', async () => {
  signalled()('SIGTERM');
  expect([stops, exits]).toEqual([1, []]);
  drained.resolve();
  await settled();
  expect(exits).toEqual([0]);
});

test('a second signal exits 1 immediately', () => {
  const signal = signalled();
  signal('SIGINT');
  now = 200;
  signal('SIGINT');
  expect([stops, exits]).toEqual([1, [1]]);
});

test('a second signal of another kind exits 1 immediately, however soon', () => {
  const signal = signalled();
  signal('SIGINT');
  signal('SIGTERM');
  expect(exits).toEqual([1]);
});

test('one Ctrl-C that arrives twice, as under npm start, still drains', () => {
  const signal = signalled();
  signal('SIGINT');
  now = 5;
  signal('SIGINT');
  expect([stops, exits]).toEqual([1, []]);
});

test('reports a failed drain and exits 1', async () => {
  signalled()('SIGTERM');
  drained.reject(new Error('disk full'));
  await settled();
  expect([lines, exits]).toEqual([['could not stop cleanly: disk full'], [1]]);
});
