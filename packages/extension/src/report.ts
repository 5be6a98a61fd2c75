/** What is sent to `POST /api/agent/interact` about a page and the last action. */
import type { ActionOutcome, Observations, Snapshot } from './messages.ts';

export const pageOf = ({ url, title, dom, viewport, scrollPosition }: Snapshot) => ({
  url,
  pageTitle: title.slice(0, 1_000),
  dom,
  viewport,
  scrollPosition,
});

const MAX_STATE_LENGTH = 10_000;

/** `action` is the action as the server sent it; `seen` is null if the document was replaced. */
export function reportOf(action: string, outcome: ActionOutcome, observations: Observations | null) {
  const { success, error, previousUrl, elementFound } = outcome;
  const didUrlChange = observations ? observations.didUrlChange : true;
  const actualState = stateOf(outcome.value, observations?.dialogs ?? []);
  return {
    lastActionStatus: success ? ('success' as const) : ('failure' as const),
    ...(error && { lastActionError: { ...error, action } }),
    lastActionResult: { success, ...(actualState !== undefined && { actualState }) },
    previousUrl,
    clientVerification: { elementFound, urlChanged: didUrlChange, timestamp: Date.now() },
    clientObservations: {
      didNetworkOccur: observations?.didNetworkOccur ?? true,
      didDomMutate: observations?.didDomMutate ?? true,
      didUrlChange,
    },
  };
}

/** What the action returned, and the dialogs that it opened. */
function stateOf(value: unknown, dialogs: Observations['dialogs']): unknown {
  if (dialogs.length === 0) return limited(value);
  const opened = dialogs.map(({ type, message }) => ({ type, message }));
  return limited({ ...(value !== undefined && { value }), dialogs: opened });
}

function limited(value: unknown): unknown {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  return text.length <= MAX_STATE_LENGTH ? value : `${text.slice(0, MAX_STATE_LENGTH).toWellFormed()}…`;
}
