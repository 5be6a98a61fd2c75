/** The server does not answer. Goes on by itself when it does. */

import { Button } from '@parlance/ui/components/button.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { loadServer } from '@parlance/ui/state/server.ts';
import { useEffect } from 'react';

const RETRY_MS = 3_000;

export function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void loadServer(), RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main className="alone">
      <Empty title="Cannot reach the server" action={<Button onClick={loadServer}>Try again</Button>}>
        {navigator.onLine ? 'It may be stopped or still starting.' : 'This device is offline.'} This page
        reconnects automatically.
      </Empty>
    </main>
  );
}
