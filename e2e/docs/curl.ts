/** Runs a `curl` command of the documentation with `fetch`. */

export type Request = { readonly url: string; readonly init: RequestInit };

/** Words as a shell reads them; quotes are single quotes, or double quotes without escapes. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );

export function requestOf(command: string): Request {
  const headers = new Headers();
  let url = '';
  let body: string | null = null;
  let method: string | null = null;
  const words = wordsOf(command).slice(1);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const value = words[at + 1] ?? '';
    if (word === '-H') headers.append(value.split(': ', 1)[0] ?? '', value.slice(value.indexOf(': ') + 2));
    else if (word === '-d') body = value;
    else if (word === '-X') method = value;
    else if (!word.startsWith('-')) url = word;
    if (['-H', '-d', '-X'].includes(word)) at += 1;
  }
  return { url, init: { method: method ?? (body === null ? 'GET' : 'POST'), headers, body } };
}

/** The lines of the response, as far as they are needed: event streams may have no end. */
export async function linesOf(
  { url, init }: Request,
  enough: (lines: readonly string[]) => boolean,
): Promise<string[]> {
  const abort = new AbortController();
  const response = await fetch(url, { ...init, signal: abort.signal });
  const decoder = new TextDecoder();
  let text = '';
  const lines = () => text.split('\n').filter((line) => line.trim() !== '');
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (response.headers.get('content-type')?.startsWith('text/event-stream') && enough(lines())) break;
  }
  abort.abort();
  return lines();
}
