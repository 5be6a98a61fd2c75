/** Read-only links to a session as of the time of sharing. */
import { type DurableEvent, Fault, type Principal, requirePermission } from '@parlance/protocol';
import { maySee } from '../domain/rights.ts';
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';
import type { Share } from '../ports/shares.ts';
import { storedEvents } from '../runtime/event-pages.ts';
import type { EngineInternals } from './engine-internals.ts';

const MAX_SHARES = 20;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

export type SharedSession = {
  readonly share: Share;
  readonly record: SessionRecord;
  readonly events: AsyncIterable<DurableEvent>;
};

export function sharing({ parts: { store, shares, isOwner, now, newId } }: EngineInternals) {
  const notFound = () => new Fault('not_found', 'There is no such link.');

  /** Admins can see and revoke links of other users; only owners create them. */
  function sharesOf(ref: SessionRef, principal: Principal) {
    requirePermission(principal, 'chat:send');
    if (!maySee(ref, principal) || !shares) throw new Fault('not_found', 'There is no such session.');
    return shares;
  }

  async function* eventsUntil(ref: SessionRef, last: number): AsyncGenerator<DurableEvent, void> {
    for await (const event of storedEvents(store, ref, 0)) {
      if (event.seq > last) return;
      yield event;
    }
  }

  return {
    async share(ref: SessionRef, principal: Principal): Promise<{ share: Share; token: string }> {
      const kept = sharesOf(ref, principal);
      if (ref.owner !== principal.id) throw new Fault('not_found', 'There is no such session.');
      const seq = await store.head(ref);
      if (seq === 0) throw new Fault('not_found', 'There is no such session.');
      if ((await store.load(ref))?.archived)
        throw new Fault('invalid', 'The session is archived. Restore it before sharing it.');
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString('base64url');
      const share = { id: newId(), ref, hash: hashOf(token), seq, createdAt: now() };
      const added = await kept.add(share, MAX_SHARES);
      if (added === 'no_session') throw new Fault('not_found', 'There is no such session.');
      if (added === 'too_many')
        throw new Fault('invalid', `A session may have at most ${MAX_SHARES} links. Revoke one first.`);
      return { share, token };
    },

    shares: async (ref: SessionRef, principal: Principal): Promise<Share[]> =>
      sharesOf(ref, principal).list(ref),

    async unshare(ref: SessionRef, principal: Principal, id: string): Promise<void> {
      if (!(await sharesOf(ref, principal).remove(ref, id))) throw notFound();
    },

    async shared(token: string): Promise<SharedSession> {
      const share = TOKEN.test(token) ? await shares?.find(hashOf(token)) : null;
      const record = share && (await store.load(share.ref));
      if (!share || !record || record.archived) throw notFound();
      if (isOwner && !(await isOwner(share.ref.owner, share.createdAt))) throw notFound();
      return { share, record, events: eventsUntil(share.ref, share.seq) };
    },
  };
}

const hashOf = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex');
