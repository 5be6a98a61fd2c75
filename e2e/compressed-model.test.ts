/** A model API that compresses its responses although the request does not allow it. */
import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { followed, submit } from './server-process.ts';

const chunk = (delta: object, finish_reason: string | null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const ANSWER = `${chunk({ content: 'Hello, ' }, null)}${chunk({ content: 'world.' }, 'stop')}data: [DONE]\n\n`;

const over = (events: readonly DurableEvent[]): boolean =>
  events.some(({ type }) => type === 'turn.failed' || type === 'turn.ended');

async function turn(coding: string, bytes: Uint8Array): Promise<DurableEvent[]> {
  const headers = { 'content-type': 'text/event-stream', 'content-encoding': coding };
  const model = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(bytes, { headers }) });
  const server = await startTestServer({
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}`,
    OPENAI_API_KEY: 'key',
    MODEL: 'compressed',
  });
  try {
    await submit(server, 'one', 'Hello.');
    return await followed(server, 'one', over);
  } finally {
    await server.stop();
    await model.stop(true);
  }
}

test('its response is read', async () => {
  const events = await turn('gzip', gzipSync(ANSWER));
  expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ text: 'Hello, world.' });
  expect(events.at(-1)?.type).toBe('turn.ended');
});

test('with an unknown encoding the turn fails with a reason', async () => {
  const last = (await turn('compress', Buffer.from(ANSWER))).at(-1);
  expect(last).toMatchObject({
    type: 'turn.failed',
    fault: {
      code: 'provider_rejected',
      message: "The model's answer is compressed in a way that is not understood.",
    },
  });
});
