/** The menu of a session, in the list and in the chat. */
import type { MenuItem } from '@parlance/ui/components/menu.tsx';
import { attempt, toast } from '@parlance/ui/components/toast.tsx';
import { go } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import type { DialogSession, OpenDialog } from './session-dialog.tsx';

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
