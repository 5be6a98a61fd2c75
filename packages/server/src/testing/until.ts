/** Waits of tests that fail by themselves: at the limit of a whole test, Bun ends all processes of its file. */
const MAX_WAIT_MS = 12_000;
const LOOK_AGAIN_MS = 2;

/** Rejects with this message if the promise takes too long. */
export async function within<Value>(promise: Promise<Value>, message: string): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(message)), MAX_WAIT_MS);
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
  message: () => string = () => '',
): Promise<Exclude<Value, Falsy>> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (performance.now() < deadline) {
    const found = await within(Promise.resolve(look()), `no result: ${look}`);
    if (found) return found as Exclude<Value, Falsy>;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  throw new Error(`did not become true: ${look} ${message()}`);
}
