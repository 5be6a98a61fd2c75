/** Queued inputs, as a projection tracks them: a message is shown when its turn starts. */
import type { ConnectionId, Part, SessionEvent } from '@parlance/protocol';

export type WaitingInput = { readonly parts: readonly Part[]; readonly via: ConnectionId | undefined };
export type Inputs = Readonly<Record<string, WaitingInput>>;

export const NO_INPUTS: Inputs = {};

/** The inputs after the event. */
export function trackInputs(inputs: Inputs, event: SessionEvent): Inputs {
  switch (event.type) {
    case 'input.accepted':
      // An input without parts lets the model continue; there is no message to show.
      if (event.parts.length === 0 && !event.call) return inputs;
      return { ...inputs, [event.input]: { parts: event.parts, via: event.via } };
    case 'input.cancelled':
    case 'turn.started': {
      const { [event.input]: _begun, ...waiting } = inputs;
      return waiting;
    }
    default:
      return inputs;
  }
}
