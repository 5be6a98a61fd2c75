/** Packages of the AI SDK, as they are installed, against a local vendor. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Prompt, ProviderEvent } from '../core/ports/provider.ts';
import { joined, KEY, SMALL_PROMPT, streamedCalls } from '../testing/providers/suite/collect.ts';
import { until } from '../testing/until.ts';
import { AiSdkAttempt, type AiSdkOptions } from './ai-sdk.ts';
import { retried } from './http-provider.ts';
import { findPackage } from './packages.ts';

const INSTALLED = join(import.meta.dir, '../../../../node_modules');

type Received = { path: string; headers: Headers; body: Record<string, unknown>; signal: AbortSignal };
const received: Received[] = [];
let respond: (attempt: number) => Response;
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { signal, headers } = request;
      const body = (await request.json()) as Received['body'];
      received.push({ path: new URL(request.url).pathname, headers, body, signal });
      return respond(received.length);
    },
  });
});
afterEach(() => received.splice(0));
afterAll(() => server.stop(true));

const sse = (...events: unknown[]): Response =>
  new Response(
    events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  );

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: 'x-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

/** One word, and then nothing more. */
const silent = (): Response =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk({ content: 'a' }))}\n\n`));
        return new Promise(() => undefined);
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );

const vendorOf = (name: string, more: Partial<AiSdkOptions> = {}): AiSdkOptions => ({
  package: `@ai-sdk/${name}`,
  folders: [INSTALLED],
  install: `npm install @ai-sdk/${name}`,
  label: 'The vendor',
  key: KEY,
  isKeyWithheld: false,
  variable: 'VENDOR_API_KEY',
  baseUrl: `http://127.0.0.1:${server.port}/v1`,
  findsCredentials: false,
  missingVariables: [],
  model: 'm-1',
  ...more,
});

type Run = {
  readonly prompt?: Prompt;
  readonly attempts?: number;
  readonly signal?: AbortSignal;
  readonly idleMs?: number;
};

async function answer(vendor: AiSdkOptions, run: Run = {}): Promise<ProviderEvent[]> {
  const { prompt = SMALL_PROMPT, attempts = 1, signal = new AbortController().signal, idleMs = 10_000 } = run;
  const options = { idleMs, limits: { argumentCharacters: 1_000, answerCalls: 3 } };
  const provider = retried(
    {
      name: 'vendor',
      model: vendor.model,
      contextLimit: 1_000,
      retry: { attempts, firstDelayMs: 1, maxDelayMs: 5_000, random: () => 0 },
    },
    (stop, take) => new AiSdkAttempt(vendor, options, stop, take),
  );
  const events: ProviderEvent[] = [];
  for await (const event of provider.stream(prompt, signal)) events.push(event);
  expect(JSON.stringify(events)).not.toContain(KEY);
  return events;
}

const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
const IMAGE = { type: 'image', mime: 'image/png', data: 'iVBORw0KGgo=' } as const;

const CONVERSATION: Prompt = {
  ...SMALL_PROMPT,
  items: [
    { kind: 'user', parts: [{ type: 'text', text: 'What is this?' }, IMAGE] },
    { kind: 'call', call: 'call_of-another-vendor', tool: 'look', input: { at: 1 } },
    {
      kind: 'result',
      call: 'call_of-another-vendor',
      parts: [{ type: 'text', text: 'a cat' }, IMAGE],
      failed: false,
    },
    { kind: 'system', text: 'Be polite.' },
  ],
  tools: [TOOL],
  options: { temperature: 0.5, maxOutputTokens: 9, toolChoice: 'required' },
};

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

describe.each(['mistral', 'groq'])('@ai-sdk/%s', (name) => {
  test('text, a call with streamed arguments, and usage', async () => {
    const call = (text: string, more: object = {}) => ({ index: 0, function: { arguments: text, ...more } });
    const whole = name === 'mistral';
    respond = () =>
      sse(
        chunk({ role: 'assistant', content: 'Hel' }),
        chunk({ content: 'lo' }),
        // Mistral sends a call in one piece.
        chunk({
          tool_calls: [
            { id: 'abc123XYZ', type: 'function', ...call(whole ? '{"at":2}' : '{"at"', { name: 'look' }) },
          ],
        }),
        ...(whole ? [] : [chunk({ tool_calls: [call(':2}')] })]),
        chunk({ content: '' }, 'tool_calls', { usage: USAGE, x_groq: { id: 'r', usage: USAGE } }),
        '[DONE]',
      );
    const events = await answer(vendorOf(name), { prompt: CONVERSATION });
    expect(joined(events)).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'call', call: 'abc123XYZ', tool: 'look', input: { at: 2 } },
      { type: 'ended', usage: expect.objectContaining({ inputTokens: 11, outputTokens: 7 }), stop: 'calls' },
    ]);
    expect(streamedCalls(events)).toEqual([{ call: 'abc123XYZ', tool: 'look', text: '{"at":2}' }]);
  });

  test('the request has the conversation, images, tools and options', async () => {
    respond = () => sse(chunk({ content: 'ok' }, 'stop', { usage: USAGE }), '[DONE]');
    await answer(vendorOf(name), { prompt: CONVERSATION });
    const [{ body, path, headers } = {} as Received] = received;
    expect(path).toBe('/v1/chat/completions');
    expect(headers.get('authorization')).toBe(`Bearer ${KEY}`);
    expect(body).toMatchObject({ model: 'm-1', temperature: 0.5, max_tokens: 9, stream: true });
    expect(JSON.stringify(body.tools)).toContain('"name":"look"');
    const messages = body.messages as Record<string, unknown>[];
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
    expect(JSON.stringify(messages[1])).toContain(`data:image/png;base64,${IMAGE.data}`);
    expect(JSON.stringify(messages[4])).toContain(IMAGE.data);
    const [call] = (messages[2]?.tool_calls ?? []) as { id: string }[];
    expect(messages[3]).toMatchObject({ content: 'a cat', tool_call_id: call?.id });
    if (name === 'mistral') expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test('429 is repeated after the time that the vendor asks for', async () => {
    respond = (attempt) =>
      attempt === 1
        ? Response.json(
            { error: { message: 'slow down' }, message: 'slow down' },
            { status: 429, headers: { 'retry-after-ms': '20' } },
          )
        : sse(chunk({ content: 'ok' }, 'stop', { usage: USAGE }), '[DONE]');
    const events = await answer(vendorOf(name), { attempts: 2 });
    expect(events).toMatchObject([
      {
        type: 'retrying',
        attempt: 2,
        delayMs: 20,
        host: `127.0.0.1:${server.port}`,
        fault: { code: 'provider_limited', vendorStatus: 429, retryAfterMs: 20 },
      },
      { type: 'text', text: 'ok' },
      { type: 'ended', stop: 'done' },
    ]);
    // Packages must not retry on their own.
    expect(received).toHaveLength(2);
  });

  test('a refused key is named, and not repeated', async () => {
    respond = () =>
      Response.json({ error: { message: `bad key ${KEY}` }, message: `bad key ${KEY}` }, { status: 401 });
    const [failed, ...rest] = await answer(vendorOf(name), { attempts: 3 });
    expect(rest).toEqual([]);
    expect(failed).toMatchObject({
      type: 'failed',
      fault: {
        code: 'provider_rejected',
        vendorStatus: 401,
        message: 'The vendor refused the key: bad key [key]. Check VENDOR_API_KEY.',
      },
    });
    expect(received).toHaveLength(1);
  });

  test('a redirect is not followed', async () => {
    respond = () => new Response(null, { status: 307, headers: { location: '/elsewhere' } });
    expect(await answer(vendorOf(name))).toMatchObject([
      { type: 'failed', fault: { code: 'provider_rejected', message: expect.stringContaining('redirects') } },
    ]);
    expect(received).toHaveLength(1);
  });

  test('an answer that is cancelled ends, and so does its request', async () => {
    const stop = new AbortController();
    respond = silent;
    const running = answer(vendorOf(name), { signal: stop.signal });
    await until(() => received.length === 1);
    await Bun.sleep(50);
    stop.abort();
    expect((await running).at(-1)).toMatchObject({ type: 'failed', fault: { code: 'cancelled' } });
    await until(() => received[0]?.signal.aborted === true);
  });

  test('an answer that is cut off, and a silent vendor, are failures that may pass', async () => {
    respond = () => sse(chunk({ content: 'Hel' }));
    expect((await answer(vendorOf(name))).at(-1)).toMatchObject({
      type: 'failed',
      fault: { code: 'provider_unavailable' },
    });
    respond = silent;
    expect((await answer(vendorOf(name), { idleMs: 100 })).at(-1)).toMatchObject({
      type: 'failed',
      fault: { code: 'provider_unavailable', message: 'The model was silent for too long.' },
    });
  });

  test('arguments and calls have the limits of every model', async () => {
    const call = (index: number, text: string) =>
      chunk({
        tool_calls: [
          { index, id: `call0000${index}`, type: 'function', function: { name: 'look', arguments: text } },
        ],
      });
    respond = () => sse(call(0, `{"a":"${'x'.repeat(2_000)}"}`), chunk({}, 'tool_calls'), '[DONE]');
    expect((await answer(vendorOf(name))).at(-1)).toMatchObject({ fault: { code: 'answer_too_long' } });
    respond = () => sse(...[0, 1, 2, 3].map((at) => call(at, '{}')), chunk({}, 'tool_calls'), '[DONE]');
    expect((await answer(vendorOf(name))).at(-1)).toMatchObject({ fault: { code: 'answer_too_long' } });
  });
});

test('nothing listens: the reason is the code of the system', async () => {
  expect(await answer(vendorOf('groq', { baseUrl: 'http://127.0.0.1:1/v1' }))).toMatchObject([
    {
      type: 'failed',
      fault: { code: 'provider_unavailable', message: expect.stringContaining('cannot be reached') },
    },
  ]);
});

test('reasoning is sealed, and sent back to the same package and model only', async () => {
  respond = () =>
    sse(
      chunk({ reasoning: 'Hmm.' }),
      chunk({ content: 'Yes' }),
      chunk({}, 'stop', { usage: USAGE }),
      '[DONE]',
    );
  const events = await answer(vendorOf('groq'));
  const sealed = events.find((event) => event.type === 'sealed')?.sealed;
  expect(joined(events)).toMatchObject([
    { type: 'reasoning', text: 'Hmm.' },
    { type: 'sealed', sealed: { provider: 'ai-sdk', data: { package: '@ai-sdk/groq', model: 'm-1' } } },
    { type: 'text', text: 'Yes' },
    { type: 'ended' },
  ]);
  const prompt: Prompt = {
    ...SMALL_PROMPT,
    items: [
      { kind: 'user', parts: [{ type: 'text', text: 'Well?' }] },
      { kind: 'reasoning', text: 'Hmm.', ...(sealed && { sealed }) },
      { kind: 'text', text: 'Yes' },
      { kind: 'user', parts: [{ type: 'text', text: 'Sure?' }] },
    ],
  };
  for (const model of ['m-1', 'm-2']) await answer(vendorOf('groq', { model }), { prompt });
  expect(received.slice(1).map(({ body }) => JSON.stringify(body).includes('Hmm.'))).toEqual([true, false]);
});

test('@ai-sdk/azure asks the Responses API, which keeps nothing', async () => {
  const response = { id: 'r', created_at: 1, model: 'm-1', output: [] };
  respond = () =>
    sse(
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
      {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
      },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
      {
        type: 'response.completed',
        response: {
          ...response,
          usage: { input_tokens: 5, output_tokens: 2, input_tokens_details: { cached_tokens: 3 } },
        },
      },
    );
  const events = await answer(vendorOf('azure', { requestOptions: { azure: { store: false } } }));
  expect(joined(events)).toMatchObject([
    { type: 'text', text: 'Hello' },
    { type: 'ended', usage: { inputTokens: 5, outputTokens: 2, cachedTokens: 3 }, stop: 'done' },
  ]);
  expect(received[0]?.headers.get('api-key')).toBe(KEY);
  expect(received[0]?.body.store).toBe(false);
});

test('the variables of an address are named if they are missing', async () => {
  const missingVariables = ['AZURE_RESOURCE_NAME'];
  expect(await answer(vendorOf('azure', { baseUrl: undefined, missingVariables }))).toMatchObject([
    { type: 'failed', fault: { message: expect.stringContaining('AZURE_RESOURCE_NAME') } },
  ]);
});

describe('packages', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'packages-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A package that tells if it is loaded. */
  function plant(at: string, name: string, about: object = {}): void {
    mkdirSync(join(at, name), { recursive: true });
    writeFileSync(
      join(at, name, 'package.json'),
      JSON.stringify({ name, version: '9.9.9', main: 'index.js', ...about }),
    );
    writeFileSync(
      join(at, name, 'index.js'),
      'globalThis.planted = true; export const createX = () => ({ languageModel: () => ({ specificationVersion: "v1" }) });',
    );
  }

  test('a missing package is named with the command that installs it', async () => {
    const [failed] = await answer(vendorOf('cohere'), { attempts: 3 });
    expect(failed).toMatchObject({
      type: 'failed',
      fault: {
        code: 'provider_rejected',
        message: 'The vendor needs the package @ai-sdk/cohere: npm install @ai-sdk/cohere.',
      },
    });
  });

  test('folders above the data folder provide neither the package nor what it imports', async () => {
    const repository = join(folder, 'repository');
    const data = join(repository, '.parlance/packages/node_modules');
    plant(join(repository, 'node_modules'), '@ai-sdk/cohere');
    plant(join(repository, 'node_modules'), 'zod');
    mkdirSync(data, { recursive: true });
    expect(await answer(vendorOf('cohere', { folders: [data] }))).toMatchObject([
      { fault: { message: expect.stringContaining('needs the package') } },
    ]);
    cpSync(join(INSTALLED, '@ai-sdk/groq'), join(data, '@ai-sdk/groq'), { recursive: true });
    for (const name of ['provider', 'provider-utils']) {
      const nested = join(INSTALLED, '@ai-sdk/groq/node_modules/@ai-sdk', name);
      const from = findPackage(`@ai-sdk/${name}`, [join(INSTALLED, '@ai-sdk/groq/node_modules')])
        ? nested
        : join(INSTALLED, '@ai-sdk', name);
      cpSync(from, join(data, '@ai-sdk', name), { recursive: true });
    }
    const [failed] = await answer(vendorOf('groq', { folders: [data] }));
    expect(failed).toMatchObject({
      fault: { message: expect.stringMatching(/cannot be loaded, because \S+ is missing: install it again/) },
    });
    expect(globalThis).not.toHaveProperty('planted');
    // The same package with everything that it imports is loaded.
    respond = () => sse(chunk({ content: 'ok' }, 'stop', { usage: USAGE }), '[DONE]');
    expect((await answer(vendorOf('groq', { folders: [data, INSTALLED].slice(1) }))).at(-1)?.type).toBe(
      'ended',
    );
  });

  test('a link out of the folder is refused', () => {
    const data = join(folder, 'linked');
    mkdirSync(join(data, '@ai-sdk'), { recursive: true });
    plant(join(folder, 'elsewhere'), '@ai-sdk/x');
    symlinkSync(join(folder, 'elsewhere/@ai-sdk/x'), join(data, '@ai-sdk/x'));
    expect(findPackage('@ai-sdk/x', [data])?.problem).toContain('link to another folder');
  });

  test('a package with an interface that is not known is refused with its version', async () => {
    const data = join(folder, 'old');
    plant(data, '@ai-sdk/old');
    expect(await answer(vendorOf('old', { folders: [data] }))).toMatchObject([
      { fault: { code: 'provider_rejected', message: expect.stringContaining('Version 9.9.9') } },
    ]);
  });
});
