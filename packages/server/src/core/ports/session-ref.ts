import type { PrincipalId, SessionId } from '@parlance/protocol';

/** A session is named by its owner and the id the owner uses: two principals may use the same id for two sessions. */
export type SessionRef = { readonly owner: PrincipalId; readonly id: SessionId };

export const sessionKey = (ref: SessionRef): string => JSON.stringify([ref.owner, ref.id]);
