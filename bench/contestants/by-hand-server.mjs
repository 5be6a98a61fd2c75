/** The usual stack: the AI SDK's streamText and the ws package. `node by-hand-server.mjs UPSTREAM` prints its port. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import { WebSocketServer } from 'ws';

const provider = createOpenAICompatible({
  name: 'bench',
  baseURL: `${process.argv[2]}/v1`,
  apiKey: 'bench',
  includeUsage: true,
});
const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });

sockets.on('connection', (socket) => {
  socket.on('message', async (raw) => {
    const { prompt } = JSON.parse(String(raw));
    const { textStream } = streamText({ model: provider('bench'), prompt });
    for await (const text of textStream) socket.send(JSON.stringify({ type: 'delta', text }));
    socket.send(JSON.stringify({ type: 'done' }));
  });
});
sockets.on('listening', () => console.log(sockets.address().port));
