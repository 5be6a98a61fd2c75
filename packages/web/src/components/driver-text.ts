/** How nodes are named in the console. */
import type { ServerNode, SessionDetails } from '@parlance/sdk';
import type { ChipLook } from './chip.tsx';

/** Ids are random: their beginning tells a few nodes apart. */
export const shortId = (id: string): string => id.slice(0, 8);

export type DriverText = { readonly look: ChipLook; readonly words: string; readonly title: string };

/** Where a running session is driven; null if there is only one node, or nothing to drive. */
export function driverText(
  { status, driver }: Pick<SessionDetails, 'status' | 'driver'>,
  nodes: readonly ServerNode[],
): DriverText | null {
  if (nodes.length < 2 || driver === undefined || status !== 'running') return null;
  if (driver === null)
    return {
      look: 'waiting',
      words: 'no node',
      title: 'No node drives this session: one with a free place takes it up.',
    };
  const words = `node ${shortId(driver.node)}`;
  const node = nodes.find(({ id }) => id === driver.node);
  if (!node?.alive)
    return {
      look: 'bad',
      words: `${words} gone`,
      title: 'The node that drives this session is gone: another one takes over.',
    };
  const where = node.here ? 'the one that this page is connected to' : 'another one than this page uses';
  return {
    look: 'plain',
    words,
    title: `Driven by node ${node.id}, ${where}. Version ${node.version}.`,
  };
}
