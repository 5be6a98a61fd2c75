/**
 * The minimum work of a gateway for Chat Completions: parse the request, forward it with `fetch`, pass the answer on. With DATABASE, it
 * stores the request before the model is asked, and the answer before the client has all of it, each in a commit that waits for the disk
 * (SQLite, WAL, synchronous FULL). `bun gateway-server.ts UPSTREAM [DATABASE]` prints its port.
 */
import { Database } from 'bun:sqlite';

const [upstream = '', path] = process.argv.slice(2);

function openStore(path: string): (id: number, kind: string, text: string) => void {
  const database = new Database(path);
  database.run('PRAGMA journal_mode = WAL');
  database.run('PRAGMA synchronous = FULL');
  database.run(
    'CREATE TABLE entries (id INTEGER, kind TEXT, text TEXT, PRIMARY KEY (id, kind)) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?)');
  return (id, kind, text) => void insert.run(id, kind, text);
}

const store = path === undefined ? () => undefined : openStore(path);
let requests = 0;

async function answer(request: Request): Promise<Response> {
  const id = ++requests;
  const body = await request.text();
  const { stream } = JSON.parse(body) as { stream?: boolean };
  store(id, 'request', body);
  const response = await fetch(`${upstream}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const headers = { 'content-type': response.headers.get('content-type') ?? 'application/json' };
  if (!stream) {
    const text = await response.text();
    store(id, 'answer', text);
    return new Response(text, { headers });
  }
  const decoder = new TextDecoder();
  let text = '';
  const passed = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        text += decoder.decode(chunk, { stream: true });
        controller.enqueue(chunk);
      },
      flush: () => store(id, 'answer', text),
    }),
  );
  return new Response(passed, { headers });
}

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
console.log(server.port);
