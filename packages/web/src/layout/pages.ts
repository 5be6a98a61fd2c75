/** The pages in the navigation. */
import type { IconName } from '../components/icon.tsx';
import type { Route } from '../router.ts';

export type PageLink = { readonly route: Route; readonly label: string; readonly icon: IconName };

export const PAGES: readonly PageLink[] = [
  { route: { page: 'approvals' }, label: 'Approvals', icon: 'shield' },
  { route: { page: 'timeline', id: null }, label: 'Timeline', icon: 'timeline' },
  { route: { page: 'playground' }, label: 'Playground', icon: 'playground' },
  { route: { page: 'admin' }, label: 'Admin', icon: 'admin' },
  { route: { page: 'settings' }, label: 'Settings', icon: 'settings' },
  { route: { page: 'welcome' }, label: 'Guide', icon: 'guide' },
];
