/** Options of a request as the model receives them, and stop reasons. */
import { describe, expect, jest, test } from 'bun:test';
import { until } from '../../packages/server/src/testing/until.ts';
import { modelServer, testServers } from '../model-server.ts';
import { getJson, postJson } from '../server-process.ts';
import { anthropicClient, failure, textIn } from './client.ts';

const { answering, started } = testServers();
const { model, server } = await modelServer(() => ({ say: 'Fine.' }));
const client = anthropicClient(server.http);

const ASKED = { model: 'fake', max_tokens: 2_000, messages: [{ role: 'user' as const, content: 'hello' }] };
const sent = () => model.requests.at(-1) as unknown as Record<string, unknown>;

describe('options', () => {
  test('effort, limits and sampling are passed on', async () => {
    await client.beta.messages.create({
      ...ASKED,
      output_config: { effort: 'xhigh' },
      stop_sequences: ['END'],
      // The types have no sampling options, because the newest models do not.
      ...({ temperature: 0.5, top_p: 0.9 } as object),
    });
    expect(sent()).toMatchObject({
      reasoning_effort: 'xhigh',
      max_tokens: 2_000,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
    });
    await client.beta.messages.create({ ...ASKED, output_config: { effort: 'unheard of' as never } });
    expect(sent()).not.toHaveProperty('reasoning_effort');
  });

  test('a coding client may have hundreds of tools with long names', async () => {
    const tools = Array.from({ length: 300 }, (_, index) => ({
      name: `mcp__a-server__${'long_'.repeat(18)}${index}`,
      input_schema: { type: 'object' as const },
    }));
    expect(textIn(await client.messages.create({ ...ASKED, tools }))).toBe('Fine.');
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(
      tools.map(({ name }) => name),
    );
  });
});

test.each([
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
] as const)(
  'an answer that ends with %s has the reason %s, both whole and streamed',
  async (finish, reason) => {
    const half = { say: 'Half an', finish };
    const { server: own } = await answering(half, half);
    const asked = anthropicClient(own.http);
    const whole = await asked.messages.create({ ...ASKED, model: 'parlance' });
    expect(whole).toMatchObject({ stop_reason: reason, stop_sequence: null });
    expect(textIn(whole)).toBe('Half an');
    const streamed = await asked.messages.stream({ ...ASKED, model: 'parlance' }).finalMessage();
    expect(streamed.stop_reason).toBe(reason);
  },
);

test('an API key for other dialects is 403', async () => {
  const closed = await started({ PARLANCE_AUTH: 'required' });
  const authorization = `Bearer ${await closed.login('uma', 'uma-password')}`;
  const body = { name: 'chat only', dialects: ['openai'] };
  const made = await postJson(`${closed.http}/v1/keys`, body, { authorization });
  const limited = anthropicClient(closed.http, { key: String(made.body.secret ?? made.body.key) });
  expect(await failure(limited.messages.create(ASKED))).toMatchObject({
    status: 403,
    type: 'permission_error',
  });
});

test('a server that receives too much at once is 529', async () => {
  const full = await started({ PARLANCE_BODY_BYTES: '100000', PARLANCE_MAX_BODY: '90000' });
  const slow = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(80_000))),
  });
  const stop = new AbortController();
  const { http } = full;
  const held = fetch(`${http}/v1/messages`, { method: 'POST', body: slow, signal: stop.signal });
  const messages = [{ role: 'user' as const, content: 'a'.repeat(50_000) }];
  const ask = () => failure(anthropicClient(http).messages.create({ ...ASKED, model: 'parlance', messages }));
  expect(await until(ask)).toMatchObject({ status: 529, type: 'overloaded_error' });
  stop.abort();
  await held.catch(() => undefined);
});

test('pings keep a stream alive while an approval waits', async () => {
  const { server: own } = await answering(
    { call: 'shell', input: { command: ['touch', 'a.txt'] } },
    { say: 'Done.' },
  );
  jest.useFakeTimers();
  try {
    const response = fetch(`${own.http}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...ASKED, model: 'parlance', stream: true }),
    });
    const waiting = async () =>
      (await getJson<{ approvals: { id: string }[] }>(`${own.http}/v1/approvals`)).approvals[0]?.id;
    let approval = await waiting();
    while (approval === undefined) approval = await waiting();
    const text = (await response).text();
    for (let count = 0; count < 4; count++) jest.advanceTimersByTime(15_000);
    await postJson(`${own.http}/v1/approvals/${approval}`, { answer: 'once' });
    const events = (await text).match(/^event: \w+$/gm) ?? [];
    expect(events.filter((event) => event === 'event: ping').length).toBeGreaterThan(2);
    expect(events.at(-1)).toBe('event: message_stop');
  } finally {
    jest.useRealTimers();
  }
});
