/** Ctrl-K: goes to a session, a page or another theme. The focus stays in the field; arrow keys move, Enter goes. */
import type { Me } from '@parlance/sdk';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Icon, type IconName } from '../components/icon.tsx';
import { go } from '../router.ts';
import { useServer } from '../state/server.ts';
import { useSessions } from '../state/sessions.ts';
import { setTheme, THEMES } from '../state/theme.ts';
import { pagesFor } from './pages.ts';

type Target = {
  readonly key: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly open: () => void;
};

const MOST_SESSIONS = 8;

const fixedFor = (principal: Me): readonly Target[] => [
  { key: 'new', label: 'New session', kind: 'Action', icon: 'plus', open: () => go({ page: 'new' }) },
  ...pagesFor(principal).map(
    ({ route, label, icon }): Target => ({
      key: `page ${label}`,
      label,
      kind: 'Page',
      icon,
      open: () => go(route),
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
];

function useTargets(query: string): readonly Target[] {
  const { sessions } = useSessions({ query, archived: false });
  const wanted = query.trim().toLowerCase();
  const { principal } = useServer();
  const fixed = fixedFor(principal).filter(({ label }) => label.toLowerCase().includes(wanted));
  // The list is of the query before until the server has answered.
  const matching = sessions.filter(({ title }) => title.toLowerCase().includes(wanted));
  const found = matching.slice(0, MOST_SESSIONS).map(
    ({ id, owner, title }): Target => ({
      key: `session ${owner} ${id}`,
      label: title || 'Untitled',
      kind: 'Session',
      icon: 'chat',
      open: () => go({ page: 'session', id }),
    }),
  );
  return wanted === '' ? [...fixed.slice(0, 1), ...found, ...fixed.slice(1)] : [...found, ...fixed];
}

export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const targets = useTargets(query);
  const at = Math.min(chosen, targets.length - 1);

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  function open(target: Target | undefined): void {
    dialog.current?.close();
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
      <input
        role="combobox"
        aria-expanded="true"
        aria-label="Search sessions and pages"
        aria-controls={id}
        aria-activedescendant={targets.length > 0 ? `${id}-${at}` : undefined}
        placeholder="Search sessions and pages"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
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
