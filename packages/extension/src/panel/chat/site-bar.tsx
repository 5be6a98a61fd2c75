/** The site of the current tab and its permission. */
import { Choice } from '../../../../web/src/components/choice.tsx';
import { type SiteChoice, siteName } from '../../shared/sites.ts';
import { sites } from '../../shared/storage.ts';
import { useStored } from '../use-stored.ts';
import type { ShownTab } from '../use-tab.ts';
import { sendToWorker } from '../worker.ts';

export function SiteBar({ tab }: { tab: ShownTab | null }) {
  const all = useStored(sites);
  if (all === null) return null;
  if (!tab?.site)
    return <p className="site-bar hint">Extensions cannot work on this tab. A task can open a website.</p>;
  const { site } = tab;
  return (
    <Choice label={siteName(site)} className="site-bar">
      {(id) => (
        <select
          // Not controlled: the storage answers later than the choice.
          key={all[site] ?? 'ask'}
          id={id}
          defaultValue={all[site] ?? 'ask'}
          title={`What Parlance may do on ${siteName(site)}`}
          onChange={(event) =>
            void sendToWorker({ kind: 'site', site, choice: event.target.value as SiteChoice })
          }
        >
          <option value="ask">Ask</option>
          <option value="allow">Allow</option>
          <option value="never">Never</option>
        </select>
      )}
    </Choice>
  );
}
