import type { ConnectionState } from '@parlance/sdk';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';

type ChipProps = { readonly connection: ConnectionState; readonly retryNow: () => void };

/** Whether the view is up to date. */
export function ConnectionChip({ connection, retryNow }: ChipProps) {
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
