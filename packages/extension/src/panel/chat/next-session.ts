/** What slash commands choose before there is a session. The next message begins one with it. */
import type { SessionHandle } from '@parlance/sdk';
import type { Chosen } from '../../../../web/src/pages/chat/pickers.tsx';
import { store, useStore } from '../../../../web/src/state/store.ts';

type Choices = Partial<Chosen>;

const next = store<Choices>({});
export const useNextSession = (): Choices => useStore(next);
export const chooseForNext = (change: Choices): void => next.set({ ...next.get(), ...change });

/** Leaves no session behind if a choice is refused; it can be made again. */
export async function createNext(session: SessionHandle): Promise<void> {
  const { domain, agent, model, approval } = next.get();
  await session.create({ domain, agent: agent ?? undefined });
  try {
    if (model || approval)
      await session.configure({ model: model ?? undefined, approval: approval ?? undefined });
  } catch (thrown) {
    await session.erase();
    throw thrown;
  }
  next.set({});
}

/** Empty if nothing was chosen. */
export const describeChoices = ({ domain, agent, model, approval }: Choices): string =>
  [
    domain && `domain ${domain}`,
    agent && `agent ${agent}`,
    model && `model ${model}`,
    approval && `approval ${approval}`,
  ]
    .filter(Boolean)
    .join(', ');
