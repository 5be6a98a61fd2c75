/** What the palette offers besides sessions and messages. */
import type { About } from '@parlance/sdk';
import type { IconName } from '../components/icon.tsx';
import { currentLocation, go, type Route, signInHref } from '../router.ts';
import { isLocal, may } from '../state/may.ts';
import { logOut } from '../state/server.ts';
import { THEMES } from '../state/stored-theme.ts';
import { setTheme } from '../state/theme.ts';
import { pagesFor } from './pages.ts';

export type Target = {
  readonly key: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly open: () => void;
};

type Context = { readonly about: About; readonly route: Route; readonly onHelp: () => void };

/** The first one is the most common. */
export const commandsFor = ({ about, route, onHelp }: Context): readonly Target[] => [
  action('New session', 'plus', () => go({ page: 'new' })),
  ...viewsOf(about, route),
  ...pagesFor(about).map(
    ({ route: to, label, icon }): Target => ({
      key: `page ${label}`,
      label,
      kind: 'Page',
      icon,
      open: () => go(to),
    }),
  ),
  ...THEMES.map(
    (theme): Target => ({
      key: `theme ${theme}`,
      label: `Theme: ${theme}`,
      kind: 'Setting',
      icon: 'settings',
      open: () => setTheme(theme),
    }),
  ),
  action('Commands and shortcuts', 'guide', onHelp),
  isLocal(about)
    ? action('Sign in', 'leave', () => location.assign(signInHref(currentLocation())))
    : action('Sign out', 'leave', () => void logOut()),
];

const action = (label: string, icon: IconName, open: () => void): Target => ({
  key: `action ${label}`,
  label,
  kind: 'Action',
  icon,
  open,
});

/** Other pages of the session that is open. */
function viewsOf(about: About, route: Route): readonly Target[] {
  if ((route.page !== 'session' && route.page !== 'timeline') || route.id === null) return [];
  const { id } = route;
  return [
    route.page === 'session'
      ? action('Timeline of this session', 'timeline', () => go({ page: 'timeline', id }))
      : action('Chat of this session', 'chat', () => go({ page: 'session', id })),
    ...(may(about, 'tool:approve')
      ? [
          action('This session in the playground', 'playground', () =>
            go({ page: 'playground' }, { session: id }),
          ),
        ]
      : []),
  ];
}
