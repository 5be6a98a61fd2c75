/** A wire that a test can cut: everything goes through it to the server, until it does not. */
import { connect, createServer, type Socket } from 'node:net';

export type TestProxy = {
  readonly url: string;
  /** Cuts every connection, as a network does: no goodbye. */
  cut(): void;
  /** New connections are cut at once until it is let through again. */
  refuse(refused: boolean): void;
  /** The next thing the server says is lost, and its connection with it. */
  loseNextAnswer(): void;
  /** Nothing more comes through, and nobody is told. */
  silence(): void;
  /** how many connections were made */
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
