/** The dialog that the menu of a session has opened. Not part of a row, which leaves when the list changes. */
import { lazy, Suspense } from 'react';

const dialogs = () => import('./session-dialogs.tsx');
const DIALOGS = {
  rename: lazy(() => dialogs().then((m) => ({ default: m.RenameDialog }))),
  tags: lazy(() => dialogs().then((m) => ({ default: m.TagsDialog }))),
  export: lazy(() => dialogs().then((m) => ({ default: m.ExportDialog }))),
  erase: lazy(() => dialogs().then((m) => ({ default: m.EraseDialog }))),
  share: lazy(() => import('./share-dialog.tsx').then((m) => ({ default: m.ShareDialog }))),
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
