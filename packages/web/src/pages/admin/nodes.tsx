/** The nodes that serve together: their leases, what they drive, and the bus between them. */

import type { ServerNode } from '@parlance/sdk';
import { Chip, Notice } from '@parlance/ui/components/controls.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { shortId } from '../../components/driver.tsx';
import { usePolled } from '../../state/use-polled.ts';
import { seconds } from './metrics.tsx';
import { Columns, Section } from './section.tsx';

const EVERY_MS = 2_000;

export function NodesSection() {
  const polled = usePolled(parlance.admin.nodes, EVERY_MS);
  return (
    <Section title="Nodes" polled={polled}>
      {(nodes) => (
        <>
          <p className="hint">{summary(nodes)}</p>
          <Problems nodes={nodes} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section className="admin-table" tabIndex={0} aria-label="Table of nodes">
            <table>
              <Columns names={['Node', 'Version', 'Started', 'Lease age', 'Sessions', 'Bus']} />
              <tbody>
                {nodes.map((node) => (
                  <Row key={node.id} node={node} />
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </Section>
  );
}

function summary(nodes: readonly ServerNode[]) {
  if (nodes.length === 1 && nodes[0]?.leaseAgeMs === null)
    return (
      <>
        This server runs alone and stores everything in its data folder. To run several nodes on one database,
        set <code>DATABASE_URL</code> and <code>REDIS_URL</code>.
      </>
    );
  const alive = nodes.filter((node) => node.alive).length;
  return (
    <>
      {alive === 1 ? 'One node is' : `${alive} nodes are`} alive. Every node serves every session; a running
      session is driven by one of them. If a node fails, the others take over its sessions.
    </>
  );
}

function Problems({ nodes }: { nodes: readonly ServerNode[] }) {
  const cut = nodes.filter(({ alive, bus }) => alive && bus === 'down');
  if (cut.length === 0) return null;
  if (nodes.filter(({ alive }) => alive).length === 1)
    return <p className="hint">No bus is connected. A single node needs none.</p>;
  const names = cut.map(({ id }) => shortId(id)).join(', ');
  return (
    <Notice variant="warning">
      Degraded: {names} {cut.length === 1 ? 'does' : 'do'} not reach the bus (<code>REDIS_URL</code>). Nothing
      is lost, and turns continue. Until it is back, nodes communicate through the database: clients of a node
      that does not run the session receive text block by block instead of word by word.
    </Notice>
  );
}

const BUS = {
  none: <span className="hint">not needed</span>,
  up: <Chip variant="good">connected</Chip>,
  down: <Chip variant="waiting">down</Chip>,
} as const;

function Row({ node }: { node: ServerNode }) {
  const { id, version, home, startedAt, leaseAgeMs, alive, bus, sessions, here } = node;
  return (
    <tr>
      <th scope="row">
        <code title={id}>{shortId(id)}</code>
        {here && <Chip variant="busy">this node</Chip>}
        {home !== null && <Chip title="PARLANCE_HOME">{home}</Chip>}
        {!alive && <Chip variant="bad">gone</Chip>}
      </th>
      <td>{version}</td>
      <td>{new Date(startedAt).toLocaleString()}</td>
      <td>{leaseAgeMs === null ? <span className="hint">no lease</span> : seconds(leaseAgeMs / 1_000)}</td>
      <td>{sessions}</td>
      <td>{alive ? BUS[bus] : '–'}</td>
    </tr>
  );
}
