/** Below the ports that the system gives to clients and to servers on port 0: those of other tests would be taken at once. */
const [FIRST, LAST] = [10_000, 32_000];

/** A port that nothing listens on. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop(true);
      return port;
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'EADDRINUSE') throw thrown;
    }
  }
}
