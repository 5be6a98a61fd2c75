const KEYS = [
  ['Ctrl+K', 'Go to a session or page'],
  ['?', 'Commands and shortcuts'],
  ['Enter', 'Send; while the agent works, queue'],
  ['Ctrl+Enter', 'Interrupt the agent with this message'],
  ['Shift+Enter', 'New line'],
  ['↑ ↓', 'Bring back earlier messages in an empty field'],
  ['Escape', 'Leave the message field, to the pending approval if there is one'],
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
