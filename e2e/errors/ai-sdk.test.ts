/**
 * The AI SDK repeats requests that may succeed later: a permanent refusal of the vendor is one request, a rate limit keeps its delay,
 * and an outage is repeated. The official clients of OpenAI and Anthropic: `e2e/openai/errors.test.ts`, `e2e/anthropic/errors.test.ts`.
 */
import { describe, expect, test } from 'bun:test';
import { createGroq } from '@ai-sdk/groq';
import { APICallError, generateText, RetryError, streamText } from 'ai';
import { modelServer } from '../model-server.ts';

const { model, server } = await modelServer(({ messages }) => {
  const [, status] = /refuse (\d+)/.exec(JSON.stringify(messages.at(-1)?.content)) ?? [];
  if (!status) return { say: 'Fine.' };
  // A delay longer than a minute is not awaited by the server.
  return { status: Number(status), ...(status === '429' && { headers: { 'retry-after': '61' } }) };
});

const requests: number[] = [];
/** A provider for the API of OpenAI, whose requests are counted. */
const parlance = createGroq({
  baseURL: `${server.http}/openai/v1`,
  apiKey: 'any word',
  fetch: Object.assign(
    async (...given: Parameters<typeof fetch>) => {
      const response = await fetch(...given);
      requests.push(response.status);
      return response;
    },
    { preconnect: fetch.preconnect },
  ),
})('fake');

const whole = (prompt: string, maxRetries = 2): Promise<unknown> =>
  generateText({ model: parlance, prompt, maxRetries }).then(
    ({ text }) => text,
    (error: unknown) => error,
  );

async function streamed(prompt: string, maxRetries = 2): Promise<unknown> {
  let failed: unknown;
  const { text } = streamText({
    model: parlance,
    prompt,
    maxRetries,
    onError: ({ error }) => {
      failed = error;
    },
  });
  return Promise.resolve(text).catch(() => failed);
}

test('an answer is one request', async () => {
  requests.length = 0;
  expect([await whole('hello'), await streamed('hello')]).toEqual(['Fine.', 'Fine.']);
  expect(requests).toEqual([200, 200]);
});

describe.each([
  ['whole', whole],
  ['streamed', streamed],
] as const)('%s', (_, ask) => {
  test.each([400, 401, 403, 404, 413, 422])('a refusal with %d is one request', async (status) => {
    const before = model.requests.length;
    requests.length = 0;
    const error = await ask(`refuse ${status}`);
    // LangChain sends a request again after a 422.
    const told = status === 422 ? 400 : status;
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([told, false]);
    expect(requests).toEqual([told]);
    expect(model.requests.length - before).toBe(1);
  });

  test('a rate limit has the delay of the vendor', async () => {
    const error = await ask('refuse 429', 0);
    expect(APICallError.isInstance(error) && error.statusCode).toBe(429);
    expect(APICallError.isInstance(error) && error.responseHeaders?.['retry-after']).toBe('61');
  });
});

test('an outage is 502, and the request is repeated', async () => {
  requests.length = 0;
  const error = await whole('refuse 500', 1);
  expect(RetryError.isInstance(error)).toBe(true);
  expect(requests).toEqual([502, 502]);
});
