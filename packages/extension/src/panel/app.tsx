/** Root component: pairing, or the paired server. */
import { Toasts } from '../../../web/src/components/toast.tsx';
import { connection } from '../shared/kept.ts';
import { Inside } from './inside.tsx';
import { PairPage } from './pair/page.tsx';
import { useKept } from './use-kept.ts';

export function App() {
  const now = useKept(connection);
  if (now === null) return <p className="starting">Parlance</p>;
  return (
    <>
      {now.status === 'paired' ? (
        <Inside key={`${now.url} ${now.token}`} paired={now} />
      ) : (
        <PairPage connection={now} />
      )}
      <Toasts />
    </>
  );
}
