/** Ids derived from message ids, so that a repeated message is the same task. */
import type { PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import type { SessionRef } from '../../core/index.ts';

export const taskIdFor = ({ owner, id }: SessionRef, messageId: string): TurnId =>
  derivedId('task', owner, id, messageId) as TurnId;

/** The context of a message without one. */
export const contextIdFor = (owner: PrincipalId, messageId: string): SessionId =>
  derivedId('context', owner, messageId) as SessionId;

/** A UUID of version 8. It includes the owner, because two users may send messages with the same id. */
function derivedId(...parts: readonly string[]): string {
  const bytes = new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
