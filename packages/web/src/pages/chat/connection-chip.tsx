import type { ConnectionState } from '@parlance/sdk';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { useConnection } from '../../state/activity.ts';

type ChipProps = { readonly connection: ConnectionState; readonly retryNow: () => void };

/** Whether the view is up to date. If the server cannot be reached at all, the bar above the page says so. */
export function ConnectionChip({ connection, retryNow }: ChipProps) {
  const isReachable = useConnection().status === 'live';
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
      if (!isReachable) return null;
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
