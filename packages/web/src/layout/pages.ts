/** The pages in the navigation. */

import type { IconName } from '@parlance/ui/components/controls.tsx';
import { type Caller, may, type Needs } from '@parlance/ui/state/may.ts';
import type { Route } from '@parlance/ui/state/router.ts';

export type PageLink = {
  readonly route: Route;
  readonly label: string;
  readonly icon: IconName;
  readonly needs?: Needs;
};

const PAGES: readonly PageLink[] = [
  { route: { page: 'approvals' }, label: 'Approvals', icon: 'shield', needs: 'tool:approve' },
  { route: { page: 'timeline', id: null }, label: 'Timeline', icon: 'timeline' },
  { route: { page: 'playground' }, label: 'Playground', icon: 'playground', needs: 'tool:approve' },
  { route: { page: 'admin' }, label: 'Admin', icon: 'admin' },
  { route: { page: 'settings' }, label: 'Settings', icon: 'settings' },
  { route: { page: 'welcome' }, label: 'Guide', icon: 'guide' },
];

export const pagesFor = (caller: Caller): readonly PageLink[] =>
  PAGES.filter(({ needs }) => may(caller, needs)).map((link) =>
    link.route.page === 'admin' && !may(caller, 'metrics:read') ? { ...link, label: 'Account' } : link,
  );

/** Addresses of pages that the navigation does not offer can still be typed. */
export const mayOpen = (caller: Caller, { page }: Route): boolean =>
  PAGES.every(({ route, needs }) => route.page !== page || may(caller, needs));
