import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Share } from '../../core/ports/shares.ts';
import { storableRef } from '../shared/text.ts';

export function memoryShares() {
  let shares: Share[] = [];
  const isOf = (ref: SessionRef) => {
    const { owner, id } = storableRef(ref);
    return (share: Share) => share.ref.owner === owner && share.ref.id === id;
  };
  return {
    find: (hash: string): Share | null => shares.find((share) => share.hash === hash) ?? null,
    list: (ref: SessionRef): Share[] => shares.filter(isOf(ref)),
    add(share: Share, max: number): 'added' | 'too_many' {
      if (shares.filter(isOf(share.ref)).length >= max) return 'too_many';
      shares = [...shares, { ...share, ref: storableRef(share.ref) }];
      return 'added';
    },
    remove(ref: SessionRef, id: string): boolean {
      const before = shares.length;
      shares = shares.filter((share) => !(share.id === id && isOf(ref)(share)));
      return shares.length < before;
    },
    removeOf(ref: SessionRef): void {
      shares = shares.filter((share) => !isOf(ref)(share));
    },
  };
}
