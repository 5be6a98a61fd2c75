/** One session in the list: status, tags, attached clients and its menu. */
import type { Session } from '@parlance/sdk';
import { lazy, memo, Suspense, useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { attempt, toast } from '../components/toast.tsx';
import { go, hrefOf } from '../router.ts';
import { useNeedsApproval } from '../state/approvals.ts';
import { parlance } from '../state/server.ts';

const dialogs = () => import('./session-dialogs.tsx');
const DIALOGS = {
  rename: lazy(() => dialogs().then((m) => ({ default: m.RenameDialog }))),
  tags: lazy(() => dialogs().then((m) => ({ default: m.TagsDialog }))),
  export: lazy(() => dialogs().then((m) => ({ default: m.ExportDialog }))),
  erase: lazy(() => dialogs().then((m) => ({ default: m.EraseDialog }))),
  share: lazy(() => import('./share-dialog.tsx').then((m) => ({ default: m.ShareDialog }))),
};

const STATES: Readonly<Record<Session['status'], string>> = {
  idle: 'Idle',
  running: 'Running',
  waiting: 'Waiting for input',
  failed: 'Failed',
};

type RowProps = {
  readonly session: Session;
  readonly chosen: boolean;
  /** belongs to another user */
  readonly foreign: boolean;
  readonly mayChange: boolean;
};

export const SessionRow = memo(function SessionRow(props: RowProps) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  const { session, chosen, foreign } = props;
  const { id, status, attached, pinned, tags = [] } = session;
  const state = useNeedsApproval(session) ? 'Needs approval' : STATES[status];
  const title = session.title || 'Untitled';
  const dialects = Object.keys(attached).sort();
  const Shown = open && DIALOGS[open];

  return (
    <div className="session-row" data-chosen={chosen || undefined} data-pinned={pinned || undefined}>
      <a href={hrefOf({ page: 'session', id })} aria-current={chosen ? 'page' : undefined}>
        <span className={`dot dot-${status}`} title={state} />
        <span className="session-title">{title}</span>
        {(foreign || status !== 'idle' || tags.length > 0 || dialects.length > 0) && (
          <span className="session-more">
            {foreign && <span>of {session.owner}</span>}
            {status !== 'idle' && <span>{state}</span>}
            {tags.map((tag) => (
              <span className="tag" key={tag}>
                {tag}
              </span>
            ))}
            {dialects.map((dialect) => (
              <span
                className="attached"
                key={dialect}
                title={`${attached[dialect]} connected with ${dialect}`}
              >
                {dialect}
              </span>
            ))}
          </span>
        )}
        {pinned && (
          <span className="pinned" title="Pinned">
            <Icon name="pin" />
          </span>
        )}
      </a>
      <Menu label={`Actions for ${title}`} items={() => menuItems({ ...props, onOpen: setOpen })} />
      {Shown && (
        <Suspense>
          <Shown session={session} onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </div>
  );
});

type MenuContext = Omit<RowProps, 'chosen'> & {
  readonly onOpen: (dialog: keyof typeof DIALOGS) => void;
};

function menuItems({ session, foreign, mayChange, onOpen }: MenuContext): readonly MenuItem[] {
  const { id, pinned = false, archived } = session;
  const handle = parlance.session(id);
  const title = session.title || 'Untitled';
  const changes: MenuItem[] = [
    {
      label: pinned ? 'Unpin' : 'Pin',
      icon: 'pin',
      onSelect: () => void attempt(() => handle.pin(!pinned)),
    },
    { label: 'Tags', icon: 'tag', onSelect: () => onOpen('tags') },
    { label: 'Rename', icon: 'edit', onSelect: () => onOpen('rename') },
    // Only owners share their sessions.
    ...(foreign ? [] : [{ label: 'Share', icon: 'link' as const, onSelect: () => onOpen('share') }]),
    archived
      ? {
          label: 'Restore',
          icon: 'archive',
          onSelect: () =>
            void undoable({
              work: () => handle.unarchive(),
              undo: () => handle.archive(),
              text: `“${title}” is restored.`,
            }),
        }
      : {
          label: 'Archive',
          icon: 'archive',
          onSelect: () =>
            void undoable({
              work: () => handle.archive(),
              undo: () => handle.unarchive(),
              text: `“${title}” is archived.`,
            }),
        },
  ];
  return [
    ...(mayChange ? changes : []),
    { label: 'Timeline', icon: 'timeline', onSelect: () => go({ page: 'timeline', id }) },
    { label: 'Export', icon: 'download', onSelect: () => onOpen('export') },
    ...(mayChange
      ? [{ label: 'Delete', icon: 'trash' as const, danger: true, onSelect: () => onOpen('erase') }]
      : []),
  ];
}

type Undoable = {
  readonly work: () => Promise<unknown>;
  readonly undo: () => Promise<unknown>;
  readonly text: string;
};

async function undoable({ work, undo, text }: Undoable): Promise<void> {
  if (await attempt(work)) toast(text, { label: 'Undo', run: () => void attempt(undo) });
}
