/**
 * Time limit of every test, loaded by `bunfig.toml`. At its own limit, Bun kills all processes that the file has
 * started, such as a browser that the following tests need. This one only fails the test, and it follows the load of the
 * machine.
 */
import { afterEach, beforeEach, setDefaultTimeout } from 'bun:test';
import { slowness } from './until.ts';

const MAX_TEST_MS = 180_000;
/** For a single file without `npm test`, which sets it for all. */
const MAX_BUN_MS = 1_800_000;
const LOOK_AGAIN_MS = 1_000;

setDefaultTimeout(MAX_BUN_MS);

// Some tests replace timers and clocks.
const { setInterval, clearInterval } = globalThis;
const now = performance.now.bind(performance);

let running = 0;
let began = 0;
let timer: Timer | undefined;

beforeEach(() => {
  running++;
  began = now();
  timer ??= setInterval(look, LOOK_AGAIN_MS).unref();
});

afterEach(() => {
  if (--running > 0) return;
  clearInterval(timer);
  timer = undefined;
});

function look(): void {
  const tookMs = now() - began;
  if (tookMs < MAX_TEST_MS * slowness()) return;
  began = now();
  // An unhandled rejection fails the running test.
  void Promise.reject(new Error(`The test did not end within ${Math.round(tookMs / 1_000)} s.`));
}
