/** Microseconds of the wall clock, which all processes of the machine share. */
export const nowMicros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The duration of `work` in milliseconds, and its result. */
export async function timed<Given>(
  work: () => Given | Promise<Given>,
): Promise<{ ms: number; given: Given }> {
  const before = performance.now();
  const given = await work();
  return { ms: performance.now() - before, given };
}

/**
 * How far the upstream's clock is ahead of ours, in microseconds: the best of several round trips. Delays
 * measured across processes are accurate to this figure.
 */
export async function clockSkew(upstream: string): Promise<number> {
  let best = { trip: Number.POSITIVE_INFINITY, skew: 0 };
  for (let round = 0; round < 20; round++) {
    const sent = nowMicros();
    const theirs = Number(await (await fetch(`${upstream}/now`)).text());
    const trip = nowMicros() - sent;
    if (trip < best.trip) best = { trip, skew: theirs - (sent + trip / 2) };
  }
  return Math.round(best.skew);
}
