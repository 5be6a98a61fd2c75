const KEYS = [
  ['Ctrl+K', 'Find sessions, messages and commands'],
  ['?', 'Commands and shortcuts'],
  ['Enter', 'Send, or queue while the agent works'],
  ['Ctrl+Enter', 'Interrupt the agent with this message'],
  ['Shift+Enter', 'New line'],
  ['↑ ↓', 'Recall earlier messages (empty field)'],
  ['Escape', 'Leave the message field, or go to the pending approval'],
  ['y a n e', 'Answer a pending approval: once, always, deny, explain'],
] as const;

export function Shortcuts() {
  return (
    <dl className="help">
      {KEYS.map(([key, about]) => (
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
