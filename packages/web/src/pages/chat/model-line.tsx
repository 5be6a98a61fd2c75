/** Which model answers, with a way to the setup for those who may change it. */
import { hrefOf } from '../../router.ts';
import { may } from '../../state/may.ts';
import { useServer } from '../../state/server.ts';
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
