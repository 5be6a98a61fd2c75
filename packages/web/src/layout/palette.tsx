/** Ctrl-K: finds sessions, messages, pages and actions. The focus stays in the field; arrow keys move, Enter goes. */
import type { About, FoundMessage } from '@parlance/sdk';
import { Combobox, Icon, type IconName } from '@parlance/ui/components/controls.tsx';
import { useModal } from '@parlance/ui/components/dialog.tsx';
import { isLocal, may } from '@parlance/ui/state/may.ts';
import { currentLocation, go, type Route, signInHref, useLocation } from '@parlance/ui/state/router.ts';
import { logOut, useServer } from '@parlance/ui/state/server.ts';
import { useSessions } from '@parlance/ui/state/sessions.ts';
import { THEMES } from '@parlance/ui/state/storage.ts';
import { setTheme } from '@parlance/ui/state/theme.tsx';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { useMessageSearch } from '../state/message-search.ts';
import { pagesFor } from './pages.ts';

const MAX_SESSIONS = 8;
const MAX_MESSAGES = 5;
/** Shorter texts are in too many messages. */
const MIN_SEARCHED = 2;

function useTargets(query: string, onHelp: () => void): readonly Target[] {
  const about = useServer();
  const { route } = useLocation();
  const { sessions } = useSessions({ query, archived: false });
  const wanted = query.trim().toLowerCase();
  const search = useMessageSearch(wanted.length < MIN_SEARCHED ? '' : wanted);
  const messages = search.loading ? [] : search.messages;
  const commands = commandsFor({ about, route, onHelp }).filter(({ label }) =>
    label.toLowerCase().includes(wanted),
  );
  // The list is of the query before until the server has answered.
  const matching = sessions.filter(({ title }) => title.toLowerCase().includes(wanted));
  const found = matching.slice(0, MAX_SESSIONS).map(
    ({ id, owner, title }): Target => ({
      key: `session ${owner} ${id}`,
      label: title || 'Untitled',
      kind: 'Session',
      icon: 'chat',
      open: () => go({ page: 'session', id }),
    }),
  );
  return wanted === ''
    ? [...commands.slice(0, 1), ...found, ...commands.slice(1)]
    : [...found, ...commands, ...messages.slice(0, MAX_MESSAGES).map(messageTarget)];
}

const messageTarget = ({ session, seq, title, excerpt }: FoundMessage): Target => ({
  key: `message ${session} ${seq}`,
  label: `${title || 'Untitled'}: ${excerpt.map(({ text }) => text).join('')}`,
  kind: 'Message',
  icon: 'search',
  open: () => go({ page: 'session', id: session }, { event: String(seq) }),
});

export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const dialog = useModal();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const targets = useTargets(query, onHelp);
  const at = Math.min(chosen, targets.length - 1);

  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  function open(target: Target | undefined): void {
    dialog.current?.close();
    // At once: the event of the dialog comes later, and would close a palette that is opened meanwhile.
    onClose();
    target?.open();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setChosen((at + 1) % targets.length);
    else if (event.key === 'ArrowUp') setChosen((at + targets.length - 1) % targets.length);
    else if (event.key === 'Enter') open(targets[at]);
    else return;
    event.preventDefault();
  }

  return createPortal(
    <dialog ref={dialog} className="dialog palette" aria-label="Go to" onClose={onClose}>
      <Combobox
        label="Search sessions, messages and commands"
        list={id}
        active={at}
        placeholder="Search sessions, messages and commands"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="palette-list" role="listbox" id={id} ref={list} aria-label="Results">
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
          <div
            key={target.key}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === at}
            className="palette-target"
            onClick={() => open(target)}
          >
            <Icon name={target.icon} />
            <span>{target.label}</span>
            <small>{target.kind}</small>
          </div>
        ))}
      </div>
      {targets.length === 0 && <p className="hint">Nothing matches “{query.trim()}”.</p>}
    </dialog>,
    document.body,
  );
}

// What the palette offers besides sessions and messages.

type Target = {
  readonly key: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly open: () => void;
};

type Context = { readonly about: About; readonly route: Route; readonly onHelp: () => void };

/** The first one is the most common. */
const commandsFor = ({ about, route, onHelp }: Context): readonly Target[] => [
  action('New session', 'plus', () => go({ page: 'new' })),
  ...viewsOf(about, route),
  ...pagesFor(about).map(
    ({ route: to, query, label, icon }): Target => ({
      key: `page ${label}`,
      label,
      kind: 'Page',
      icon,
      open: () => go(to, query),
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
