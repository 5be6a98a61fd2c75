/** Where the server listens, and who is connected. */
import type { Door } from '@parlance/sdk';
import { Chip } from '../../components/chip.tsx';
import { parlance } from '../../state/server.ts';
import { Section } from './section.tsx';
import { useAsked } from './use-asked.ts';

const EVERY_MS = 2_000;

export function DoorsSection() {
  const asked = useAsked(parlance.admin.doors, EVERY_MS);
  return (
    <Section title="Doors" whose="a developer or an admin" asked={asked}>
      {(doors) => (
        <>
          <p className="hint">
            Sockets that are open now. This page and other readers of event streams have none: they use HTTP.
            Further doors, each for one dialect, come from <code>--door agentloop=8080</code>.
          </p>
          <div className="admin-scroll">
            <table className="admin-table">
              <thead>
                <tr>
                  <th scope="col">Address</th>
                  <th scope="col">Speaks</th>
                  <th scope="col">Sockets</th>
                  <th scope="col">By dialect</th>
                </tr>
              </thead>
              <tbody>
                {doors.map((door) => (
                  <Row key={door.port} door={door} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Section>
  );
}

function Row({ door: { address, port, dialect, sockets } }: { door: Door }) {
  const entries = Object.entries(sockets).sort(([left], [right]) => left.localeCompare(right));
  return (
    <tr>
      <th scope="row">
        <code>
          {address.includes(':') ? `[${address}]` : address}:{port}
        </code>
      </th>
      <td>{dialect === 'all' ? 'every dialect' : dialect}</td>
      <td className="admin-number">{entries.reduce((sum, [, count]) => sum + count, 0)}</td>
      <td>
        {entries.length === 0 && <span className="hint">none</span>}
        {entries.map(([name, count]) => (
          <Chip key={name} title={name === 'unknown' ? 'They have yet to say what they speak' : undefined}>
            {name} {count}
          </Chip>
        ))}
      </td>
    </tr>
  );
}
