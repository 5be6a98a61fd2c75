/** The menu of a session, in the list and in the chat. */
import { attempt, toast } from '@parlance/ui/components/controls.tsx';
import type { MenuItem } from '@parlance/ui/components/menu.tsx';
import { go } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { lazy, Suspense } from 'react';

export type SessionMenu = {
  readonly session: DialogSession & { readonly pinned?: boolean; readonly archived: boolean };
  /** belongs to another user */
  readonly foreign: boolean;
  readonly mayChange: boolean;
  readonly onOpen: (open: OpenDialog) => void;
};

export function sessionMenu({ session, foreign, mayChange, onOpen }: SessionMenu): readonly MenuItem[] {
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

// The dialog that the menu of a session has opened. Not part of a row, which leaves when the list changes.

const dialogs = () => import('./session-dialogs.tsx');
const DIALOGS = {
  rename: lazy(() => dialogs().then((m) => ({ default: m.RenameDialog }))),
  tags: lazy(() => dialogs().then((m) => ({ default: m.TagsDialog }))),
  export: lazy(() => dialogs().then((m) => ({ default: m.ExportDialog }))),
  erase: lazy(() => dialogs().then((m) => ({ default: m.EraseDialog }))),
  share: lazy(() => import('./session-dialogs.tsx').then((m) => ({ default: m.ShareDialog }))),
};

/** What the dialogs have to know of a session. */
export type DialogSession = {
  readonly id: string;
  readonly title: string;
  readonly tags?: readonly string[] | undefined;
};

export type OpenDialog = { readonly dialog: keyof typeof DIALOGS; readonly session: DialogSession };

export function SessionDialog({ open, onClose }: { open: OpenDialog; onClose: () => void }) {
  const Dialog = DIALOGS[open.dialog];
  return (
    <Suspense>
      <Dialog session={open.session} onClose={onClose} />
    </Suspense>
  );
}
