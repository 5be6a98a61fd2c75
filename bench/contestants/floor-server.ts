/**
 * The minimum work of a Bun process: read server-sent events, split lines, parse JSON, send one WebSocket
 * frame per token. No store, schemas, sessions, limits or authentication. `bun floor-server.ts UPSTREAM`
 * prints its port.
 */
import type { ServerWebSocket } from 'bun';

const upstream = process.argv[2] ?? '';

async function answer(socket: ServerWebSocket, prompt: string): Promise<void> {
  const response = await fetch(`${upstream}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: prompt }] }),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      if (text.startsWith('data: {', from)) {
        const piece = JSON.parse(text.slice(from + 6, end)).choices[0]?.delta.content;
        if (piece) socket.send(JSON.stringify({ type: 'delta', text: piece }));
      }
      from = end + 1;
    }
    text = text.slice(from);
  }
  socket.send(JSON.stringify({ type: 'done' }));
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
