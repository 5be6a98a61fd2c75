/** Which dialect is spoken where on the default door. */
import type { DialectName } from './dialect.ts';
import { atRoot, atWs } from './sniff.ts';

export type Place =
  | { readonly kind: 'one'; readonly dialect: DialectName }
  | { readonly kind: 'sniffed'; readonly choose: (frame: unknown) => DialectName | 'refused' };

const one = (dialect: DialectName): Place => ({ kind: 'one', dialect });

/** Null where no socket is served. */
export function placeOf(path: string, hasToken: boolean): Place | null {
  switch (path) {
    case '/':
      return { kind: 'sniffed', choose: atRoot };
    case '/ws':
      return hasToken ? one('conversations') : { kind: 'sniffed', choose: atWs };
    case '/extension':
    case '/broadcast':
    case '/agentloop':
    case '/conversations':
      return one(path.slice(1) as DialectName);
    default:
      return null;
  }
}
