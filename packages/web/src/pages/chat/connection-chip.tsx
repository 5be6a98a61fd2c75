import type { ConnectionState } from '@parlance/sdk';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { useDisconnectedLately } from '../../state/activity.ts';

type ChipProps = { readonly connection: ConnectionState; readonly retryNow: () => void };

/** Whether the view is up to date. If the server cannot be reached at all, the bar above the page says so. */
export function ConnectionChip({ connection, retryNow }: ChipProps) {
  const isDisconnected = useDisconnectedLately();
  if (isDisconnected && connection.status !== 'live') return null;
  switch (connection.status) {
    case 'live':
      return (
        <Chip look="good" title="Connected: the view is up to date">
          Live
        </Chip>
      );
    case 'connecting':
      return <Chip look="busy">{connection.failures > 0 ? 'Reconnecting …' : 'Connecting …'}</Chip>;
    case 'waiting':
      return (
        <>
          <Chip look="waiting" title={connection.fault.message}>
            Not connected
          </Chip>
          <Button look="quiet" onClick={retryNow}>
            Try now
          </Button>
        </>
      );
    case 'closed':
      return <Chip look="bad">Closed</Chip>;
  }
}
