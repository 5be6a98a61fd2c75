import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { textOf } from '@parlance/protocol';
import { contextIn, faultOf, use } from '../testing/tools/tool-context.ts';
import { webSearch } from './web-search.ts';

const KEY = 'a-key-that-nobody-may-see';

type Seen = { readonly path: string; readonly key: string | null; readonly body: unknown };
const seen: Seen[] = [];
let answer: () => Response | Promise<Response> = () => Response.json({});

const service = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const key = request.headers.get('x-api-key');
    seen.push({ path: new URL(request.url).pathname, key, body: await request.json() });
    return answer();
  },
});
afterAll(() => service.stop(true));
beforeEach(() => {
  seen.length = 0;
});

const baseUrl = `http://127.0.0.1:${service.port}`;
const tool = webSearch({ key: KEY, baseUrl });
const search = (input: object, signal?: AbortSignal) =>
  use(tool, input, contextIn('/', signal ? { signal } : {}));

const hit = (number: number) => ({
  title: `Title ${number}`,
  link: `https://example.org/${number}`,
  snippet: `Words ${number}`,
  position: number,
});

test('returns title, link and snippet of each hit, as text and as data', async () => {
  answer = () => Response.json({ searchParameters: {}, organic: [hit(1), hit(2)] });
  expect(await search({ query: ' bun ', limit: 2 })).toEqual({
    parts: [
      {
        type: 'text',
        text: 'Title 1\nhttps://example.org/1\nWords 1\n\nTitle 2\nhttps://example.org/2\nWords 2',
      },
    ],
    data: {
      results: [
        { title: 'Title 1', link: 'https://example.org/1', snippet: 'Words 1' },
        { title: 'Title 2', link: 'https://example.org/2', snippet: 'Words 2' },
      ],
    },
    untrusted: true,
  });
  expect(seen).toEqual([{ path: '/search', key: KEY, body: { q: 'bun', num: 2 } }]);
  expect(await tool.approval({ query: 'bun', limit: 2 }, { root: '/' })).toBeNull();
});

test('returns no more hits than requested', async () => {
  answer = () => Response.json({ organic: Array.from({ length: 50 }, (_, number) => hit(number)) });
  expect((await search({ query: 'bun' })).data?.results).toBeArrayOfSize(8);
});

test('reports a search without hits', async () => {
  answer = () => Response.json({});
  expect(textOf((await search({ query: 'bun' })).parts)).toBe('The search found nothing.');
});

test('skips invalid hits and cuts long ones', async () => {
  const long = 'x'.repeat(1_000_000);
  answer = () =>
    Response.json({
      organic: [
        null,
        'text',
        { title: 'no link' },
        { title: 'script', link: 'javascript:alert(1)' },
        { title: 'endless', link: `https://example.org/${'x'.repeat(2_000)}` },
        { title: 3, link: 'https://example.org/bare' },
        { title: long, link: 'https://example.org/long', snippet: '😀'.repeat(1_000) },
      ],
    });
  const { data, parts } = await search({ query: 'bun' });
  expect(data?.results).toMatchObject([
    { title: '', link: 'https://example.org/bare' },
    { link: 'https://example.org/long' },
  ]);
  expect(JSON.stringify(data).length).toBeLessThan(2_000);
  expect(textOf(parts).isWellFormed()).toBe(true);
});

describe('faults', () => {
  test.each([
    [401, 'refused the key'],
    [403, 'refused the key'],
    [429, 'no more requests'],
    [500, 'status 500'],
  ])('status %d is one clear sentence without the key or the words of the service', async (status, words) => {
    answer = () => new Response(`bad key: ${KEY}`, { status });
    const fault = await faultOf(search({ query: 'bun' }));
    expect(fault.message).toContain(words);
    expect(`${fault.message} ${fault.stack} ${Bun.inspect(fault.cause)}`).not.toContain(KEY);
  });

  test('the key does not follow a redirect', async () => {
    answer = () => Response.redirect(`${baseUrl}/elsewhere`, 307);
    expect((await faultOf(search({ query: 'bun' }))).message).toContain('status 307');
    expect(seen.map(({ path }) => path)).toEqual(['/search']);
  });

  test.each([['not JSON'], ['[]'], ['null']])('the response %j is a fault', async (body) => {
    answer = () => new Response(body);
    expect((await faultOf(search({ query: 'bun' }))).message).toContain('cannot be read');
  });

  test('a response without end is aborted', async () => {
    answer = () => new Response(endless());
    expect((await faultOf(search({ query: 'bun' }))).message).toContain('too large');
  });

  test('an unresponsive service times out', async () => {
    answer = () => new Promise(() => undefined);
    const impatient = webSearch({ key: KEY, baseUrl, timeoutMs: 50 });
    expect((await faultOf(use(impatient, { query: 'bun' }, contextIn('/')))).message).toContain('in time');
  });

  test('an abort cancels the request', async () => {
    answer = () => new Promise(() => undefined);
    const abort = new AbortController();
    const call = faultOf(search({ query: 'bun' }, abort.signal));
    setTimeout(() => abort.abort(), 20);
    expect((await call).code).toBe('cancelled');
  });

  test('an unreachable service is one clear sentence', async () => {
    const nowhere = webSearch({ key: KEY, baseUrl: 'http://127.0.0.1:1' });
    const fault = await faultOf(use(nowhere, { query: 'bun' }, contextIn('/')));
    expect(fault.message).toBe('The search service cannot be reached.');
    expect(Bun.inspect(fault)).not.toContain(KEY);
  });
});

test.each([
  [{}],
  [{ query: '  ' }],
  [{ query: 'a', limit: 0 }],
  [{ query: 'a', limit: 21 }],
  [{ query: 'a'.repeat(2_001) }],
])('refuses the input %#', (input) => {
  expect(tool.input.safeParse(input).success).toBe(false);
});

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(100_000).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}
