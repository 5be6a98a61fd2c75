/** How nodes are named in the console. */
import type { ServerNode, SessionDetails } from '@parlance/sdk';
import type { ChipVariant } from '@parlance/ui/components/chip.tsx';

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
