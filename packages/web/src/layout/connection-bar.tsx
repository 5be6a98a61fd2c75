import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Notice } from '../components/notice.tsx';
import { useConnection, useDisconnected } from '../state/activity.ts';

/** Short interruptions are not shown. */
const GRACE_MS = 1_200;

/** Shows that the connection is lost, why, and when the next attempt is. */
export function ConnectionBar() {
  const connection = useConnection();
  const broken = useDisconnected();
  const [shown, setShown] = useState(false);
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    if (!broken) return setShown(false);
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [broken]);
  useEffect(() => {
    if (!shown) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [shown]);

  if (!shown) return null;
  if (connection.status !== 'waiting')
    return <Notice variant="warning">Reconnecting … The page may be out of date.</Notice>;
  const seconds = Math.max(1, Math.ceil((connection.retryAt - now) / 1_000));
  return (
    <Notice variant="warning" action={<Button onClick={connection.retryNow}>Try now</Button>}>
      Not connected: {connection.fault.message} Retrying in {seconds} s. The page may be out of date.
    </Notice>
  );
}
