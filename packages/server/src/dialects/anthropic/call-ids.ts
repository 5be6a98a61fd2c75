/** Ids of calls may have letters, digits, `_` and `-` only; models choose others, too. These are encoded. */
import type { CallId } from '@parlance/protocol';

const PLAIN = /^[\w-]+$/;
const ENCODED = 'toolu_x';

export const toolUseId = (call: string): string =>
  PLAIN.test(call) ? call : ENCODED + Buffer.from(call).toString('base64url');

/** The call that `toolUseId` has encoded; any other id stays as it is. */
export function callOf(id: string): CallId {
  if (!id.startsWith(ENCODED)) return id as CallId;
  const call = Buffer.from(id.slice(ENCODED.length), 'base64url').toString();
  return (toolUseId(call) === id ? call : id) as CallId;
}
