/** The dialogs that slash commands and pickers of a chat open. */
import { FullAutoDialog } from './full-auto-dialog.tsx';
import { HelpDialog } from './help.tsx';

export type OpenCommandDialog = 'help' | 'full-auto' | null;

type CommandDialogProps = {
  readonly dialog: OpenCommandDialog;
  readonly onClose: () => void;
  /** The user has confirmed full-auto. */
  readonly onFullAuto: () => void;
};

export function CommandDialog({ dialog, onClose, onFullAuto }: CommandDialogProps) {
  if (dialog === 'help') return <HelpDialog onClose={onClose} />;
  if (dialog === 'full-auto') return <FullAutoDialog onClose={onClose} onConfirm={onFullAuto} />;
  return null;
}
