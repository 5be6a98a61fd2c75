/** A client that stops reading in the middle of a long answer and resumes after the task has ended. */
import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel } from '../scripted-model.ts';
import { followed, postJson, startProcess } from '../server-process.ts';
import { cleanUp, later } from './stage.ts';

afterEach(cleanUp);

/** The kernel buffers about four megabytes for a reader. */
const ANSWER = Array.from({ length: 20_000 }, (_, index) => `${index}${'.'.repeat(400)}`).join(' ');

type Artifact = { parts: { text: string }[] };
type Result = {
  task?: { status: { state: string }; artifacts?: Artifact[] };
  artifactUpdate?: { artifact: Artifact; append: boolean };
  statusUpdate?: { status: { state: string } };
};

/** The bodies of all chunks. */
function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, end).toString(), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    if (end < 0) throw new Error('the response was cut off');
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const textOf = ({ parts }: Artifact): string => parts.map(({ text }) => text).join('');

test('receives the task again, and has the whole answer in the end', async () => {
  const model = scriptedModel(() => ({ say: ANSWER }));
  later(model.stop);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-a2a-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startProcess(folder, {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    CONTEXT_LIMIT: '100000000',
    PARLANCE_ANSWER_CHARACTERS: '100000000',
    PARLANCE_HELD_CHARACTERS: '100000',
  });
  later(() => server.kill());
  await postJson(`${server.http}/v1/sessions/slow/commands`, { type: 'session.create' });
  const message = {
    messageId: 'm',
    contextId: 'slow',
    role: 'ROLE_USER',
    parts: [{ text: 'tell me everything' }],
  };
  const params = { message };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
  const { hostname, port, host } = new URL(server.http);
  const socket = connect(Number(port), hostname);
  later(() => socket.destroy());
  const chunks: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  socket.once('data', (first) => {
    chunks.push(Buffer.from(first));
    socket.pause();
  });
  socket.write(
    `POST /a2a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await followed(server, 'slow', (events) => events.some(({ type }) => type === 'turn.ended'));
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk))).on('close', () => ended.resolve());
  socket.resume();
  await ended.promise;

  const bytes = Buffer.concat(chunks);
  const stream = unchunked(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
  const results = stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => (JSON.parse(event.slice('data: '.length)) as { result: Result }).result);
  let text = '';
  let state = '';
  for (const { task, artifactUpdate, statusUpdate } of results) {
    if (task) text = (task.artifacts ?? []).map(textOf).join('');
    if (artifactUpdate) text = (artifactUpdate.append ? text : '') + textOf(artifactUpdate.artifact);
    state = task?.status.state ?? statusUpdate?.status.state ?? state;
  }
  expect(state).toBe('TASK_STATE_COMPLETED');
  expect(text === ANSWER).toBeTrue();
  expect(results.filter(({ task }) => task).length).toBeGreaterThan(1);
});
