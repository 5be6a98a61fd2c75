import { afterEach, describe, expect, test } from 'bun:test';
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import {
  type Answer,
  type ChatRequest,
  type CountTokens,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts';

let model: ScriptedModel;
let server: TestServer;

/** An approximate vendor count: the whole request, at four characters per token. */
const byLength: CountTokens = ({ messages, tools }, answer) => ({
  prompt: Math.ceil(JSON.stringify([messages, tools]).length / 4),
  completion: Math.ceil(JSON.stringify(answer).length / 4),
});

async function start(
  answer: (request: ChatRequest, count: number) => Answer,
  settings: Record<string, string> = {},
): Promise<TestClient> {
  model = scriptedModel(answer, byLength);
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-very-secret-key',
    MODEL: 'fake',
    ...settings,
  });
  return server.connect('/agentloop?session=counted');
}

afterEach(async () => {
  await server.stop();
  model.stop();
});

const say = (client: TestClient, text: string) =>
  client.send({
    id: '1',
    type: 'user_input',
    payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
  });
const review = (client: TestClient, answer: string) =>
  client.send({ id: '2', type: 'approval_response', payload: { review: answer } });

type Info = { tokenCount: number; usagePercent: number; maxTokens: number; transcriptLength: number };
const infoIn = (frame: AnyFrame | undefined) => frame?.payload as Info;

async function info(client: TestClient): Promise<Info> {
  client.send({ id: '3', type: 'get_context_info' });
  return infoIn(await client.next('context_info'));
}

async function turn(client: TestClient, text: string): Promise<Info> {
  say(client, text);
  return infoIn(await client.next('context_info'));
}

async function compact(client: TestClient): Promise<{ oldTokenCount: number; newTokenCount: number }> {
  client.send({ id: '4', type: 'manual_compact' });
  return (await client.next('context_compacted')).payload as never;
}

const configure = (change: object) =>
  fetch(`${server.http}/v1/sessions/counted/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'session.configure', ...change }),
  });

const isSummary = ({ messages }: ChatRequest) => String(messages[0]?.content).startsWith('Summarise');
const STORY = 'The miller went to the river and came back with a fish. '.repeat(40);

describe('the context usage', () => {
  test('includes instructions, tools and conversation, before the first turn and after it', async () => {
    const client = await start(() => ({ say: 'Hello.' }));
    const fresh = await info(client);
    const after = await turn(client, 'Hi');
    const counted = byLength(model.requests[0] as ChatRequest, { say: 'Hello.' });
    expect(after.tokenCount).toBe(counted.prompt + counted.completion);
    expect(fresh.tokenCount / after.tokenCount).toBeWithin(0.7, 1.3);
    expect(await info(client)).toEqual(after);
  });

  test('does not decrease if a turn fails, and is sent after it', async () => {
    const client = await start((_, count) => (count === 1 ? { say: STORY } : { status: 400 }));
    const before = await turn(client, 'Tell me a story');
    say(client, 'Again');
    const frames = await client.until('context_info');
    expect(frames.slice(-3).map(({ type }) => type)).toEqual(['error', 'loading_state', 'context_info']);
    const after = infoIn(frames.at(-1));
    expect(after.tokenCount).toBeGreaterThan(before.tokenCount);
    expect(after.tokenCount).toBeLessThan(before.tokenCount + 50);
    expect(await info(client)).toEqual(after);
  });

  test('does not decrease if an answer is interrupted, and the next answer is counted once', async () => {
    const client = await start((_, count) => (count === 2 ? { say: STORY, after: 'cut' } : { say: STORY }));
    const before = await turn(client, 'Tell me a story');
    const after = await turn(client, 'Again');
    expect(after.tokenCount - before.tokenCount).toBeWithin(1, before.tokenCount);
    expect(after.transcriptLength).toBe(4);
  });

  test('is sent after a turn that was ended by a denial, and after a superseded one', async () => {
    const client = await start((_, count) => {
      if (count === 1) return { call: 'shell', input: { command: ['touch', 'never'] } };
      return count === 2 ? { say: 'Wait', after: 'silence' } : { say: 'Done.' };
    });
    say(client, 'Run it');
    await client.next('approval_request');
    review(client, 'no-exit');
    const denied = await client.until('context_info');
    expect(denied.slice(-2).map(({ type }) => type)).toEqual(['agent_finished', 'context_info']);
    say(client, 'Go on');
    await client.next('response_item');
    say(client, 'Stop');
    const superseded = await client.until('context_info');
    expect(superseded.map(({ type }) => type)).toEqual(['response_item', 'loading_state', 'context_info']);
    const counts = [denied, superseded].map((frames) => infoIn(frames.at(-1)).tokenCount);
    expect(counts[1]).toBeGreaterThan(counts[0] as number);
    await client.next('agent_finished');
  });
});

describe('a compaction', () => {
  test('announces the count of the next context_info, including instructions and tools', async () => {
    const client = await start((request) => ({ say: isSummary(request) ? 'A miller fished.' : STORY }));
    const fresh = await info(client);
    await turn(client, 'One');
    const before = await turn(client, 'Two');
    const { oldTokenCount, newTokenCount } = await compact(client);
    expect(oldTokenCount).toBe(before.tokenCount);
    expect((await info(client)).tokenCount).toBe(newTokenCount);
    expect(newTokenCount).toBeLessThan(oldTokenCount);
    expect(newTokenCount).toBeGreaterThanOrEqual(fresh.tokenCount);
    const next = await turn(client, 'Three');
    expect(next.tokenCount - newTokenCount).toBeWithin(1, before.tokenCount);
  });

  test('announces the same count after a restart', async () => {
    const client = await start((request) => ({ say: isSummary(request) ? 'A miller fished.' : STORY }));
    await turn(client, 'One');
    const { newTokenCount } = await compact(client);
    const settings = { PARLANCE_DATA: server.data, OPENAI_BASE_URL: model.url, MODEL: 'fake' };
    await server.running.stop();
    const again = await startTestServer(settings);
    expect((await info(await again.connect('/agentloop?session=counted'))).tokenCount).toBe(newTokenCount);
    await again.stop();
  });

  test('happens automatically with a threshold below the default retained share', async () => {
    const client = await start((request) => ({ say: isSummary(request) ? 'A miller fished.' : STORY }), {
      CONTEXT_LIMIT: '40000',
      CONTEXT_COMPACTION_THRESHOLD: '0.15',
    });
    let used = 0;
    for (let count = 1; used <= 0.15 * 40_000; count++)
      used = (await turn(client, `Story ${count}`)).tokenCount;
    say(client, 'One more');
    const compacted = (await client.next('context_compacted')).payload as { newTokenCount: number };
    expect(compacted.newTokenCount).toBeLessThan(0.15 * 40_000);
    await client.next('context_info');
  });
});

describe('a model of the session', () => {
  test('determines the size of the context', async () => {
    const client = await start(() => ({ say: 'Hello.' }), { CONTEXT_LIMIT: '5000' });
    expect((await turn(client, 'Hi')).maxTokens).toBe(5_000);
    expect((await configure({ model: 'gpt-5-mini' })).status).toBe(200);
    expect((await info(client)).maxTokens).toBe(400_000);
    expect((await turn(client, 'Hi')).maxTokens).toBe(400_000);
  });

  test('writes the summaries, from as much text as fits', async () => {
    const client = await start(
      (request) => {
        if (!isSummary(request)) return { say: STORY };
        return JSON.stringify(request.messages).length > 12_000
          ? { status: 413 }
          : { say: 'A miller fished.' };
      },
      { CONTEXT_LIMIT: '8000' },
    );
    await turn(client, 'One');
    await configure({ model: 'gpt-5-mini' });
    for (let count = 0; count < 12; count++) await turn(client, `Story ${count}`);
    await configure({ model: 'small' });
    await turn(client, 'And now');
    const summaries = model.requests.filter(isSummary);
    expect(summaries.map((request) => request.model)).toEqual(summaries.map(() => 'small'));
    expect(summaries.length).toBeGreaterThan(1);
    // Stories 8 to 11 are retained; of the summarised part, the newest.
    expect(JSON.stringify(summaries.at(-1)?.messages)).toContain('Story 7');
    expect(JSON.stringify(summaries.at(-1)?.messages)).not.toContain('Story 1');
  });
});
