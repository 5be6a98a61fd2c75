/** Listeners and their open sockets. */
import type { Listener } from '@parlance/sdk';
import { Chip } from '../../components/chip.tsx';
import { parlance } from '../../state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { Section } from './section.tsx';

const EVERY_MS = 2_000;

export function ListenersSection() {
  const polled = usePolled(parlance.admin.listeners, EVERY_MS);
  return (
    <Section title="Listeners" whose="a developer or an admin" polled={polled}>
      {(listeners) => (
        <>
          <p className="hint">
            Open sockets per listener. Readers of event streams, such as this page, use HTTP and are not
            counted. Add a listener for one dialect with <code>--door agentloop=8080</code>.
          </p>
          <ul className="admin-list" aria-label="Listeners">
            {listeners.map((listener) => (
              <Line key={listener.port} listener={listener} />
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Line({ listener: { address, port, dialect, sockets } }: { listener: Listener }) {
  const entries = Object.entries(sockets).sort(([left], [right]) => left.localeCompare(right));
  const all = entries.reduce((sum, [, count]) => sum + count, 0);
  return (
    <li className="card">
      <div className="admin-what">
        <code>
          {address.includes(':') ? `[${address}]` : address}:{port}
        </code>
        <p className="hint">{dialect === 'all' ? 'all dialects' : `${dialect} only`}</p>
      </div>
      <div className="admin-sockets">
        <span className="admin-number">
          <strong>{all}</strong> {all === 1 ? 'socket' : 'sockets'}
        </span>
        {entries.map(([name, count]) => (
          <Chip key={name} title={name === 'unknown' ? 'dialect not detected yet' : undefined}>
            {name} {count}
          </Chip>
        ))}
      </div>
    </li>
  );
}
