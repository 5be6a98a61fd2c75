import type { CallOptions } from '@parlance/sdk';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useCallback } from 'react';
import { usePolled } from '../state/use-polled.ts';
import { driverText } from './driver-text.ts';

const EVERY_MS = 2_000;

type DriverProps = { readonly session: string; readonly running: boolean };

/** Which of several nodes drives the session, while a turn runs. For admins. */
export function DriverChip({ session, running }: DriverProps) {
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
