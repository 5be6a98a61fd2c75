/**
 * The fake model API: a separate process that streams every answer as TOKENS tokens, one every INTERVAL
 * milliseconds; with an interval of 0, the whole answer at once. `bun upstream.ts TOKENS INTERVAL [markdown]` prints its
 * port. Tokens are their number and the time, or those of an answer in Markdown. It implements HTTP/1.1 directly over TCP
 * to keep its own cost low: one timer for all answers and one write per token.
 */
import type { Socket } from 'bun';
import { tokenText } from './measure/answer-check.ts';
import { nowMicros } from './measure/clock.ts';
import { markdownTokens } from './measure/markdown-answer.ts';
import { type ApiName, UPSTREAM_APIS, type UpstreamApi, wholeCompletion } from './upstream-apis.ts';

type Peer = { received: Buffer; unsent: string };
type Answer = {
  readonly socket: Socket<Peer>;
  readonly api: UpstreamApi;
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly keepText: boolean;
  sent: number;
  text: string;
};

const [tokens = 200, interval = 10] = process.argv.slice(2).map(Number);
/** As they are written in a JSON string. */
const markdown =
  process.argv[4] === 'markdown' && markdownTokens(tokens).map((token) => JSON.stringify(token).slice(1, -1));
/** Concurrent answers are spread over the interval, like those of a real vendor. */
const phases = Array.from({ length: interval }, () => new Set<Answer>());
let answers = 0;
/** An answer that is not streamed. */
const completion = wholeCompletion(
  Array.from({ length: tokens }, (_, number) => tokenText(number, 0)).join(''),
  tokens,
);

const server = Bun.listen<Peer>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { received: Buffer.alloc(0), unsent: '' };
      socket.setNoDelay(true);
    },
    data(socket, bytes) {
      const { data } = socket;
      data.received = data.received.length === 0 ? Buffer.from(bytes) : Buffer.concat([data.received, bytes]);
      for (let request = nextRequest(data); request; request = nextRequest(data)) answer(socket, request);
    },
    drain(socket) {
      const { unsent } = socket.data;
      socket.data.unsent = '';
      if (unsent !== '') send(socket, unsent);
    },
    close: forget,
    error: forget,
  },
});
console.log(server.port);

// Exits with the process that started it, which closes this pipe.
process.stdin.on('end', () => process.exit(0)).resume();

function forget(socket: Socket<Peer>): void {
  for (const phase of phases) for (const answer of phase) if (answer.socket === socket) phase.delete(answer);
}

/** Everything written here is ASCII, so characters are bytes. */
function send(socket: Socket<Peer>, text: string): void {
  if (socket.data.unsent !== '') {
    socket.data.unsent += text;
    return;
  }
  const written = Math.max(0, socket.write(text));
  if (written < text.length) socket.data.unsent = text.slice(written);
}

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

type Request = { readonly path: string; readonly body: string };

/** Null until one is complete. */
function nextRequest(data: Peer): Request | null {
  const headEnd = data.received.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = data.received.toString('latin1', 0, headEnd);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  if (data.received.length < end) return null;
  const body = data.received.toString('utf8', headEnd + 4, end);
  data.received = data.received.subarray(end);
  return { path: head.split(' ', 2)[1] ?? '', body };
}

function answer(socket: Socket<Peer>, { path, body }: Request): void {
  if (path.endsWith('/chat/completions') && !/"stream": ?true/.test(body)) whole(socket, completion);
  else if (path.endsWith('/chat/completions')) stream(socket, 'chat', body);
  else if (path.endsWith('/responses')) stream(socket, 'responses', body);
  else if (path.endsWith('/models')) whole(socket, JSON.stringify({ object: 'list', data: [], models: [] }));
  else if (path === '/now') whole(socket, String(nowMicros()));
  else whole(socket, '{"error":{"message":"not served here"}}', '404 Not Found');
}

function whole(socket: Socket<Peer>, body: string, status = '200 OK'): void {
  send(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** A model with this name answers immediately: some servers request a title in addition to the answer. */
function stream(socket: Socket<Peer>, name: ApiName, body: string): void {
  const api = UPSTREAM_APIS[name];
  const id = String(++answers);
  const [before, after] = api.around(id);
  send(socket, 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
  send(socket, chunked(api.begin(id)));
  if (/"model": ?"bench-title"/.test(body)) {
    send(socket, `${chunked(`${before}A title${after}${api.end(id, 'A title', 2)}`)}0\r\n\r\n`);
    return;
  }
  const begun: Answer = {
    socket,
    api,
    id,
    before,
    after,
    keepText: name === 'responses',
    sent: 0,
    text: '',
  };
  const phase = phases[answers % interval] ?? new Set();
  phase.add(begun);
  if (interval === 0) while (phase.has(begun)) step(begun, phase);
}

function step(answer: Answer, phase: Set<Answer>): void {
  const { socket, api, id, before, after } = answer;
  const number = answer.sent++;
  const token = markdown ? (markdown[number] ?? '') : tokenText(number, nowMicros());
  if (answer.keepText) answer.text += token;
  send(socket, chunked(before + token + after));
  if (answer.sent < tokens) return;
  phase.delete(answer);
  send(socket, `${chunked(api.end(id, answer.text, tokens))}0\r\n\r\n`);
}

const began = performance.now();
let tick = 0;
setInterval(() => {
  // A late timer catches up to keep the rate.
  for (const due = performance.now() - began; tick <= due; tick++) {
    const phase = phases[tick % interval];
    if (phase) for (const answer of phase) step(answer, phase);
  }
}, 1);
