import { sites } from '../../shared/kept.ts';
import type { SitePermission } from '../../shared/sites.ts';

export type Chosen = SitePermission | 'ask';

/** Sites that ask are not stored. */
export const choose = (site: string, chosen: Chosen): Promise<unknown> =>
  sites.change((all) => {
    const { [site]: _, ...others } = all;
    return chosen === 'ask' ? others : { ...others, [site]: chosen };
  });
