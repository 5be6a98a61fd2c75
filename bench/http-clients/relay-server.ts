/**
 * The relay of `floor-server.ts` over one of the HTTP clients: one WebSocket frame per token. `bun
 * relay-server.ts CLIENT UPSTREAM` prints its port.
 */
import type { ServerWebSocket } from 'bun';
import type { HttpClient } from '../../packages/server/src/providers/http/client.ts';

const [name = '', upstream = ''] = process.argv.slice(2);

const CLIENTS: Readonly<Record<string, () => Promise<HttpClient>>> = {
  socket: async () =>
    (await import('../../packages/server/src/providers/http/socket-client.ts')).socketClient,
  fetch: async () => (await import('../../packages/server/src/providers/http/client.ts')).fetchClient,
  undici: async () => (await import('./undici-client.ts')).undiciClient,
};
const client = await CLIENTS[name]?.();
if (!client) throw new Error(`there is no HTTP client ${name}`);

async function answer(socket: ServerWebSocket, prompt: string, http: HttpClient): Promise<void> {
  const { body } = await http(
    {
      url: `${upstream}/v1/chat/completions`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: prompt }] }),
    },
    new AbortController().signal,
  );
  let text = '';
  const take = (piece: string): boolean => {
    text += piece;
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      if (text.startsWith('data: {', from)) {
        const token = JSON.parse(text.slice(from + 6, end)).choices[0]?.delta.content;
        if (token) socket.send(JSON.stringify({ type: 'delta', text: token }));
      }
      from = end + 1;
    }
    text = text.slice(from);
    return true;
  };
  body.onText = take;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) take(piece);
  socket.send(JSON.stringify({ type: 'done' }));
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, server) =>
    server.upgrade(request) ? undefined : new Response('not a WebSocket', { status: 400 }),
  websocket: {
    message: (socket, raw) => answer(socket, JSON.parse(String(raw)).prompt, client),
  },
});
console.log(server.port);
