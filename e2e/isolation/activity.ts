/** The stream of all events in the sessions of a caller. */
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import { bearer, type Person, request } from './private-data.ts';

/** The events of the stream while `happening` runs, up to a later event of the caller. */
export async function streamedTo(
  server: TestServer,
  who: Person,
  during: () => Promise<void>,
): Promise<string> {
  const hangUp = new AbortController();
  const stream = await fetch(`${server.http}/v1/activity`, { headers: bearer(who), signal: hangUp.signal });
  await during();
  const own = crypto.randomUUID();
  await request(server, who, {
    method: 'POST',
    path: `/v1/sessions/${own}/commands`,
    body: { type: 'session.create' },
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(own)) break;
  }
  hangUp.abort();
  return text;
}
