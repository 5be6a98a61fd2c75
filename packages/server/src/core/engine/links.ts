/** Images and files by URL: whether the model that answers can be given them. */
import { Fault, type Link, type Part } from '@parlance/protocol';
import { providerOf } from './model-step.ts';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

const linksIn = (parts: readonly Part[]): Link[] =>
  parts.flatMap((part) => (part.type === 'text' && part.link ? [part.link] : []));

export type LinkedInput = {
  readonly parts: readonly Part[];
  /** the agent that answers; absent: the session's */
  readonly agent?: string | undefined;
};

/** Throws `invalid` if one of them cannot be used. Links in earlier messages are no reason: they are sent as text. */
export function checkLinks({ parts, agent }: LinkedInput, session: Session, deps: TurnDeps): void {
  const links = linksIn(parts);
  if (links.length === 0) return;
  const { state } = session;
  const provider = providerOf(deps, deps.catalog.agent(agent ?? state.agent.id), state.model);
  const refused = links.find((link) => !provider.acceptsLink?.(link));
  if (!refused) return;
  const what = refused.kind === 'image' ? 'this image' : 'this file';
  throw new Fault(
    'invalid',
    `The model ${provider.model} cannot fetch ${what} from a URL: send its content.`,
  );
}
