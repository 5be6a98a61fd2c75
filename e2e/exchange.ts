/** Shared by the tests of `openai` and `anthropic`. */

import { until } from '../packages/server/src/testing/until.ts';
import type { Answer, ChatRequest } from './scripted-model.ts';
import { getJson, type Target } from './server-process.ts';

/** The clients' promises are lazy, which matchers for rejections do not support. */
export const failure = (asked: PromiseLike<unknown>): PromiseLike<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );

export const sessionOf = (response: Response): string => response.headers.get('x-parlance-session') ?? '';

/** Repeats the last user message, or makes the call that it names. */
export function repeating({ messages }: ChatRequest): Answer {
  const last = messages.findLast(({ role }) => role !== 'system');
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${text}.` };
  if (text.startsWith('both'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('now')) return { call: 'weather', input: {} };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  return { say: `You said ${text}.`, think: 'Hm.' };
}

/** Resolves with the first pending approval. */
export const waitingApproval = ({ http }: Target): Promise<string> =>
  until(
    async () => (await getJson<{ approvals: { id: string }[] }>(`${http}/v1/approvals`)).approvals[0]?.id,
  );
