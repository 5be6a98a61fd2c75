import type { PrincipalId, SessionId } from '@parlance/protocol';

/**
 * Identifies a session by its owner and the owner's id for it: two principals may use the same id for two
 * sessions.
 */
export type SessionRef = { readonly owner: PrincipalId; readonly id: SessionId };

export const sessionKey = (ref: SessionRef): string => JSON.stringify([ref.owner, ref.id]);
