/** Below the list: how much is shown, and providers whose list could not be loaded. */
import { hrefOf } from '../../router.ts';
import { may } from '../../state/may.ts';
import { type ListedModels, loadModels } from '../../state/models.ts';
import { useServer } from '../../state/server.ts';
import { Button } from '../button.tsx';
import type { Matches } from './options.ts';

type PanelStatusProps = { readonly listed: ListedModels; readonly matches: Matches };

export function PanelStatus({ listed, matches }: PanelStatusProps) {
  const about = useServer();
  const failed = (listed.providers ?? []).filter(({ problem }) => problem !== null);
  const setup = (text: string) =>
    may(about, 'setup') && <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>{text}</a>;
  const hasProblem = listed.problem !== null || failed.length > 0;
  return (
    <div className="model-status">
      <p className="hint" role="status">
        {statusText(listed, matches)}
      </p>
      {hasProblem && (
        <div className="model-problem" role="alert">
          {listed.problem !== null && <p>The list of models cannot be loaded. {listed.problem}</p>}
          {failed.map(({ provider, label, problem }) => (
            <p key={provider}>
              <strong>{label}</strong>: the list of models cannot be loaded. {problem}
            </p>
          ))}
          <div className="model-problem-actions">
            <Button onClick={() => void loadModels()} aria-disabled={listed.loading || undefined}>
              Try again
            </Button>
            {setup('Model settings')}
          </div>
        </div>
      )}
      {listed.providers?.length === 0 && setup('Connect a model')}
    </div>
  );
}

function statusText({ loading, providers }: ListedModels, { shown, total }: Matches): string {
  if (loading && providers === null) return 'Loading models …';
  if (total === 0) return 'No listed model matches.';
  if (shown < total) return `${shown} of ${total} models. Type to narrow the list.`;
  return total === 1 ? '1 model' : `${total} models`;
}
