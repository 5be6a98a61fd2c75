import { Dialog } from '../../components/dialog.tsx';
import { SLASHES } from './slash.ts';

const KEYS = [
  ['Enter', 'Send; while the agent works, queue'],
  ['Ctrl+Enter', 'Interrupt the agent with this message'],
  ['Shift+Enter', 'New line'],
  ['↑ ↓', 'Bring back earlier messages in an empty field'],
  ['Escape', 'Leave the message field, to the pending approval if there is one'],
  ['y a n e', 'Answer a pending approval: once, always, deny, explain'],
] as const;

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Commands and shortcuts" confirm="Close" plain onConfirm={onClose} onClose={onClose}>
      <dl className="help">
        {SLASHES.map((slash) => (
          <div key={slash.name}>
            <dt>
              /{slash.name} {'argument' in slash && <var>{slash.argument}</var>}
            </dt>
            <dd>{slash.about}</dd>
          </div>
        ))}
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
