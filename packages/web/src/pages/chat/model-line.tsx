/** Which model answers, with a way to the setup for those who may change it. */

import { may } from '@parlance/ui/state/may.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import { type Chosen, modelFor } from './starters.ts';

export function ModelLine({ chosen }: { chosen: Chosen }) {
  const about = useServer();
  const { model, provider } = modelFor(about, chosen);
  const setup = (text: string) =>
    may(about, 'setup') && <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>{text}</a>;
  if (provider === 'offline')
    return (
      <p className="hint">
        You are using the offline demo model. It needs no key, and it is not a language model.{' '}
        {setup('Connect a model')}
      </p>
    );
  return (
    <p className="hint">
      Model: {model}. {setup('Change')}
    </p>
  );
}
