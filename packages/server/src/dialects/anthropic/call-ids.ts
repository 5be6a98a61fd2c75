/** The API allows only letters, digits, `_` and `-` in ids of calls; other ids of models are encoded. */
import type { CallId } from '@parlance/protocol';

const PLAIN = /^[\w-]+$/;
const ENCODED = 'toolu_x';

export const toolUseId = (call: string): string =>
  PLAIN.test(call) ? call : ENCODED + Buffer.from(call).toString('base64url');

/** Decodes an id of `toolUseId`; any other id is returned unchanged. */
export function callOf(id: string): CallId {
  if (!id.startsWith(ENCODED)) return id as CallId;
  const call = Buffer.from(id.slice(ENCODED.length), 'base64url').toString();
  return (toolUseId(call) === id ? call : id) as CallId;
}
