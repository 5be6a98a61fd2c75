/** One session in the list: status, tags, attached clients and its menu. */
import type { Session } from '@parlance/sdk';
import { memo } from 'react';
import { Icon } from '../components/icon.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { attempt, toast } from '../components/toast.tsx';
import { go, hrefOf } from '../router.ts';
import { useNeedsApproval } from '../state/approvals.ts';
import { parlance } from '../state/server.ts';
import type { OpenDialog } from './session-dialog.tsx';

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
  readonly onOpen: (open: OpenDialog) => void;
};

export const SessionRow = memo(function SessionRow(props: RowProps) {
  const { session, chosen, foreign } = props;
  const { id, status, attached, pinned, tags = [] } = session;
  const state = useNeedsApproval(session) ? 'Needs approval' : STATES[status];
  const title = session.title || 'Untitled';
  const dialects = Object.keys(attached).sort();

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
      <Menu label={`Actions for ${title}`} items={() => menuItems(props)} />
    </div>
  );
});

function menuItems({ session, foreign, mayChange, onOpen }: RowProps): readonly MenuItem[] {
  const { id, pinned = false, archived } = session;
  const handle = parlance.session(id);
  const title = session.title || 'Untitled';
  const changes: MenuItem[] = [
    {
      label: pinned ? 'Unpin' : 'Pin',
      icon: 'pin',
      onSelect: () => void attempt(() => handle.pin(!pinned)),
    },
    { label: 'Tags', icon: 'tag', onSelect: () => onOpen({ dialog: 'tags', session }) },
    { label: 'Rename', icon: 'edit', onSelect: () => onOpen({ dialog: 'rename', session }) },
    // Only owners share their sessions.
    ...(foreign
      ? []
      : [{ label: 'Share', icon: 'link' as const, onSelect: () => onOpen({ dialog: 'share', session }) }]),
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
    { label: 'Export', icon: 'download', onSelect: () => onOpen({ dialog: 'export', session }) },
    ...(mayChange
      ? [
          {
            label: 'Delete',
            icon: 'trash' as const,
            danger: true,
            onSelect: () => onOpen({ dialog: 'erase', session }),
          },
        ]
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
