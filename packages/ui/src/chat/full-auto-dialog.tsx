import { Dialog } from '../components/dialog.tsx';

type FullAutoProps = { readonly onConfirm: () => void; readonly onClose: () => void };

/** Asked before a session runs everything without approval. */
export function FullAutoDialog({ onConfirm, onClose }: FullAutoProps) {
  return (
    <Dialog
      title="Run everything without asking?"
      confirm="Turn on full-auto"
      danger
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>In this session the agent will edit files and run commands in the sandbox without your approval.</p>
    </Dialog>
  );
}
