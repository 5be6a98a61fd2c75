/** A plain broadcast: whatever is posted goes to every socket as one frame. `node ws-broadcast-server.mjs` prints its port. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  for (const socket of sockets.clients) socket.send(body);
  response.end('{}');
});
const sockets = new WebSocketServer({ server });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
