/** Waits of tests. They fail by themselves, long before the limit of the whole test. */
import { availableParallelism, loadavg } from 'node:os';

const MAX_WAIT_MS = 15_000;
/** Looks less often while it waits longer: looking takes processor time from what it waits for. */
const LOOK_AGAIN_MS = 2;
const MAX_LOOK_AGAIN_MS = 25;
/** A test that really fails must not take hours. */
const MAX_SLOWNESS = 10;

/** `npm test` measures the machine once. */
const machine = Number(process.env.PARLANCE_TEST_SLOWNESS ?? 1);

/** How many times longer than on an idle, fast machine things take now. */
export const slowness = (): number => {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(machine * Math.max(load, 1), MAX_SLOWNESS);
};

/** Limit of a single wait, now: for programs that need it as a number. */
export const waitLimit = (): number => Math.round(MAX_WAIT_MS * slowness());

/** Rejects with this message if the promise takes too long. */
export async function within<Value>(
  promise: Promise<Value>,
  message: string | (() => string),
): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const began = performance.now();
  // Asks again at the limit: the machine may have become slower since.
  const check = (): void => {
    const left = waitLimit() - (performance.now() - began);
    if (left > 0) timer = setTimeout(check, left);
    else late.reject(new Error(typeof message === 'string' ? message : message()));
  };
  let timer: Timer;
  check();
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

type Falsy = false | 0 | '' | null | undefined;

/**
 * Looks until the result is truthy, and resolves with it.
 *
 * @example
 * const [approval] = await until(async () => (await listed()).length > 0 && listed());
 */
export async function until<Value>(
  look: () => Value | Promise<Value>,
  message: () => string | Promise<string> = () => '',
  pauseMs = LOOK_AGAIN_MS,
): Promise<Exclude<Value, Falsy>> {
  const began = performance.now();
  do {
    const found = await within(Promise.resolve(look()), `no result: ${look}`);
    if (found) return found as Exclude<Value, Falsy>;
    const waited = performance.now() - began;
    await Bun.sleep(Math.max(pauseMs, Math.min(waited / 10, MAX_LOOK_AGAIN_MS)));
  } while (performance.now() - began < waitLimit());
  throw new Error(`did not become true: ${look} ${await message()}`);
}
