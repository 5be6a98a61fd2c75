import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { EphemeralEvent } from '@parlance/protocol';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { projection } from './streams.ts';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const piece = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });

let server: TestServer;
let model: ReturnType<typeof Bun.serve>;
const released = Promise.withResolvers<void>();

beforeAll(async () => {
  let answers = 0;
  model = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      new Response(
        async function* () {
          if (answers++ > 0) {
            yield chunk({ content: 'Done.' }, 'stop');
          } else {
            const call = { index: 0, id: 'call_1', function: { name: 'echo', arguments: '' } };
            yield chunk({ tool_calls: [call] });
            yield piece('{"val');
            await released.promise;
            yield piece('ue":"hi"}');
            yield chunk({}, 'tool_calls');
          }
          yield 'data: [DONE]\n\n';
        },
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  });
  server = await startTestServer({
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
  });
});

afterAll(async () => {
  await server.stop();
  await model.stop(true);
});

type StreamedEvent = { readonly event: string; readonly data: Record<string, unknown> };

/** The events of the session from its server-sent event stream. */
async function* streamedEvents(session: string): AsyncGenerator<StreamedEvent> {
  const response = await fetch(`${server.http}/v1/sessions/${session}/events`, {
    headers: { accept: 'text/event-stream' },
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, event = ''] = /^event: (.*)$/m.exec(message) ?? [];
      const [, data = '{}'] = /^data: (.*)$/m.exec(message) ?? [];
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
}

async function until(events: AsyncGenerator<StreamedEvent>, name: string): Promise<StreamedEvent[]> {
  const seen: StreamedEvent[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) {
    seen.push(next.value);
    if (next.value.event === name) return seen;
  }
  throw new Error(`the stream ended without ${name}`);
}

describe('the arguments of a call', () => {
  test('are streamed while the model writes them, and are in the snapshot of a later reader', async () => {
    await fetch(`${server.http}/v1/sessions/writing/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'input.submit', parts: [{ type: 'text', text: 'Echo it' }] }),
    });
    // Deltas from before the first reader connected are in its snapshot.
    const first = streamedEvents('writing');
    const [snapshot] = (await until(first, 'snapshot')).slice(-1);
    let seen = JSON.stringify(snapshot?.data.arguments ?? []);
    while (!seen.includes('{\\"val'))
      seen += JSON.stringify((await until(first, 'call.arguments.delta')).at(-1)?.data);
    const late = (await until(streamedEvents('writing'), 'snapshot')).at(-1);
    expect(late?.data.arguments).toMatchObject([{ call: 'call_1', tool: 'echo', text: '{"val' }]);
    released.resolve();
    const rest = await until(first, 'call.requested');
    expect(rest.find(({ event }) => event === 'call.arguments.delta')?.data).toMatchObject({
      call: 'call_1',
      tool: 'echo',
      offset: 5,
      text: 'ue":"hi"}',
    });
    expect(rest.at(-1)?.data).toMatchObject({ call: 'call_1', input: { value: 'hi' } });
    await until(first, 'turn.ended');
    const over = (await until(streamedEvents('writing'), 'snapshot')).at(-1);
    expect(over?.data).not.toHaveProperty('arguments');
  });

  test('are joined for a slow reader', () => {
    const delta = (offset: number, text: string) =>
      ({
        type: 'call.arguments.delta',
        call: 'call_1',
        tool: 'echo',
        offset,
        text,
      }) as unknown as EphemeralEvent;
    const { pieces } = projection;
    const [one, two] = [delta(0, '{"a"'), delta(4, ':1}')];
    expect(pieces?.key(one)).toBe('call_1');
    expect(pieces?.key(two)).toBe('call_1');
    expect(pieces?.with(one, pieces.text(one) + pieces.text(two))).toMatchObject({
      offset: 0,
      text: '{"a":1}',
    });
  });
});
