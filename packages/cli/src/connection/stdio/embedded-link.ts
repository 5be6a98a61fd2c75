/** A server in this process, without a port. */
import { configFrom, explainStart } from '../start.ts';
import type { ServerLink } from './server-link.ts';

export async function openEmbeddedLink(argv: readonly string[]): Promise<ServerLink> {
  const config = configFrom(argv);
  const { embedServer } = await import('@parlance/server');
  const server = await embedServer(config).catch(async (error: unknown) => {
    throw await explainStart(error, config);
  });
  return {
    embedded: true,
    fetch: (path, init) => server.fetch(path, init),
    connect(path, { message, closed }) {
      const socket = server.connect(path, { message, closed: (_code, reason) => closed(reason) });
      return {
        send: (frame) => socket.receive(frame),
        close: () => socket.close(1000, ''),
      };
    },
    close: (graceMs) => server.stop(graceMs),
  };
}
