/** The pages in the navigation. */

import type { IconName } from '@parlance/ui/components/controls.tsx';
import { type Caller, may, type Needs } from '@parlance/ui/state/may.ts';
import type { Route, RouteLocation } from '@parlance/ui/state/router.ts';

export type PageLink = {
  readonly route: Route;
  readonly query?: Readonly<Record<string, string>>;
  /** below a heading of its own */
  readonly group?: 'Developer';
  readonly label: string;
  readonly icon: IconName;
  readonly needs?: Needs;
};

const PAGES: readonly PageLink[] = [
  { route: { page: 'approvals' }, label: 'Approvals', icon: 'shield', needs: 'tool:approve' },
  { route: { page: 'admin' }, label: 'Admin', icon: 'admin' },
  { route: { page: 'settings' }, label: 'Settings', icon: 'settings' },
  { route: { page: 'welcome' }, label: 'Guide', icon: 'guide' },
  { route: { page: 'timeline', id: null }, group: 'Developer', label: 'Timeline', icon: 'timeline' },
  {
    route: { page: 'playground' },
    group: 'Developer',
    label: 'Playground',
    icon: 'playground',
    needs: 'tool:approve',
  },
  {
    route: { page: 'admin' },
    query: { section: 'listeners' },
    group: 'Developer',
    label: 'Connections',
    icon: 'link',
    needs: 'metrics:read',
  },
];

export const pagesFor = (caller: Caller): readonly PageLink[] =>
  PAGES.filter(({ needs }) => may(caller, needs)).map((link) =>
    link.route.page === 'admin' && !link.group && !may(caller, 'metrics:read')
      ? { ...link, label: 'Account' }
      : link,
  );

/** Addresses of pages that the navigation does not offer can still be typed. */
/** Sections of administration that *Connections* shows. */
export const CONNECTIONS: ReadonlySet<string> = new Set(['listeners', 'origins', 'nodes']);

export const isCurrent = (link: PageLink, { route, query }: RouteLocation): boolean =>
  link.route.page === route.page &&
  (route.page !== 'admin' || CONNECTIONS.has(query.section ?? '') === (link.group !== undefined));

export const mayOpen = (caller: Caller, { page }: Route): boolean =>
  PAGES.every(({ route, query, needs }) => query || route.page !== page || may(caller, needs));
