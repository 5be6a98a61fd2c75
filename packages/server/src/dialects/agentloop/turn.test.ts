import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { goldenNames, NEW_SESSION, projected, readTranscript } from '../../testing/transcripts.ts';
import { agentloop } from './dialect.ts';
import { projection } from './outbound.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

const input = (text: string, more: object = {}) => ({
  id: '550e8400-e29b-41d4-a716-446655440000',
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }], ...more },
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const payload = (frame: AnyFrame | undefined) => (frame?.payload ?? {}) as Record<string, unknown>;

const itemTypes = (frames: AnyFrame[]) =>
  frames.filter((frame) => frame.type === 'response_item').map((frame) => payload(frame).type);

const assistantText = (frames: AnyFrame[]) =>
  frames
    .filter((frame) => payload(frame).type === 'message' && payload(frame).role === 'assistant')
    .map((frame) => (payload(frame).content as { text: string }[]).map((part) => part.text).join(''))
    .join('');

async function turn(client: TestClient, text: string): Promise<AnyFrame[]> {
  client.send(input(text));
  return client.until('context_info');
}

/**
 * The lines that a deployed terminal shows: it writes text as it arrives, and clears its current line when it
 * receives `loading_state` and `approval_request`.
 */
function terminal(frames: readonly AnyFrame[]): string[] {
  const lines = [''];
  for (const frame of frames) {
    const { type, role } = payload(frame);
    const current = lines.length - 1;
    if (frame.type === 'loading_state' || frame.type === 'approval_request') lines[current] = '';
    else if (type === 'message' && role === 'assistant') {
      const [first = '', ...others] = assistantText([frame]).split('\n');
      lines[current] += first;
      lines.push(...others);
    } else if (type !== undefined) lines.push(`(${type})`, '');
  }
  return lines.filter((line) => line !== '');
}

describe('a terminal that clears its line before a spinner or a prompt shows', () => {
  test('an answer of one line', async () => {
    const client = await server.connect('/agentloop');
    expect(terminal(await turn(client, 'count to 3'))).toEqual(['1 2 3']);
  });

  test('the text before an approval, also to a socket that attaches, and an explanation', async () => {
    const client = await server.connect('/agentloop?session=terminal');
    client.send(input('run touch shown.txt'));
    const shown = terminal(await client.until('approval_request'));
    expect(shown).toEqual([expect.any(String)]);
    const late = await server.connect('/agentloop?session=terminal');
    expect(terminal(await late.until('approval_request'))).toEqual(shown);
    const review = (answer: string) => ({
      id: crypto.randomUUID(),
      type: 'approval_response',
      payload: { review: answer },
    });
    client.send(review('explain'));
    expect(terminal(await client.until('approval_request'))).toEqual([expect.stringContaining('touch')]);
    client.send(review('yes'));
    const last = terminal(await client.until('context_info')).at(-1);
    expect(last).not.toBe('(function_call_output)');
  });

  for (const name of goldenNames('agentloop'))
    test(`every text of the scenario ${name}`, () => {
      const events = readTranscript(name);
      const frames = projected(agentloop, events)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as AnyFrame);
      const lines = terminal(frames).join('\n');
      const blocks = events.flatMap((event) => (event.type === 'text.delta' ? [event.block] : []));
      for (const block of new Set(blocks)) {
        const text = events.flatMap((event) =>
          event.type === 'text.delta' && event.block === block ? [event.text] : [],
        );
        expect(lines).toContain(text.join(''));
      }
    });

  test('text that needs no line break is not given one', () => {
    const before = projection.start(NEW_SESSION);
    const [event] = readTranscript('plain-answer').filter(({ type }) => type === 'text.ended');
    const text = (event as Extract<typeof event, { type: 'text.ended' }>).text;
    const shown = (given: string) => projection.step(before, { ...event, text: given } as never)[1];
    expect([shown(`${text}\n`), shown(''), shown(text)].map(({ length }) => length)).toEqual([0, 0, 1]);
  });
});

describe('a turn', () => {
  test('is loading, items, not loading, finished, and then the context usage', async () => {
    const client = await server.connect('/agentloop');
    const frames = await turn(client, 'Hello');
    expect(frames[0]).toEqual({
      id: expect.stringMatching(UUID),
      type: 'loading_state',
      payload: { loading: true },
    });
    const [notLoading, finished, info] = frames.slice(-3);
    expect(payload(notLoading)).toEqual({ loading: false });
    expect(finished?.type).toBe('agent_finished');
    expect(payload(finished)).toEqual({
      responseId: expect.any(String),
      sessionId: expect.any(String),
    });
    expect(payload(info)).toEqual({
      tokenCount: expect.any(Number),
      usagePercent: expect.any(Number),
      transcriptLength: 2,
      maxTokens: 128_000,
      strategy: 'ThresholdContextManager',
      sessionId: payload(finished).sessionId,
    });
    expect(new Set(frames.map((frame) => frame.id)).size).toBe(frames.length);
  });

  test('streams a message in pieces with one id, each with only the new text', async () => {
    const client = await server.connect('/agentloop');
    const frames = await turn(client, 'count to 12');
    const pieces = frames.filter((frame) => payload(frame).type === 'message');
    expect(pieces.length).toBeGreaterThan(5);
    expect(new Set(pieces.map((frame) => payload(frame).id)).size).toBe(1);
    expect(payload(pieces[0]).content).toEqual([{ type: 'output_text', text: expect.any(String) }]);
    expect(assistantText(frames)).toContain('1 2 3 4 5 6 7 8 9 10 11 12');
  });

  test('shows reasoning with its duration', async () => {
    const client = await server.connect('/agentloop');
    const frames = await turn(client, 'think about tea');
    const reasoning = frames.find((frame) => payload(frame).type === 'reasoning');
    expect(payload(reasoning)).toEqual({
      id: expect.any(String),
      type: 'reasoning',
      content: [{ type: 'input_text', text: expect.any(String) }],
      duration_ms: expect.any(Number),
    });
  });

  test('runs known-safe commands without approval, and shows the call and its output', async () => {
    writeFileSync(join(server.root, 'seen.txt'), 'x');
    const client = await server.connect('/agentloop');
    const frames = await turn(client, 'run ls');
    const call = payload(frames.find((frame) => payload(frame).type === 'function_call'));
    expect(call).toEqual({
      id: call.call_id,
      type: 'function_call',
      call_id: expect.any(String),
      name: 'shell',
      arguments: '{"command":["ls"]}',
    });
    const output = payload(frames.find((frame) => payload(frame).type === 'function_call_output'));
    expect(output.call_id).toBe(call.call_id);
    expect(JSON.parse(String(output.output))).toEqual({
      output: expect.stringContaining('seen.txt'),
      metadata: { exit_code: 0, duration_seconds: expect.any(Number) },
    });
  });

  test('shows a local shell call', async () => {
    const client = await server.connect('/agentloop');
    const frames = await turn(client, 'local shell: pwd');
    const call = payload(frames.find((frame) => payload(frame).type === 'local_shell_call'));
    expect(call).toMatchObject({ action: { command: ['pwd'] }, status: 'completed' });
    const output = payload(frames.find((frame) => payload(frame).type === 'local_shell_call_output'));
    expect(JSON.parse(String(output.output))).toMatchObject({ metadata: { exit_code: 0 } });
  });

  test('that fails sends a system message and an error, and stops loading', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('fail'));
    const frames = await client.until(
      (frame) => frame.type === 'loading_state' && payload(frame).loading === false,
    );
    const system = frames.find((frame) => payload(frame).role === 'system');
    expect(JSON.stringify(payload(system).content)).toContain('⚠️');
    expect(payload(frames.find((frame) => frame.type === 'error'))).toEqual({
      message: 'Failed to process user input',
      details: { error: expect.any(String), code: 502 },
    });
    expect(await turn(client, 'Hello')).not.toBeEmpty();
  });

  test('accepts text as a plain string, several parts, and images', async () => {
    const client = await server.connect('/agentloop');
    const content = ['echo a', { type: 'input_image', image_url: 'data:image/png;base64,aGk=' }];
    client.send({
      id: '1',
      type: 'user_input',
      payload: { input: [{ role: 'user', content: 'echo plain' }] },
    });
    expect(itemTypes(await client.until('context_info'))).toContain('function_call');
    client.send({
      id: '2',
      type: 'user_input',
      payload: { input: [{ type: 'message', role: 'user', content }] },
    });
    expect(await client.until('context_info')).not.toBeEmpty();
  });

  test('is superseded by a second input: its calls are closed, and the new input is answered', async () => {
    const slow = await startTestServer({ PARLANCE_OFFLINE_DELAY: '5' });
    const client = await slow.connect('/agentloop');
    client.send(input('count to 2000'));
    await client.next('response_item');
    client.send(input('echo second'));
    const frames = [...(await client.until('context_info')), ...(await client.until('context_info'))];
    expect(frames.filter((frame) => frame.type === 'agent_finished')).toHaveLength(1);
    expect(frames.filter((frame) => frame.type === 'loading_state').map((f) => payload(f).loading)).toEqual([
      false,
      true,
      false,
    ]);
    expect(JSON.stringify(frames)).toContain('second');
    await slow.stop();
  });
});
