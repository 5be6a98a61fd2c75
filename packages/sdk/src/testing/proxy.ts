/** A TCP proxy to the server that a test can cut, silence or make lossy. */
import { connect, createServer, type Socket } from 'node:net';

export type TestProxy = {
  readonly url: string;
  /** Destroys every connection, without a close frame. */
  cut(): void;
  /** While true, new connections are destroyed immediately. */
  refuse(refused: boolean): void;
  /** Drops the next bytes from the server, and the connection. */
  loseNextAnswer(): void;
  /** Forwards nothing from the server any more, without closing. */
  silence(): void;
  /** number of connections made */
  connections(): number;
  stop(): Promise<void>;
};

export async function proxyTo(port: number): Promise<TestProxy> {
  const open = new Set<Socket>();
  let refused = false;
  let losing = false;
  let silent = false;
  let count = 0;
  const server = createServer((client) => {
    count++;
    if (refused) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (losing) {
        losing = false;
        return end();
      }
      if (!silent) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    refuse(now) {
      refused = now;
    },
    loseNextAnswer() {
      losing = true;
    },
    silence() {
      silent = true;
    },
    connections: () => count,
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
