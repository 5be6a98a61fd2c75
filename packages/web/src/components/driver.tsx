import type { CallOptions, ServerNode, SessionDetails } from '@parlance/sdk';
import { Chip, type ChipVariant } from '@parlance/ui/components/controls.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useCallback } from 'react';
import { usePolled } from '../state/use-polled.ts';

const EVERY_MS = 2_000;

/** Which of several nodes drives the session, while a turn runs. For admins. */
export function DriverChip({ session, running }: { readonly session: string; readonly running: boolean }) {
  const { principal } = useServer();
  return running && principal.role === 'admin' ? <Driver session={session} /> : null;
}

function Driver({ session }: { session: string }) {
  const ask = useCallback(
    async (options: CallOptions) => {
      const handle = parlance.session(session);
      const [details, nodes] = await Promise.all([handle.get(options), parlance.admin.nodes(options)]);
      return driverText(details, nodes);
    },
    [session],
  );
  const { value } = usePolled(ask, EVERY_MS);
  return value && <Chip {...value}>{value.words}</Chip>;
}

// How nodes are named in the console.

/** Ids are random: their beginning tells a few nodes apart. */
export const shortId = (id: string): string => id.slice(0, 8);

export type DriverText = { readonly variant: ChipVariant; readonly words: string; readonly title: string };

/** Where a running session is driven; null if there is only one node, or nothing to drive. */
export function driverText(
  { status, driver }: Pick<SessionDetails, 'status' | 'driver'>,
  nodes: readonly ServerNode[],
): DriverText | null {
  if (nodes.length < 2 || driver === undefined || status !== 'running') return null;
  if (driver === null)
    return {
      variant: 'waiting',
      words: 'no node',
      title: 'No node is running this session yet. The next one with free capacity picks it up.',
    };
  const words = `node ${shortId(driver.node)}`;
  const node = nodes.find(({ id }) => id === driver.node);
  if (!node?.alive)
    return {
      variant: 'bad',
      words: `${words} gone`,
      title: 'The node that ran this session is gone. Another node takes over.',
    };
  const where = node.here ? 'the node this page is connected to' : 'not the node this page is connected to';
  return {
    variant: 'plain',
    words,
    title: `Running on node ${node.id}, ${where}. Version ${node.version}.`,
  };
}
