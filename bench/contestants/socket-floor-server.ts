/**
 * The limit for a Bun process: the relay of `floor-server.ts`, but over a plain keep-alive socket to the
 * model API. The response is trusted: no status, framing or checks; a line that begins with `data: {` is a
 * token. `bun socket-floor-server.ts UPSTREAM` prints its port.
 */
import type { ServerWebSocket, Socket } from 'bun';

const upstream = new URL(process.argv[2] ?? '');

type Exchange = { client: ServerWebSocket | null; rest: string };

const idle: Socket<Exchange>[] = [];

function received(socket: Socket<Exchange>, bytes: Buffer): void {
  const exchange = socket.data;
  const text = exchange.rest + bytes.toString('utf8');
  let from = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
    if (text.startsWith('data: {', from)) {
      const piece = JSON.parse(text.slice(from + 6, end)).choices[0]?.delta.content;
      if (piece) exchange.client?.send(JSON.stringify({ type: 'delta', text: piece }));
    }
    from = end + 1;
  }
  exchange.rest = text.slice(from);
  if (!text.endsWith('\r\n0\r\n\r\n')) return;
  exchange.client?.send(JSON.stringify({ type: 'done' }));
  exchange.client = null;
  idle.push(socket);
}

const connect = (): Promise<Socket<Exchange>> =>
  Bun.connect<Exchange>({
    hostname: upstream.hostname,
    port: Number(upstream.port),
    data: { client: null, rest: '' },
    socket: { data: received },
  });

async function answer(client: ServerWebSocket, prompt: string): Promise<void> {
  const body = JSON.stringify({
    model: 'bench',
    stream: true,
    messages: [{ role: 'user', content: prompt }],
  });
  const socket = idle.pop() ?? (await connect());
  socket.data.client = client;
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${upstream.host}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, server) =>
    server.upgrade(request) ? undefined : new Response('not a WebSocket', { status: 400 }),
  websocket: {
    message: (socket, raw) => answer(socket, JSON.parse(String(raw)).prompt),
  },
});
console.log(server.port);
