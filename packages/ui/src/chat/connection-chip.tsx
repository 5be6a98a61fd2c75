import type { ConnectionState } from '@parlance/sdk';
import { Button, Chip } from '../components/controls.tsx';
import { useDisconnectedLately } from '../state/activity.ts';

type ChipProps = { readonly connection: ConnectionState; readonly retryNow: () => void };

/** That the view is out of date, and why. If the server cannot be reached at all, the bar above the page says so. */
export function ConnectionChip({ connection, retryNow }: ChipProps) {
  const isDisconnected = useDisconnectedLately();
  if (isDisconnected && connection.status !== 'live') return null;
  switch (connection.status) {
    case 'live':
      return null;
    case 'connecting':
      return <Chip variant="busy">{connection.failures > 0 ? 'Reconnecting …' : 'Connecting …'}</Chip>;
    case 'waiting':
      return (
        <>
          <Chip variant="waiting" title={connection.fault.message}>
            Not connected
          </Chip>
          <Button variant="quiet" onClick={retryNow}>
            Try now
          </Button>
        </>
      );
    case 'closed':
      return <Chip variant="bad">Closed</Chip>;
  }
}
