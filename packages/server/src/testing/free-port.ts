/** Below the ports that the system gives to clients and to servers on port 0: those of other tests would be taken at once. */
const [FIRST, LAST] = [10_000, 32_000];

/**
 * Sockets in the abstract namespace of Linux, which exist as long as this process: another one must not get a port
 * whose server is not started yet, or is being restarted.
 */
const reservations: unknown[] = [];

/** A port that nothing listens on, and that no other test gets while this process runs. */
export function freePort(): number {
  const socket = { data: () => undefined };
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    try {
      if (process.platform === 'linux') {
        const reservation = Bun.listen({ unix: `\0parlance-test-port-${port}`, socket });
        reservation.unref();
        reservations.push(reservation);
      }
      Bun.listen({ hostname: '127.0.0.1', port, socket }).stop(true);
      return port;
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'EADDRINUSE') throw thrown;
    }
  }
}
