/** Root component: pairing, or the paired server. */
import { Toasts } from '../../../web/src/components/toast.tsx';
import { connection } from '../shared/storage.ts';
import { PairPage } from './pair/page.tsx';
import { PairedPanel } from './paired-panel.tsx';
import { useStored } from './use-stored.ts';

export function App() {
  const now = useStored(connection);
  if (now === null) return <p className="starting">Parlance</p>;
  return (
    <>
      {now.status === 'paired' ? (
        <PairedPanel key={`${now.url} ${now.token}`} paired={now} />
      ) : (
        <PairPage connection={now} />
      )}
      <Toasts />
    </>
  );
}
