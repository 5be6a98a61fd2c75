/** Asks the server for what an example needs before it can be sent, such as a signature. */
import type { DialectExample } from '@parlance/sdk';
import { type Filling, filled } from './fill.ts';

/** The frame with the fields of the answer, or the reason of a refusal. */
export async function completed(
  frame: object,
  before: NonNullable<DialectExample['before']>,
  { filling, token }: { readonly filling: Filling; readonly token: string | null },
): Promise<object | string> {
  try {
    const response = await fetch(before.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(filled(before.body, filling)),
    });
    if (!response.ok) return `${response.status} ${await response.text()}`;
    const answer = (await response.json()) as object;
    const field = (frame as Readonly<Record<string, unknown>>)[before.into];
    return { ...frame, [before.into]: { ...(typeof field === 'object' ? field : {}), ...answer } };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
