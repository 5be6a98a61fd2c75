import { may } from '../state/may.ts';
import { useServer } from '../state/server.ts';

const KEYS = [
  ['Ctrl+K', 'Find sessions, messages and commands'],
  ['?', 'Commands and shortcuts'],
  ['Enter', 'Send, or queue while the agent works'],
  ['Ctrl+Enter', 'Interrupt the agent with this message'],
  ['Shift+Enter', 'New line'],
  ['↑ ↓', 'Recall earlier messages (empty field)'],
  ['Escape', 'Leave the message field, or go to the pending approval'],
] as const;
const APPROVAL_KEYS = [
  [
    'y a n e',
    'Answer the pending approval: once, always, deny, explain. Not if more is typed within a second',
  ],
] as const;

export function Shortcuts() {
  const keys = may(useServer(), 'tool:approve') ? [...KEYS, ...APPROVAL_KEYS] : KEYS;
  return (
    <dl className="help">
      {keys.map(([key, about]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  );
}
