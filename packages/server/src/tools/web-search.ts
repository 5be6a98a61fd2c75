/** Searches the web through Serper (https://serper.dev). */
import { Fault, parsedJson, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import { cutText } from './cut.ts';

const Input = z.object({
  query: z.string().trim().min(1).max(2_000).describe('The text to search for.'),
  limit: z.number().int().min(1).max(20).default(8).describe('How many results.'),
});
type Input = z.output<typeof Input>;

export type WebSearchOptions = {
  readonly key: string;
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number;
};

const BASE_URL = 'https://google.serper.dev';
const TIMEOUT_MS = 15_000;
const ANSWER_CHARACTERS = 2_000_000;
const LINK_CHARACTERS = 1_000;

/** Responses vary: unknown parts are ignored. */
const Hit = z.object({
  title: z.string().catch(''),
  link: z.url({ protocol: /^https?$/ }).max(LINK_CHARACTERS),
  snippet: z.string().catch(''),
});
const Answer = z.object({ organic: z.array(z.unknown()).catch([]) });
type Hit = z.output<typeof Hit>;

export const webSearch = (options: WebSearchOptions): Tool =>
  defineTool({
    name: 'web_search',
    description: 'Searches the web. Returns the title, URL and an excerpt of each result.',
    input: Input,
    repeatable: true,
    approval: () => null,
    sends: () => true,
    run: async (input, { signal }) => {
      const results = hitsIn(await ask(input, options, signal)).slice(0, input.limit);
      const text = results.map(({ title, link, snippet }) => `${title}\n${link}\n${snippet}`).join('\n\n');
      return {
        parts: [textPart(text === '' ? 'The search found nothing.' : text)],
        data: { results },
        untrusted: true,
      };
    },
  });

/** Faults contain neither the key nor any text of the service. */
async function ask({ query, limit }: Input, options: WebSearchOptions, signal: AbortSignal): Promise<string> {
  const deadline = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  try {
    const response = await fetch(`${(options.baseUrl ?? BASE_URL).replace(/\/+$/, '')}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': options.key },
      body: JSON.stringify({ q: query, num: limit }),
      // The key must not follow a redirect to another host.
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    });
    if (!response.ok) throw new Fault('tool_failed', refusal(response.status));
    return await textOf(response);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    if (deadline.aborted) throw new Fault('tool_failed', 'The search service did not answer in time.');
    throw new Fault('tool_failed', 'The search service cannot be reached.', { cause: thrown });
  }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return 'The search service refused the key of this server.';
  if (status === 429) return 'The search service takes no more requests just now.';
  return `The search service answered with status ${status}.`;
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ANSWER_CHARACTERS)
      throw new Fault('tool_failed', 'The answer of the search service is too large.');
  }
  return text + decoder.decode();
}

function hitsIn(text: string): Hit[] {
  const answer = Answer.safeParse(parsedJson(text));
  if (!answer.success) throw new Fault('tool_failed', 'The answer of the search service cannot be read.');
  return answer.data.organic.flatMap((item) => {
    const hit = Hit.safeParse(item);
    if (!hit.success) return [];
    const { title, link, snippet } = hit.data;
    return [{ title: cutText(title, 200), link, snippet: cutText(snippet, 300) }];
  });
}
