/** Where the server listens, and who is connected. */
import type { Listener } from '@parlance/sdk';
import { Chip } from '../../components/chip.tsx';
import { parlance } from '../../state/server.ts';
import { Section } from './section.tsx';
import { usePolled } from './use-polled.ts';

const EVERY_MS = 2_000;

export function DoorsSection() {
  const polled = usePolled(parlance.admin.listeners, EVERY_MS);
  return (
    <Section title="Doors" whose="a developer or an admin" polled={polled}>
      {(doors) => (
        <>
          <p className="hint">
            Sockets that are open now. This page and other readers of event streams have none: they use HTTP.
            Further doors, each for one dialect, come from <code>--door agentloop=8080</code>.
          </p>
          <ul className="admin-list" aria-label="Doors">
            {doors.map((door) => (
              <Line key={door.port} door={door} />
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Line({ door: { address, port, dialect, sockets } }: { door: Listener }) {
  const entries = Object.entries(sockets).sort(([left], [right]) => left.localeCompare(right));
  const all = entries.reduce((sum, [, count]) => sum + count, 0);
  return (
    <li className="card">
      <div className="admin-what">
        <code>
          {address.includes(':') ? `[${address}]` : address}:{port}
        </code>
        <p className="hint">{dialect === 'all' ? 'speaks every dialect' : `speaks ${dialect} alone`}</p>
      </div>
      <div className="admin-sockets">
        <span className="admin-number">
          <strong>{all}</strong> {all === 1 ? 'socket' : 'sockets'}
        </span>
        {entries.map(([name, count]) => (
          <Chip key={name} title={name === 'unknown' ? 'They have yet to say what they speak' : undefined}>
            {name} {count}
          </Chip>
        ))}
      </div>
    </li>
  );
}
