import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { openCollector, type ReceivedSpan } from '../testing/trace-collector.ts';

const INTERNAL = 1;
const FAILED = 2;

/** Runs a turn with `command` in the server's shell, approved; resolves when it has ended. */
async function turnWithCall(server: TestServer, session: string, command: string): Promise<void> {
  const client = await server.connect(`/agentloop?session=${session}`);
  const content = [{ type: 'input_text', text: `run ${command}` }];
  const input = [{ type: 'message', role: 'user', content }];
  client.send({ id: crypto.randomUUID(), type: 'user_input', payload: { input } });
  await client.next('approval_request');
  client.send({ id: crypto.randomUUID(), type: 'approval_response', payload: { review: 'yes' } });
  await client.next('agent_finished');
}

async function turnsOf(server: TestServer, session: string): Promise<string[]> {
  const answer = await fetch(`${server.http}/v1/sessions/${session}/events`);
  const { events } = (await answer.json()) as { events: { type: string; turn: string }[] };
  return events.filter(({ type }) => type === 'turn.started').map(({ turn }) => turn);
}

/** Follows the session until its turn has ended. */
async function ended(server: TestServer, session: string): Promise<void> {
  const headers = { accept: 'text/event-stream' };
  const answer = await fetch(`${server.http}/v1/sessions/${session}/events`, { headers });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('"type":"turn.ended"')) return;
  }
}

describe('a turn with a call', () => {
  const collector = openCollector();
  let turns: string[] = [];
  let spans: ReceivedSpan[] = [];
  const named = (name: string) => spans.filter((span) => span.name === name);
  beforeAll(async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, OTEL_SERVICE_NAME: 'parlance-test' };
    const server = await startTestServer(settings);
    await turnWithCall(server, 'traced', 'touch secret-plans.txt');
    await turnWithCall(server, 'failing', 'rm no-such-file');
    turns = [...(await turnsOf(server, 'traced')), ...(await turnsOf(server, 'failing'))];
    await server.stop();
    spans = collector.spans;
  });
  afterAll(() => collector.stop());

  test("is one trace with the turn's id, with a span for each model call and the tool", () => {
    const [turn = ''] = turns;
    const trace = spans.filter(({ traceId }) => traceId === turn.replaceAll('-', ''));
    const root = trace.find(({ parentSpanId }) => !parentSpanId);
    expect(root).toMatchObject({
      kind: INTERNAL,
      service: 'parlance-test',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': 'traced',
        'gen_ai.provider.name': 'offline',
        'parlance.turn': turn,
        'parlance.outcome': 'ended',
      },
    });
    expect(root?.name).toBe(`invoke_agent ${root?.attributes['gen_ai.agent.name']}`);
    const children = trace.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    const operations = children.map(({ attributes }) => attributes['gen_ai.operation.name']);
    expect(operations.toSorted()).toEqual(['chat', 'chat', 'execute_tool']);
    for (const { startTimeUnixNano, endTimeUnixNano } of trace)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  });

  test('model calls report usage and finish reason', () => {
    const calls = spans.filter(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat');
    expect(calls).toHaveLength(4);
    for (const { name, attributes } of calls) {
      expect(name).toBe(`chat ${attributes['gen_ai.request.model']}`);
      expect(attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
      expect(attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    }
    const reasons = calls.map(({ attributes }) => attributes['gen_ai.response.finish_reasons']);
    expect(reasons).toContainEqual(['tool_calls']);
    expect(reasons).toContainEqual(['stop']);
  });

  test('tool calls report their outcome', () => {
    const tools = named('execute_tool shell');
    expect(tools.map(({ attributes }) => attributes['parlance.outcome']).toSorted()).toEqual([
      'failed',
      'ok',
    ]);
    const failed = tools.find(({ status }) => status.code === FAILED);
    expect(failed?.attributes).toMatchObject({
      'gen_ai.tool.name': 'shell',
      'gen_ai.tool.call.id': expect.any(String),
      'error.type': 'tool_failed',
    });
  });

  test('spans contain no message content', () => {
    expect(collector.bodies.join()).not.toContain('secret-plans');
    expect(collector.bodies.join()).not.toContain('no-such-file');
  });
});

test('an unreachable collector disturbs neither turns nor the exit', async () => {
  const collector = openCollector();
  await collector.stop();
  const server = await startTestServer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await turnWithCall(server, 'untraced', 'touch a.txt');
  await server.stop();
});

test('an unresponsive collector does not prevent the exit', async () => {
  const never = Promise.withResolvers<Response>();
  const collector = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => never.promise });
  const server = await startTestServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
  });
  await turnWithCall(server, 'unheard', 'touch a.txt');
  await server.stop();
  never.resolve(new Response());
  await collector.stop(true);
});

test('a turn interrupted by the exit is exported as far as it came, and continues in the same trace', async () => {
  const collector = openCollector();
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const first = await startTestServer({ ...tracing, PARLANCE_OFFLINE_DELAY: '5' });
  const client = await first.connect('/agentloop?session=long');
  const content = [{ type: 'input_text', text: 'count to 300' }];
  const input = [{ type: 'message', role: 'user', content }];
  client.send({ id: crypto.randomUUID(), type: 'user_input', payload: { input } });
  await client.next('response_item');
  await first.running.stop();
  const second = await startTestServer({ ...tracing, PARLANCE_DATA: first.data });
  await ended(second, 'long');
  await second.stop();
  const roots = collector.spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect(roots.map(({ attributes }) => attributes['parlance.outcome'])).toEqual([undefined, 'ended']);
  expect(roots.map(({ attributes }) => attributes['parlance.resumed'])).toEqual([undefined, true]);
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(1);
  await first.stop();
  await collector.stop();
});
